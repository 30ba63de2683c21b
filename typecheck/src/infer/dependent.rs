//! Functions whose result has the size of an argument, `def f(n: Int) -> Fin(n)=>Float`: a call knows the size; as a
//! value such a function gives a pack.

use std::sync::Arc;

use adl_diag::{Code, Span};
use adl_syntax::ast::Expr;

use crate::{
    arena::{Sub, Subst},
    checker::{Checker, Entry, Scheme, Target},
    errors,
    infer::Checked,
    tree::{TStmt, Tk, Tx},
    types::{Atom, Con, Exists, Poly, Ty, V, VKind, int, table, tuple},
};

impl Checker {
    /// A call: the size is the argument's.
    pub(crate) fn dependent_call(&mut self, entry: &Entry, f: &Expr, args: &[Expr], span: Span) -> Tx {
        let mut map = Subst::new();
        let mark = self.value_sizes.len();
        for (place, v) in &entry.scheme.dep {
            let size = match args.get(*place) {
                Some(arg) => match self.poly(arg) {
                    Some(p) => p,
                    None => {
                        let fresh = self.rigid("_", VKind::Size, false);
                        // Its value is the argument's; the call binds it.
                        let value = self.infer(arg);
                        self.value_sizes.push((fresh, value));
                        Poly::atom(Atom::Size(fresh))
                    }
                },
                None => Poly::constant(0),
            };
            map.insert(*v, Sub::Size(size));
        }
        let sizes: Vec<_> = self.value_sizes.split_off(mark);
        let ty = self.arena.subst(&entry.scheme.ty, &map);
        let vars: Vec<_> = entry.scheme.vars.iter().copied().filter(|v| !map.contains_key(v)).collect();
        let scheme = Scheme { vars, ty, dep: vec![] };
        let name = self.name_of(f);
        let call = match entry.target {
            Target::Func(k) => {
                let callee = self.func_value(k, &scheme, &name, f.span);
                self.apply(callee, &name, args, span)
            }
            Target::Local(_)
            | Target::Accumulator(_)
            | Target::Builtin(_)
            | Target::Size(_)
            | Target::Later(_)
            | Target::Module(_)
            | Target::Poison => self.call_of_pack(entry, scheme, (&name, f.span), args, span),
        };
        let ty = call.ty.clone();
        if sizes.is_empty() { call } else { Tx::new(span, ty, Tk::WithSizes(sizes, Box::new(call))) }
    }

    /// A local function gives a pack, whose size is that of `known`.
    fn call_of_pack(
        &mut self,
        entry: &Entry,
        known: Scheme,
        (name, place): (&str, Span),
        args: &[Expr],
        span: Span,
    ) -> Tx {
        let (Target::Local(id), Some(packed)) = (entry.target, self.packed_type(&entry.scheme)) else {
            return Tx::error(span);
        };
        let both = Scheme { ty: tuple(vec![packed, known.ty]), ..known };
        let (both, inst) = self.instantiate(&both, name);
        let Ty::Con(_, both) = &both else { return Tx::error(span) };
        let callee = Tx::new(place, both[0].clone(), Tk::Local(id, inst));
        let call = self.apply(callee, name, args, span);
        let value = self.open(call);
        let Ty::Con(_, sides) = self.arena.head(&both[1]) else { return value };
        let result = sides[1].clone();
        let is_table = matches!(self.arena.head(&result), Ty::Con(Con::Table, _));
        if is_table { self.fitted(value, &result, span) } else { value }
    }

    /// The function as a value.
    pub(crate) fn dependent_value(&mut self, entry: &Entry, name: &str, span: Span) -> Tx {
        let Some(packed) = self.packed_type(&entry.scheme) else {
            let message =
                format!("`{name}` is no value: the type of an argument has the size of another one");
            let help = "call it, in a lambda where a function is needed: `\\x. …`";
            self.report(errors::misplaced(span, Code::E0210, &message, help));
            return Tx::error(span);
        };
        let vars: Vec<V> = entry
            .scheme
            .vars
            .iter()
            .copied()
            .filter(|v| entry.scheme.dep.iter().all(|(_, d)| d != v))
            .collect();
        if let Target::Local(id) = entry.target {
            let (ty, inst) = self.instantiate(&Scheme { vars, ty: packed, dep: vec![] }, name);
            return Tx::new(span, ty, Tk::Local(id, inst));
        }
        let Target::Func(k) = entry.target else { return Tx::error(span) };
        let mut map = Subst::new();
        let mut sizes = vec![];
        for (place, v) in &entry.scheme.dep {
            let size = self.rigid("_", VKind::Size, false);
            map.insert(*v, Sub::Size(Poly::atom(Atom::Size(size))));
            sizes.push((*place, size));
        }
        let plain = self.arena.subst(&entry.scheme.ty, &map);
        let both = Scheme { vars, ty: tuple(vec![packed, plain]), dep: vec![] };
        let (both, inst) = self.instantiate(&both, name);
        let Ty::Con(_, both) = &both else { return Tx::error(span) };
        self.packed_lambda(Tx::new(span, both[1].clone(), Tk::Func(k, inst)), &both[0], &sizes)
    }

    /// `\x. f(x)` as a pack: the sizes are components of x.
    fn packed_lambda(&mut self, f: Tx, packed: &Ty, sizes: &[(usize, V)]) -> Tx {
        let span = f.span;
        let (Ty::Con(_, sides), Ty::Con(_, plain)) = (self.arena.head(packed), self.arena.head(&f.ty)) else {
            return Tx::error(span);
        };
        let x = self.new_local("x", &sides[0]);
        let arg = Tx::new(span, sides[0].clone(), Tk::Local(x, vec![]));
        let several = matches!(self.arena.head(&sides[0]), Ty::Con(Con::Tuple, _));
        let component = |k: usize| match several {
            true => Tx::new(span, int(), Tk::Field(Box::new(arg.clone()), k.to_string())),
            false => arg.clone(),
        };
        let values = sizes.iter().map(|(k, v)| (*v, component(*k))).collect();
        let call = Tx::new(span, plain[1].clone(), Tk::Call(Box::new(f), Box::new(arg.clone())));
        let call = Tx::new(span, plain[1].clone(), Tk::WithSizes(values, Box::new(call)));
        let pack = Tk::Pack(sizes.iter().map(|(_, v)| *v).collect(), Box::new(call));
        let body = Tx::new(span, sides[1].clone(), pack);
        let param = crate::tree::Tp { ty: sides[0].clone(), span, kind: crate::tree::TpKind::Var(x) };
        Tx::new(span, packed.clone(), Tk::Lambda(Box::new(param), Box::new(body)))
    }

    /// A local one: it gives a pack.
    pub(crate) fn local_dependent(&mut self, def: Checked, span: Span) -> Option<TStmt> {
        let Some(packed) = self.packed_type(&def.scheme) else {
            let message = "the type of an argument of a local function cannot have the size of another one";
            self.report(errors::misplaced(span, Code::E0210, message, "define it at the top level"));
            return None;
        };
        let Ty::Con(_, sides) = self.arena.head(&packed) else { return None };
        let id = self.new_local(&def.name, &packed);
        self.bind_name(&def.name, Target::Local(id), def.scheme.clone());
        let sizes = def.scheme.dep.iter().map(|(_, v)| *v).collect();
        let body = Tx::new(span, sides[1].clone(), Tk::Pack(sizes, Box::new(def.body)));
        let lambda = Tx::new(span, packed, Tk::Lambda(Box::new(def.param), Box::new(body)));
        Some(TStmt::Poly(id, def.scheme.vars, lambda))
    }

    /// Its type with a pack as the result; `None` where an argument has the size of another one.
    fn packed_type(&mut self, scheme: &Scheme) -> Option<Ty> {
        let Ty::Con(arrow, sides) = self.arena.head(&scheme.ty) else { return None };
        let inside = self.arena.free_vars(&sides[0]);
        if scheme.dep.iter().any(|(_, v)| inside.contains(v)) {
            return None;
        }
        let mut vars = vec![];
        let mut body = sides[1].clone();
        for (_, v) in &scheme.dep {
            let name = self.arena.var(*v).name.clone().unwrap_or_else(|| Arc::from("m"));
            let set = self.rigid(&name, VKind::Type, true);
            body = self.with_set(&body, *v, set);
            vars.push(set);
        }
        let result = Ty::Exists(Arc::new(Exists { vars, body }));
        Some(Ty::Con(arrow, vec![sides[0].clone(), result].into()))
    }

    /// The type with the set instead of `Fin(v)`, and its size instead of `v`.
    fn with_set(&self, t: &Ty, v: V, set: V) -> Ty {
        match self.arena.prune(t) {
            Ty::Fin(p) if p == Poly::atom(Atom::Size(v)) => Ty::Var(set),
            Ty::Con(Con::Table, args) => {
                table(self.with_set(&args[0], v, set), self.with_set(&args[1], v, set))
            }
            Ty::Con(con, args) => Ty::Con(con, args.iter().map(|a| self.with_set(a, v, set)).collect()),
            t @ (Ty::Fin(_) | Ty::Var(_) | Ty::Exists(_) | Ty::Error) => {
                let map = Subst::from([(v, Sub::Size(Poly::atom(Atom::SizeOf(set))))]);
                self.arena.subst(&t, &map)
            }
        }
    }
}
