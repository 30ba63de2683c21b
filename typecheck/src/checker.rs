//! The checker's state: variables, constraints, scopes, messages.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, HashMap},
    sync::Arc,
};

use adl_diag::{Diagnostic, Span};

use crate::{
    arena::{Arena, Fail, Sub, Subst},
    constraint::{Constraint, Kind},
    data::CtorRef,
    errors,
    imports::{Imported, ModuleId},
    tree::{LocalId, Tx},
    types::{DataId, Poly, Ty, V, VKind},
};

/// A type with what it is quantified over. The classes stand at the variables.
#[derive(Clone, Debug)]
pub(crate) struct Scheme {
    pub(crate) vars: Vec<V>,
    pub(crate) ty: Ty,
    /// Sizes that are Int arguments: position and variable.
    pub(crate) dep: Vec<(usize, V)>,
}

impl Scheme {
    pub(crate) fn mono(ty: Ty) -> Scheme {
        Scheme { vars: vec![], ty, dep: vec![] }
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Local(LocalId),
    Accumulator(LocalId),
    Func(usize),
    Builtin(usize),
    /// The value of a size parameter.
    Size(V),
    /// A `let` further down.
    Later(Span),
    Module(ModuleId),
    /// Defined by something wrong.
    Poison,
}

/// A name in scope.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) target: Target,
    pub(crate) scheme: Scheme,
    pub(crate) level: i32,
    /// How many lambdas are around it.
    pub(crate) lambdas: u32,
    /// Its value as a size, where it is a known Int.
    pub(crate) poly: Option<Poly>,
    /// Opaque sizes made from it, by field path.
    pub(crate) atoms: BTreeMap<String, V>,
}

/// Names of one scope.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) values: BTreeMap<String, Entry>,
    pub(crate) types: BTreeMap<String, Ty>,
}

/// A name for types.
#[derive(Clone, Debug)]
pub(crate) struct AliasDecl {
    pub(crate) params: Vec<V>,
    pub(crate) ty: Ty,
}

/// What a type name stands for.
#[derive(Clone, Debug)]
pub(crate) enum TypeName {
    Data(DataId),
    Alias(AliasDecl),
    Poison,
}

/// A bound variable.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    pub(crate) name: Arc<str>,
    pub(crate) ty: Ty,
}

/// Where an opaque size comes from: a variable and a field path.
#[derive(Clone, Debug)]
pub(crate) struct SizeDef {
    pub(crate) local: LocalId,
    pub(crate) path: Vec<String>,
}

/// The checker.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checker {
    pub(crate) arena: Arena,
    pub(crate) level: i32,
    pub(crate) constraints: Vec<Constraint>,
    /// Those that are not done, in order of making.
    pub(crate) active: Vec<usize>,
    pub(crate) queue: BinaryHeap<Reverse<(u64, usize)>>,
    /// The state of a random order of solving; `None` for the order of making.
    pub(crate) shuffle: Option<u64>,
    /// Where the constraint that runs stands.
    pub(crate) current: Span,
    pub(crate) env: Vec<Frame>,
    pub(crate) lambdas: u32,
    pub(crate) type_names: BTreeMap<String, TypeName>,
    pub(crate) ctors: BTreeMap<String, CtorRef>,
    /// Types and constructors that every module has.
    pub(crate) prelude_types: BTreeMap<String, TypeName>,
    pub(crate) prelude_ctors: BTreeMap<String, CtorRef>,
    /// Modules that were imported.
    pub(crate) modules: Vec<Imported>,
    pub(crate) locals: Vec<Local>,
    pub(crate) size_defs: HashMap<V, SizeDef>,
    /// Sizes of annotations that are values of expressions; the form around takes them.
    pub(crate) value_sizes: Vec<(V, Tx)>,
    /// Index sets of `for`s without annotation.
    pub(crate) for_sets: Vec<(Ty, Span, String)>,
    /// Lambdas that were checked against `-o`.
    pub(crate) linear: Vec<Tx>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The documentation of names defined at the top level.
    pub(crate) docs: BTreeMap<String, String>,
    /// Names of sizes that were opened in the item at hand.
    pub(crate) opened: Vec<String>,
    /// How many errors there were before the item at hand.
    pub(crate) errors_before: usize,
}

impl Checker {
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        use adl_diag::Code;
        // One mistake, one message: the same place is not reported twice, nor the same unknown name.
        let unknown = matches!(diagnostic.code, Code::E0301 | Code::E0302 | Code::E0303);
        let same = |d: &Diagnostic| {
            (!diagnostic.span().is_dummy() && d.span() == diagnostic.span())
                || (unknown && d.code == diagnostic.code && d.message == diagnostic.message)
        };
        let again = diagnostic.is_error() && self.diagnostics.iter().any(|d| d.is_error() && same(d));
        if !again {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports what failed, with its place.
    #[expect(clippy::boxed_local, reason = "failures are boxed everywhere")]
    pub(crate) fn report_at(&mut self, fail: Fail, span: Span, text: &str) {
        self.report(errors::at(*fail, span, text));
    }

    pub(crate) fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|d| d.is_error()).count()
    }

    /// Whether the item at hand is wrong already, so that what stays open in it is a consequence.
    pub(crate) fn item_is_wrong(&self) -> bool {
        self.errors() > self.errors_before
    }

    pub(crate) fn fresh(&mut self) -> V {
        self.arena.fresh(self.level)
    }

    pub(crate) fn meta(&mut self) -> Ty {
        Ty::Var(self.fresh())
    }

    pub(crate) fn meta_ix(&mut self) -> Ty {
        let v = self.fresh();
        self.arena.var_mut(v).ix = true;
        Ty::Var(v)
    }

    pub(crate) fn rigid(&mut self, name: &str, kind: VKind, ix: bool) -> V {
        let v = self.fresh();
        let data = self.arena.var_mut(v);
        (data.name, data.kind, data.ix, data.rigid) = (Some(Arc::from(name)), kind, ix, true);
        v
    }

    /// A constraint that comes from the one that runs.
    pub(crate) fn emit_like(&mut self, kind: Kind) {
        let span = self.current;
        self.emit(kind, span, None);
    }

    // ---- scopes -----------------------------------------------------------------------------------

    pub(crate) fn frame(&mut self) -> &mut Frame {
        self.env.last_mut().expect("the outermost scope is never left")
    }

    /// The value under a name, perhaps `m.x`.
    pub(crate) fn lookup(&self, name: &str) -> Option<&Entry> {
        let plain = self.env.iter().rev().find_map(|frame| frame.values.get(name));
        plain.or_else(|| self.qualified_entry(name))
    }

    pub(crate) fn lookup_mut(&mut self, name: &str) -> Option<&mut Entry> {
        if self.env.iter().any(|frame| frame.values.contains_key(name)) {
            return self.env.iter_mut().rev().find_map(|frame| frame.values.get_mut(name));
        }
        self.qualified_entry_mut(name)
    }

    pub(crate) fn lookup_type_var(&self, name: &str) -> Option<Ty> {
        self.env.iter().rev().find_map(|frame| frame.types.get(name).cloned())
    }

    pub(crate) fn new_local(&mut self, name: &str, ty: &Ty) -> LocalId {
        let id = LocalId(u32::try_from(self.locals.len()).expect("fewer than 2^32 variables"));
        self.locals.push(Local { name: Arc::from(name), ty: ty.clone() });
        id
    }

    pub(crate) fn entry(&self, target: Target, scheme: Scheme) -> Entry {
        Entry { target, scheme, level: self.level, lambdas: self.lambdas, poly: None, atoms: BTreeMap::new() }
    }

    pub(crate) fn bind_name(&mut self, name: &str, target: Target, scheme: Scheme) {
        let entry = self.entry(target, scheme);
        self.frame().values.insert(name.to_string(), entry);
    }

    /// Binds a variable of one type.
    pub(crate) fn bind_mono(&mut self, name: &str, ty: &Ty) -> LocalId {
        let id = self.new_local(name, ty);
        self.bind_name(name, Target::Local(id), Scheme::mono(ty.clone()));
        id
    }

    /// Runs `body` in a scope of its own: sizes opened inside may not leave it in the type of its value.
    pub(crate) fn scoped(&mut self, body: impl FnOnce(&mut Checker) -> Tx) -> Tx {
        self.level += 1;
        self.env.push(Frame::default());
        let value = body(self);
        self.solve(value.span);
        self.level -= 1;
        self.env.pop();
        self.leave(value)
    }

    /// Lowers the variables of the type of a scope's value.
    fn leave(&mut self, value: Tx) -> Tx {
        for v in self.arena.free_vars(&value.ty) {
            if let Err(fail) = self.arena.lower(v, self.level, &value.ty) {
                self.report_at(fail, last_span(&value), "this is its value");
                return Tx::error(value.span);
            }
        }
        value
    }

    // ---- schemes ----------------------------------------------------------------------------------

    /// The type at fresh variables, and these variables in the order of the scheme. What is wrong with them is
    /// wrong with the use of `name`.
    pub(crate) fn instantiate(&mut self, scheme: &Scheme, name: &str) -> (Ty, Vec<V>) {
        let mut map = Subst::new();
        let mut fresh = Vec::with_capacity(scheme.vars.len());
        let by: Arc<str> = Arc::from(format!("by `{name}`"));
        for v in &scheme.vars {
            let w = self.fresh();
            let old = self.arena.var(*v).clone();
            let new = self.arena.var_mut(w);
            (new.kind, new.ix) = (old.kind, old.ix);
            let inferred = old.classes.into_iter().map(|(class, why)| (class, why.span));
            let given = old.given.into_iter().flatten().map(|class| (class, Span::default()));
            for (class, span) in inferred.chain(given) {
                if !new.classes.iter().any(|(c, _)| *c == class) {
                    new.classes.push((class, crate::types::Why { span, text: by.clone() }));
                }
            }
            map.insert(*v, Sub::Ty(Ty::Var(w)));
            fresh.push(w);
        }
        (self.arena.subst(&scheme.ty, &map), fresh)
    }

    /// Makes `found` equal to `wanted`, or reports it at the place.
    pub(crate) fn unify_at(&mut self, found: &Ty, wanted: &Ty, span: Span) {
        self.arena.place = span;
        if let Err(fail) = self.arena.unify(found, wanted) {
            let fail = self.in_whole(fail, found, wanted);
            let shown = errors::at(*fail, span, "here");
            self.report(self.with_origins(shown, found, wanted));
            self.poison(found);
        }
    }

    /// Adds where two index sets come from that differ between these types.
    pub(crate) fn with_origins(&self, mut d: Diagnostic, found: &Ty, wanted: &Ty) -> Diagnostic {
        for (set, origin) in self.arena.differing_sets(found, wanted).into_iter().flatten() {
            let Some(span) = origin.filter(|s| !s.is_dummy()) else { continue };
            if !d.labels.iter().any(|(old, _)| *old == span) {
                d = d.label(span, format!("`{}` comes from here", self.arena.show(&set)));
            }
        }
        d
    }

    /// Says which whole types differ, where only parts were named.
    pub(crate) fn in_whole(&self, fail: Fail, found: &Ty, wanted: &Ty) -> Fail {
        let (f, w) = (self.arena.show(found), self.arena.show(wanted));
        let named = fail.message.contains(&format!("`{f}`")) && fail.message.contains(&format!("`{w}`"));
        let about_types = matches!(fail.code, adl_diag::Code::E0201 | adl_diag::Code::E0202);
        if named || !about_types { fail } else { Box::new(fail.note(format!("expected `{w}`, found `{f}`"))) }
    }

    pub(crate) fn need_at(&mut self, class: crate::types::Class, ty: &Ty, why: &str, span: Span) {
        let reason = crate::types::Why::of(why);
        if let Err(fail) = self.arena.need(class, ty, &reason)
            && !self.mentions_error(ty)
        {
            self.report_at(fail, span, "here");
        }
    }

    // ---- suggestions ------------------------------------------------------------------------------

    /// The name in scope that looks most like this one.
    pub(crate) fn near_value(&self, name: &str) -> Option<String> {
        // What the library keeps to itself is no suggestion.
        let names = self.env.iter().flat_map(|frame| frame.values.keys()).filter(|n| !n.starts_with('_'));
        adl_diag::nearest(name, names.map(String::as_str))
    }

    pub(crate) fn near_type(&self, name: &str) -> Option<String> {
        const BUILT_IN: [&str; 8] = ["Float", "F32", "F64", "Int", "Bool", "String", "Key", "Fin"];
        adl_diag::nearest(name, self.type_names.keys().map(String::as_str).chain(BUILT_IN))
    }

    pub(crate) fn near_ctor(&self, name: &str) -> Option<String> {
        adl_diag::nearest(name, self.ctors.keys().map(String::as_str))
    }
}

/// Where the value of a block or a form comes from.
pub(crate) fn last_span(value: &Tx) -> Span {
    if let crate::tree::Tk::Block(_, Some(last)) = &value.kind { last_span(last) } else { value.span }
}
