//! Definitions: signatures, generalisation, and functions whose result has the size of an argument.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use adl_diag::Span;
use adl_syntax::ast::{Def, Expr, ExprKind, Pat, PatKind, Type, TypeKind};

use crate::{
    checker::{Checker, Entry, Frame, Scheme, Target},
    errors,
    resolve::{components, free_in_def, pattern_names},
    signature::{Mode, Signature},
    tree::{LocalId, TRec, TStmt, Tk, Tp, TpKind, Tx},
    types::{Atom, Class, Poly, Ty, V, VKind, fun, tuple},
};

/// A definition on its way: what its signature says.
struct Pending<'a> {
    def: &'a Def,
    sig: Signature,
    /// Sizes that are Int parameters: position and variable.
    dep: Vec<(usize, V)>,
    params: Vec<Ty>,
    result: Ty,
    ty: Ty,
    /// It has a full signature, and a `where` if there are type variables: it may be used at its scheme inside
    /// its group.
    full: bool,
}

/// A definition that was checked.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub(crate) name: String,
    pub(crate) scheme: Scheme,
    /// The parameter, a tuple pattern where there are several.
    pub(crate) param: Tp,
    pub(crate) body: Tx,
    /// Its name in its own body, where it is local.
    own: Option<LocalId>,
    /// It has a full signature, and is polymorphic in its own body.
    full: bool,
}

impl Checker {
    /// Local functions that follow one another: they see each other, as at the top level. A name that comes again
    /// begins anew.
    pub(crate) fn local_defs(&mut self, run: &[&Def]) -> Vec<TStmt> {
        let again = (1..run.len()).find(|k| run[..*k].iter().any(|d| d.name.text == run[*k].name.text));
        let (run, rest) = run.split_at(again.unwrap_or(run.len()));
        let uses: Vec<Vec<usize>> = run
            .iter()
            .map(|d| {
                let free = free_in_def(d);
                (0..run.len()).filter(|k| free.contains(&run[*k].name.text)).collect()
            })
            .collect();
        let mut out = vec![];
        for group in components(&uses) {
            let defs: Vec<&Def> = group.iter().map(|k| run[*k]).collect();
            let recursive = group.len() > 1 || uses[group[0]].contains(&group[0]);
            out.extend(self.local_group(&defs, recursive));
        }
        if !rest.is_empty() {
            out.extend(self.local_defs(rest));
        }
        out
    }

    fn local_group(&mut self, group: &[&Def], recursive: bool) -> Vec<TStmt> {
        let before = self.errors();
        let checked = self.defs(group, false, &[]);
        let (mut out, mut recs) = (vec![], vec![]);
        for (def, d) in checked.into_iter().zip(group) {
            if !def.scheme.dep.is_empty() && self.errors() == before {
                if !recursive {
                    out.extend(self.local_dependent(def, d.span));
                    continue;
                }
                let help = "define it at the top level";
                let message = "a local function whose result has the size of an argument cannot call itself";
                self.report(errors::misplaced(d.name.span, adl_diag::Code::E0210, message, help));
            }
            let id = self.new_local(&def.name, &def.scheme.ty);
            self.bind_name(&def.name, Target::Local(id), def.scheme.clone());
            let lambda =
                Tx::new(d.span, def.scheme.ty.clone(), Tk::Lambda(Box::new(def.param), Box::new(def.body)));
            let vars = def.scheme.vars;
            match def.own {
                Some(own) if recursive => recs.push(TRec { id, own, full: def.full, vars, value: lambda }),
                Some(_) | None => out.push(TStmt::Poly(id, vars, lambda)),
            }
        }
        if !recs.is_empty() {
            out.push(TStmt::Rec(recs));
        }
        out
    }

    /// A group of definitions that refer to each other. `targets` are what their names stand for at the top level.
    pub(crate) fn defs(&mut self, group: &[&Def], top: bool, targets: &[usize]) -> Vec<Checked> {
        let (mark, sets) = (self.active.len(), self.for_sets.len());
        self.level += 1;
        let mut pending: Vec<Pending> = group.iter().map(|d| self.signature(d)).collect();
        if !top && 1 < group.len() {
            // Local functions of a group have one type in it: they share what they capture.
            pending.iter_mut().for_each(|p| p.full = false);
        }
        let mut own = vec![];
        for (k, p) in pending.iter().enumerate() {
            let target = if let Some(func) = targets.get(k) {
                own.push(None);
                Target::Func(*func)
            } else {
                let id = self.new_local(&p.def.name.text, &p.ty);
                own.push(Some(id));
                Target::Local(id)
            };
            let scheme = if p.full {
                Scheme { vars: self.own_vars(p), ty: p.ty.clone(), dep: p.dep.clone() }
            } else {
                Scheme::mono(p.ty.clone())
            };
            self.bind_name(&p.def.name.text, target, scheme);
        }
        let bodies: Vec<(Tp, Tx)> = pending.iter().map(|p| self.def_body(p)).collect();
        self.level -= 1;
        let whole = tuple(pending.iter().map(|p| p.ty.clone()).collect());
        let rigid: Vec<V> = pending.iter().flat_map(|p| p.sig.made.iter().copied()).collect();
        let span = group.first().map_or(Span::default(), |d| d.name.span);
        let quantified = self.generalise(&whole, mark, top, &rigid, span);
        let free: std::collections::HashSet<V> = self.arena.free_vars(&whole).into_iter().collect();
        let mut out = vec![];
        for ((p, (param, body)), own) in pending.iter().zip(bodies).zip(own) {
            self.check_result_sets(p, &quantified);
            // A function may use another one of its group at a type that its own type does not mention.
            let is_dep = |v: &V| p.dep.iter().any(|(_, d)| d == v);
            // Inside the group, a full signature was used with its own variables, in their order.
            let mut vars = if p.full { self.own_vars(p) } else { vec![] };
            let rest = quantified.iter().copied().filter(|v| free.contains(v) && !is_dep(v));
            vars.extend(rest.filter(|v| !vars.contains(v)).collect::<Vec<V>>());
            let scheme = Scheme { vars, ty: p.ty.clone(), dep: p.dep.clone() };
            out.push(Checked { name: p.def.name.text.clone(), scheme, param, body, own, full: p.full });
        }
        if top {
            self.check_for_sets(sets);
        }
        out
    }

    fn own_vars(&self, p: &Pending) -> Vec<V> {
        p.sig.made.iter().copied().filter(|v| !p.dep.iter().any(|(_, d)| d == v)).collect()
    }

    /// Reads the signature.
    fn signature<'a>(&mut self, d: &'a Def) -> Pending<'a> {
        let mut sig = Signature::new(Mode::Quantify);
        let mark = self.value_sizes.len();
        for param in &d.type_params {
            let kind = match param.kind.as_ref().map(|t| &t.kind) {
                None => continue,
                Some(TypeKind::Con(name, args)) if args.is_empty() => name.text.as_str(),
                Some(_) => "",
            };
            let (kind, ix) = match kind {
                "Ix" => (VKind::Type, true),
                "Type" => (VKind::Type, false),
                "Int" => (VKind::Size, false),
                _ => {
                    let help = "the kinds are Type, Ix and Int";
                    self.report(errors::misplaced(
                        param.name.span,
                        adl_diag::Code::E0302,
                        "this is no kind",
                        help,
                    ));
                    continue;
                }
            };
            let v = self.rigid(&param.name.text, kind, ix);
            sig.made.push(v);
            sig.names.insert(param.name.text.clone(), Ty::Var(v));
        }
        let dep = self.dependent_sizes(d, &mut sig);
        // Annotations may name a value's size: the parameters are not in scope yet, so a frame of its own.
        self.env.push(Frame::default());
        let params: Vec<Ty> = d.params.iter().map(|p| self.param_type(p, &mut sig)).collect();
        let result = match &d.result {
            Some(t) => self.type_of(t, &mut sig),
            None => self.meta(),
        };
        self.constraints_of(d, &mut sig);
        self.env.pop();
        if self.value_sizes.len() > mark {
            self.value_sizes.truncate(mark);
            self.report(errors::unsupported(
                d.name.span,
                "a size in a signature that is not a polynomial in names",
            ));
        }
        self.check_signature_names(d, &sig, &dep, &params, &result);
        let ty = fun(tuple(params.clone()), result.clone());
        let typed = |p: &Pat| matches!(p.kind, PatKind::Typed(..));
        // Without a type variable there is no class that the body could add.
        let data = |v: &V| self.arena.var(*v);
        let closed = |v: &V| data(v).kind == VKind::Size || data(v).ix;
        let no_classes = d.constraints.is_some() || sig.made.iter().all(closed);
        let full = d.result.is_some() && no_classes && d.params.iter().all(typed);
        Pending { def: d, sig, dep, params, result, ty, full }
    }

    /// Int parameters that are named in a `Fin(…)` of the signature.
    fn dependent_sizes(&mut self, d: &Def, sig: &mut Signature) -> Vec<(usize, V)> {
        let mut dep = vec![];
        for (k, p) in d.params.iter().enumerate() {
            let PatKind::Typed(inner, t) = &p.kind else { continue };
            let (PatKind::Var(name), TypeKind::Con(con, _)) = (&inner.kind, &t.kind) else { continue };
            if con.text != "Int" {
                continue;
            }
            let types = d
                .params
                .iter()
                .filter_map(|p| if let PatKind::Typed(_, t) = &p.kind { Some(t) } else { None });
            if types.chain(&d.result).any(|t| mentions_size(t, name)) {
                let v = self.rigid(name, VKind::Size, false);
                sig.made.push(v);
                sig.names.insert(name.clone(), Ty::Var(v));
                dep.push((k, v));
            }
        }
        dep
    }

    fn param_type(&mut self, p: &Pat, sig: &mut Signature) -> Ty {
        match &p.kind {
            PatKind::Typed(_, t) => self.type_of(t, sig),
            PatKind::Var(_)
            | PatKind::Wild
            | PatKind::Lit(_)
            | PatKind::Tuple(_)
            | PatKind::Ctor(..)
            | PatKind::Struct(..) => self.meta(),
        }
    }

    /// The `where` clause: with one, a type variable has the classes it gives and no others.
    pub(crate) fn constraints_of(&mut self, d: &Def, sig: &mut Signature) {
        let Some(constraints) = &d.constraints else { return };
        for v in &sig.made {
            let data = self.arena.var_mut(*v);
            if data.kind == VKind::Type {
                data.given = Some(vec![]);
            }
        }
        // Variables of which a misspelt class was said: what they need is not missing.
        let mut unclear = vec![];
        for c in constraints {
            let Some(class) = Class::from_name(&c.class.text) else {
                self.report(errors::unknown_class(c.class.span, &c.class.text));
                for arg in &c.args {
                    let ty = self.type_of(arg, sig);
                    unclear.extend(self.arena.as_var(&ty));
                }
                continue;
            };
            let [arg] = c.args.as_slice() else {
                self.report(errors::type_params(c.span, &c.class.text, 1, c.args.len()));
                continue;
            };
            let ty = self.type_of(arg, sig);
            match self.arena.prune(&ty) {
                Ty::Var(v) if class == Class::Ix => self.arena.var_mut(v).ix = true,
                Ty::Var(v) => self.arena.var_mut(v).given.get_or_insert_default().push(class),
                _ => self.need_at(class, &ty, "in the `where` clause", c.span),
            }
        }
        for v in unclear {
            self.arena.var_mut(v).given = None;
        }
    }

    fn check_signature_names(
        &mut self,
        d: &Def,
        sig: &Signature,
        dep: &[(usize, V)],
        params: &[Ty],
        result: &Ty,
    ) {
        for p in &d.params {
            for (name, span) in pattern_names(p) {
                let own = |ty: &Ty| matches!(ty, Ty::Var(v) if sig.made.contains(v) && !dep.iter().any(|(_, d)| d == v));
                if sig.names.get(&name).is_some_and(own) {
                    self.report(errors::both_value_and_size(span, &name));
                }
            }
        }
        if d.result.is_none() {
            return;
        }
        let mut mentioned = self.arena.free_vars(result);
        params.iter().for_each(|t| self.arena.collect_vars(t, &mut mentioned));
        for v in &sig.made {
            if !mentioned.contains(v) {
                let name = self.arena.show(&Ty::Var(*v));
                self.report(errors::determined_by_nothing(d.name.span, &name));
            }
        }
    }

    fn def_body(&mut self, p: &Pending) -> (Tp, Tx) {
        let mut frame = Frame::default();
        for (name, ty) in &p.sig.names {
            let is_dep = |v: &V| p.dep.iter().any(|(_, d)| d == v);
            match ty {
                Ty::Var(v) if is_dep(v) => continue,
                Ty::Var(v) if self.arena.var(*v).kind == VKind::Size && p.sig.made.contains(v) => {
                    let entry = self.entry(Target::Size(*v), Scheme::mono(crate::types::int()));
                    frame
                        .values
                        .insert(name.clone(), Entry { poly: Some(Poly::atom(Atom::Size(*v))), ..entry });
                }
                _ => {}
            }
            frame.types.insert(name.clone(), ty.clone());
        }
        self.env.push(frame);
        self.lambdas += 1;
        let mut parts = vec![];
        for (k, (pat, ty)) in p.def.params.iter().zip(&p.params).enumerate() {
            let inner = if let PatKind::Typed(inner, _) = &pat.kind { inner } else { pat };
            let bound = self.binder(inner, ty);
            if let (TpKind::Var(local), Some((_, v))) = (&bound.kind, p.dep.iter().find(|(at, _)| *at == k)) {
                self.size_defs.insert(*v, crate::checker::SizeDef { local: *local, path: vec![] });
                if let PatKind::Var(name) = &inner.kind
                    && let Some(entry) = self.frame().values.get_mut(name)
                {
                    entry.poly = Some(Poly::atom(Atom::Size(*v)));
                }
            }
            parts.push(bound);
        }
        let body = self.scoped(|this| this.check(&p.def.body, &p.result));
        self.lambdas -= 1;
        self.env.pop();
        let ty = tuple(p.params.clone());
        let param = match parts.len() {
            1 => parts.remove(0),
            _ => Tp { ty, span: p.def.name.span, kind: TpKind::Tuple(parts) },
        };
        (param, body)
    }

    /// An index set of the result that was inferred, and that no argument determines.
    fn check_result_sets(&mut self, p: &Pending, quantified: &[V]) {
        if self.item_is_wrong() {
            return;
        }
        let args = self.arena.free_vars(&tuple(p.params.clone()));
        for v in self.arena.free_vars(&p.result) {
            let inferred = self.arena.var(v).ix && quantified.contains(&v) && !p.sig.made.contains(&v);
            if inferred && !args.contains(&v) {
                self.report(errors::result_set_undetermined(p.def.name.span, &p.def.name.text));
                return;
            }
        }
    }
}

/// Whether the type has the name inside a `Fin(…)`.
fn mentions_size(t: &Type, name: &str) -> bool {
    match &t.kind {
        TypeKind::Var(_) | TypeKind::Hole => false,
        TypeKind::Fin(e) => mentions(e, name),
        TypeKind::Con(_, ts) | TypeKind::Tuple(ts) => ts.iter().any(|t| mentions_size(t, name)),
        TypeKind::Table(a, b) | TypeKind::Fun(a, b) | TypeKind::Linear(a, b) => {
            mentions_size(a, name) || mentions_size(b, name)
        }
        TypeKind::Exists(_, t) => mentions_size(t, name),
    }
}

fn mentions(e: &Expr, name: &str) -> bool {
    match &e.kind {
        ExprKind::Var(x) => x == name,
        _ => crate::resolve::free_in(e).contains(name),
    }
}
