//! Derivative rules: what a user's derivative has to be, and to which function it belongs.

use std::collections::BTreeMap;

use adl_core::rule::RuleKind;
use adl_diag::{Code, Diagnostic, Span};
use adl_syntax::ast::{Def, Derivative, Item, ItemKind, Pat};

use crate::{
    arena::{Sub, Subst},
    checker::{Checker, Entry, Frame, Scheme, SizeDef, Target},
    errors,
    module::{Output, TFunc},
    tree::{Tp, TpKind},
    types::{Atom, Con, Poly, Ty, VKind, fun, int, lin, tuple},
};

/// A rule with the function that it belongs to.
pub(crate) struct Pending<'a> {
    rule: &'a Derivative,
    span: Span,
    def: &'a Def,
}

impl Checker {
    /// The rules of a module, each with its function; those without one are reported.
    pub(crate) fn rules<'a>(&mut self, items: &'a [Item]) -> Vec<Pending<'a>> {
        let defs: BTreeMap<&str, &Def> = items
            .iter()
            .filter_map(
                |item| if let ItemKind::Def(d) = &item.kind { Some((&*d.name.text, d)) } else { None },
            )
            .collect();
        let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
        let mut found = vec![];
        for item in items {
            let ItemKind::Derivative(rule) = &item.kind else { continue };
            let name = rule.name.text.as_str();
            let Some(def) = defs.get(name) else {
                self.no_function_for(rule);
                continue;
            };
            match seen.insert(name, rule.name.span) {
                Some(first) => self.report(errors::second_rule(rule.name.span, name, first)),
                None => found.push(Pending { rule, span: item.span, def }),
            }
        }
        found
    }

    /// Reports a rule that belongs to no function of the module.
    fn no_function_for(&mut self, rule: &Derivative) {
        let (name, span) = (rule.name.text.as_str(), rule.name.span);
        match self.lookup(name).map(|e| e.target) {
            Some(Target::Poison) => {}
            Some(_) => self.report(errors::rule_elsewhere(span, name)),
            None => {
                let near = self.near_value(name);
                self.report(errors::unknown_name(span, name, near));
            }
        }
    }

    /// Checks a rule, after its function. A reverse rule that is not linear serves reverse mode only.
    pub(crate) fn rule(&mut self, pending: &Pending, funcs: &mut usize, out: &mut Vec<Output>) {
        let name = &pending.def.name.text;
        let Some(entry) = self.lookup(name).cloned() else { return };
        let Target::Func(of) = entry.target else { return };
        let (wanted, given) = (pending.def.params.len(), pending.rule.params.len());
        if wanted != given {
            let shown = self.arena.show(&entry.scheme.ty);
            self.report(errors::arity(pending.rule.name.span, name, wanted, given, &shown));
            return;
        }
        self.errors_before = self.errors();
        self.opened.clear();
        let (func, kind) = if pending.rule.reverse {
            let saved = self.clone();
            let linear = self.rule_of(pending, &entry.scheme, RuleKind::Reverse);
            let new = &self.diagnostics[saved.diagnostics.len().min(self.diagnostics.len())..];
            let not_linear = |d: &Diagnostic| matches!(d.code, Code::E0401 | Code::E0402);
            if !new.is_empty() && new.iter().all(not_linear) {
                *self = saved;
                (self.rule_of(pending, &entry.scheme, RuleKind::ReverseOnly), RuleKind::ReverseOnly)
            } else {
                (linear, RuleKind::Reverse)
            }
        } else {
            (self.rule_of(pending, &entry.scheme, RuleKind::Forward), RuleKind::Forward)
        };
        let target = *funcs;
        *funcs += 1;
        out.push(Output::Func(target, func));
        out.push(Output::Rule { of, func: target, kind });
    }

    /// The rule as a function, checked against the type that its kind asks for.
    fn rule_of(&mut self, pending: &Pending, scheme: &Scheme, kind: RuleKind) -> TFunc {
        let (mark, sets) = (self.active.len(), self.for_sets.len());
        self.level = 1;
        // The rule may need no more of the type variables than the function does.
        for v in &scheme.vars {
            let closure = self.arena.closure(*v);
            self.arena.var_mut(*v).given = Some(closure);
        }
        let mut sizes = vec![];
        let mut map = Subst::new();
        for (place, v) in &scheme.dep {
            let name = self.arena.show(&Ty::Var(*v));
            let own = self.rigid(&name, VKind::Size, false);
            map.insert(*v, Sub::Size(Poly::atom(Atom::Size(own))));
            sizes.push((*place, own));
        }
        let (arg, result) = match self.arena.head(&self.arena.subst(&scheme.ty, &map)) {
            Ty::Con(Con::Fun, sides) => (sides[0].clone(), sides[1].clone()),
            Ty::Con(..) | Ty::Var(_) | Ty::Fin(_) | Ty::Exists(_) | Ty::Error => (Ty::Error, Ty::Error),
        };
        let (of_arg, of_result) = (self.arena.tangent(&arg), self.arena.tangent(&result));
        let map = match kind {
            RuleKind::Forward => lin(of_arg, of_result),
            RuleKind::Reverse => lin(of_result, of_arg),
            RuleKind::ReverseOnly => fun(of_result, of_arg),
        };
        let want = tuple(vec![result, map]);
        let frame = self.rule_frame(scheme);
        self.env.push(frame);
        self.lambdas += 1;
        let param = self.rule_params(&pending.rule.params, &arg, &sizes);
        let body = self.scoped(|this| this.check(&pending.rule.body, &want));
        self.lambdas -= 1;
        self.env.pop();
        self.level = 0;
        self.close(&want, mark, pending.rule.name.span);
        self.check_for_sets(sets);
        self.finish();
        let name = format!("{}.derivative", pending.def.name.text);
        TFunc { name, span: pending.span, vars: scheme.vars.clone(), param, body }
    }

    /// The names of the function's signature.
    fn rule_frame(&self, scheme: &Scheme) -> Frame {
        let mut frame = Frame::default();
        for v in &scheme.vars {
            let data = self.arena.var(*v);
            let Some(name) = &data.name else { continue };
            if data.kind == VKind::Size {
                let entry = self.entry(Target::Size(*v), Scheme::mono(int()));
                let poly = Some(Poly::atom(Atom::Size(*v)));
                frame.values.insert(name.to_string(), Entry { poly, ..entry });
            }
            frame.types.insert(name.to_string(), Ty::Var(*v));
        }
        frame
    }

    /// Binds the parameters; some of them are sizes.
    fn rule_params(&mut self, params: &[Pat], arg: &Ty, sizes: &[(usize, crate::types::V)]) -> Tp {
        let types = match self.arena.head(arg) {
            Ty::Con(Con::Tuple, parts) if params.len() != 1 && parts.len() == params.len() => parts.to_vec(),
            one @ (Ty::Con(..) | Ty::Var(_) | Ty::Fin(_) | Ty::Exists(_) | Ty::Error) => {
                vec![one; params.len()]
            }
        };
        let mut parts: Vec<Tp> = vec![];
        for (k, (p, ty)) in params.iter().zip(&types).enumerate() {
            let bound = self.binder(p, ty);
            if let (TpKind::Var(local), Some((_, v))) = (&bound.kind, sizes.iter().find(|(at, _)| *at == k)) {
                self.size_defs.insert(*v, SizeDef { local: *local, path: vec![] });
                let name = self.locals[local.0 as usize].name.clone();
                if let Some(entry) = self.frame().values.get_mut(&*name) {
                    entry.poly = Some(Poly::atom(Atom::Size(*v)));
                }
            }
            parts.push(bound);
        }
        if parts.len() == 1 {
            return parts.remove(0);
        }
        let span = params.iter().map(|p| p.span).reduce(Span::to).unwrap_or_default();
        Tp { ty: arg.clone(), span, kind: TpKind::Tuple(parts) }
    }
}
