//! Derivatives that users wrote: from rules of the source to functions that `adl_ad` takes.
//!
//! A rule gives the value and a linear map of tangents. Of one instance of its function come: `fwd`, which runs the
//! rule and gives what the map captured as residuals; `bwd`, which applies the map to cotangents; and the function
//! of forward mode. Where a mode needs the map the other way round, it is transposed: reverse mode of the map itself,
//! whose residuals do not depend on its argument, as it is linear.

use std::collections::HashMap;
use std::rc::Rc;

use adl_ad::{Custom, Error, Reverse, Sweeps, acc_mode};
use adl_core::ir::{Atom, Expr, Func, FuncId, Program, Var};
use adl_core::reach;
use adl_core::rule::{Rule, RuleKind};
use adl_core::ty::{INT, Ty};
use adl_core::walk::{self, Subst};
use adl_diag::Code;

use super::apply::only_shape;
use super::join::same_layout;
use super::shape::{Abstraction, Closure, Shape, TyVal, Val};
use super::{Instance, Result, Spec, Specialiser};
use crate::pipeline;

/// An instance of a function that has a rule.
pub(crate) struct Ruled {
    pub(crate) rule: Rule,
    /// The function with its captures, over the parameters of the instance.
    pub(crate) closure: Closure,
    /// The argument, over the parameters of the instance.
    pub(crate) arg: Shape,
    pub(crate) inst: Rc<Instance>,
}

/// The map of a rule as a function of first-order Core. Its last results are what it gives.
struct Map {
    func: FuncId,
    /// Parameters that are captured; what it is applied to follows.
    n_held: usize,
}

/// How a derivative uses the map: as it is, or transposed.
enum Way<'a> {
    Direct(&'a Map),
    Transposed(&'a Map, &'a Reverse),
}

/// The parameters of an instance under new names, and what is over them.
struct Copy {
    params: Vec<Var>,
    globals: HashMap<Var, Val>,
    tys: Vec<TyVal>,
    arg: Val,
}

/// What a run of the rule gives: the value, the map, and the atoms to hold for it.
struct RuleRun {
    y: Val,
    map: Val,
    held: Vec<Atom>,
}

impl Specialiser {
    /// The rule of a function.
    pub(crate) fn rule_of(&self, func: FuncId) -> Option<Rule> {
        self.source.rules.iter().find(|r| r.of == func).copied()
    }
}

impl Spec<'_> {
    /// Makes the derivatives by rules that differentiating this function may need.
    pub(crate) fn give_rules(&mut self, func: FuncId) -> Result<()> {
        if self.s.ruled.is_empty() {
            return Ok(());
        }
        let (mut seen, mut todo) = (vec![func], vec![func]);
        while let Some(f) = todo.pop() {
            if let Some(ruled) = self.s.ruled.get(&f).cloned()
                && !self.s.derivatives.is_given(f)
            {
                match self.custom(f, &ruled) {
                    Ok(custom) => self.s.derivatives.give(f, custom),
                    Err(error) => {
                        self.s.derivatives.withdraw(f);
                        return Err(error);
                    }
                }
            }
            for next in reach::mentioned(&self.s.target.funcs[f.0 as usize].body) {
                if !seen.contains(&next) {
                    seen.push(next);
                    todo.push(next);
                }
            }
        }
        Ok(())
    }

    /// The derivatives of an instance by its rule.
    fn custom(&mut self, of: FuncId, ruled: &Ruled) -> Result<Custom> {
        let func = self.s.target.funcs[of.0 as usize].clone();
        let first = func.params.len() - ruled.arg.n_leaves();
        let name = self.s.source.funcs[ruled.rule.of.0 as usize].name.clone();
        // Given already while it is made: the rule may well differentiate through the function.
        let unfinished = Error::rule(
            format!("the rule of `{name}` differentiates `{name}` itself"),
            "write the derivative out, or differentiate another function",
            func.span,
        );
        let none = Custom { first, forward: Err(unfinished.clone()), reverse: Err(unfinished) };
        self.s.derivatives.give(of, none);
        let map = self.map_of(&func, ruled)?;
        let transposed = match ruled.rule.kind {
            RuleKind::Forward | RuleKind::Reverse => self.transposed(&map, &name)?,
            RuleKind::ReverseOnly => {
                let message = format!("the rule of `{name}` is not linear, and serves reverse mode only");
                let help =
                    "make the map of the rule linear, or write `derivative` instead of `derivative reverse`";
                let error = Error::rule(message, help, self.s.source.funcs[ruled.rule.func.0 as usize].span);
                let none =
                    Custom { first: map.n_held, forward: Err(error.clone()), reverse: Err(error.clone()) };
                self.s.derivatives.give(map.func, none);
                Err(error)
            }
        };
        let direct = Way::Direct(&map);
        let back = match &transposed {
            Ok(made) => Ok(Way::Transposed(&map, made)),
            Err(error) => Err(error.clone()),
        };
        let (forward, reverse) = match ruled.rule.kind {
            RuleKind::Forward => (Ok(direct), back),
            RuleKind::Reverse | RuleKind::ReverseOnly => (back, Ok(direct)),
        };
        let forward = match forward {
            Ok(way) => Ok(self.forward_by_rule(&func, ruled, &way)?),
            Err(error) => Err(error),
        };
        let reverse = match reverse {
            Ok(way) => Ok(self.sweeps_by_rule(&func, ruled, &way)?),
            Err(error) => Err(error),
        };
        Ok(Custom { first, forward, reverse })
    }

    /// The parameters of the instance once more, and over them its captures, type arguments and argument.
    fn copy(&self, func: &Func, ruled: &Ruled) -> Copy {
        let mut map = Subst::new();
        let params: Vec<Var> = func.params.iter().map(|p| walk::rename_var(p, &mut map)).collect();
        let atoms: Vec<Atom> = params.iter().map(Atom::from).collect();
        let n = atoms.len() - ruled.arg.n_leaves();
        let closure = only_shape(&Shape::Fun(vec![ruled.closure.clone()]).subst(&map));
        let shapes: Vec<Shape> = closure.captured.iter().map(|(_, s)| s.clone()).collect();
        let n_captured: usize = shapes.iter().map(Shape::n_leaves).sum();
        let captured = Val::split(&shapes, &atoms[n - n_captured..n]);
        let globals = closure.captured.iter().map(|(v, _)| v.clone()).zip(captured).collect();
        let arg = Val { shape: ruled.arg.subst(&map), leaves: atoms[n..].to_vec() };
        let tys = closure.tys.into_iter().map(|(_, t)| t).collect();
        Copy { params, globals, tys, arg }
    }

    /// Runs the rule here.
    fn run_rule(&mut self, ruled: &Ruled, tys: Vec<TyVal>, arg: &Val) -> Result<RuleRun> {
        let rule = self.top_closure(ruled.rule.func, tys)?;
        let mut parts = self.apply(&rule, arg.clone())?.parts();
        let (map, y) = (parts.swap_remove(1), parts.swap_remove(0));
        if !same_layout(&y.shape, &ruled.inst.result) {
            let name = self.s.source.funcs[ruled.rule.of.0 as usize].name.clone();
            let message = format!("the rule of `{name}` gives a value of another form than `{name}`");
            return self.error(Code::E0505, message, None);
        }
        let sizes = sizes_of(&y, &map, arg);
        let mut held = sizes.sizes;
        for v in self.held_globals(ruled) {
            held.extend(v.leaves);
        }
        held.extend(map.leaves.iter().cloned());
        Ok(RuleRun { y, map, held })
    }

    /// The values of top-level variables, in the order in which the function captures them.
    fn held_globals(&self, ruled: &Ruled) -> Vec<Val> {
        ruled.closure.captured.iter().filter_map(|(v, _)| self.globals.get(v).cloned()).collect()
    }

    /// The map as a function of what it captured and of its argument.
    fn map_of(&mut self, func: &Func, ruled: &Ruled) -> Result<Map> {
        // The rule is run once for the shapes; the code is thrown away.
        let Copy { params, globals, tys, arg } = self.copy(func, ruled);
        let mut sub = Spec::new(self.s, &params, globals, func.span);
        sub.open();
        let run = sub.run_rule(ruled, tys, &arg)?;
        let held_globals = sub.held_globals(ruled);
        sub.close(vec![]);
        let sizes = sizes_of(&run.y, &run.map, &arg);
        let over = |shape: &Shape| sizes.apply(shape);
        let fresh = |tys: Vec<Ty>| tys.into_iter().map(Var::new).collect::<Vec<Var>>();
        let mut params = sizes.params.clone();
        let mut globals = HashMap::new();
        for ((v, _), val) in ruled.closure.captured.iter().zip(&held_globals) {
            let shape = over(&val.shape);
            let own = fresh(shape.leaf_tys());
            globals.insert(v.clone(), Val { shape, leaves: own.iter().map(Atom::from).collect() });
            params.extend(own);
        }
        let map_shape = over(&run.map.shape);
        let own = fresh(map_shape.leaf_tys());
        let map = Val { shape: map_shape, leaves: own.iter().map(Atom::from).collect() };
        params.extend(own);
        let n_held = params.len();
        let input = if ruled.rule.kind == RuleKind::Forward { &arg.shape } else { &run.y.shape };
        let input = over(&input.tangent());
        let own = fresh(input.leaf_tys());
        let input = Val { shape: input, leaves: own.iter().map(Atom::from).collect() };
        params.extend(own);
        let name = format!("{}_map", func.name);
        let mut sub = Spec::new(self.s, &params, globals, func.span);
        sub.open();
        let val = sub.apply(&map, input)?;
        let (_, atoms, _) = sub.results(vec![val], &params);
        let body = sub.close(atoms);
        let made = self.s.push(Func { name, tparams: vec![], params, body, span: func.span });
        let target = &self.s.target;
        let simple = pipeline::before_ad(target, target.funcs[made.0 as usize].clone());
        self.s.target.funcs[made.0 as usize] = simple;
        Ok(Map { func: made, n_held })
    }

    /// Reverse mode of the map in its argument.
    fn transposed(&mut self, map: &Map, name: &str) -> Result<std::result::Result<Reverse, Error>> {
        self.give_rules(map.func)?;
        let func = &self.s.target.funcs[map.func.0 as usize];
        let inputs = func.params[map.n_held..].iter().map(|p| p.ty().clone());
        let outputs = func.body.results.iter().map(Atom::ty).filter(Ty::is_active);
        // Their tangents have a zero of their own once more.
        if inputs.chain(outputs).any(|t| t.tangent() != Some(t)) {
            let message = format!("the rule of `{name}`, on tangents of enums, cannot be transposed yet");
            let help = "write `derivative` for forward mode, and `derivative reverse` for reverse mode";
            return Ok(Err(Error::rule(message, help, func.span)));
        }
        let mask: Vec<bool> = (0..func.params.len()).map(|k| map.n_held <= k).collect();
        let s = &mut *self.s;
        Ok(s.derivatives.reverse(&mut s.target, map.func, &mask))
    }

    /// Calls a function of the target.
    fn call_target(&mut self, id: FuncId, args: Vec<Atom>) -> Vec<Atom> {
        let func = self.s.target.funcs[id.0 as usize].clone();
        self.with_builder(|b| b.call(id, &func, args))
    }

    /// The atoms to hold until the map is applied this way.
    fn hold(&mut self, way: &Way, run: &RuleRun, input: &Shape) -> Vec<Atom> {
        match way {
            Way::Direct(_) => run.held.clone(),
            Way::Transposed(map, made) => {
                let mut args = run.held.clone();
                for ty in input.leaf_tys() {
                    args.push(self.with_builder(|b| adl_ad::zero(b, &ty)));
                }
                let outs = self.call_target(made.fwd, args);
                let n = self.s.target.funcs[map.func.0 as usize].body.results.len();
                outs[n..].to_vec()
            }
        }
    }

    /// The map, or its transpose, applied to these tangents; `given` are the types of what comes out.
    fn apply_way(&mut self, way: &Way, held: Vec<Atom>, tangents: &[Atom], given: &[Ty]) -> Vec<Atom> {
        let mut args = held;
        match way {
            Way::Direct(map) => {
                args.extend(tangents.iter().cloned());
                let outs = self.call_target(map.func, args);
                outs[outs.len() - given.len()..].to_vec()
            }
            Way::Transposed(_, made) => {
                let active = &made.results[made.results.len() - tangents.len()..];
                args.extend(tangents.iter().zip(active).filter(|(_, on)| **on).map(|(t, _)| t.clone()));
                let mut accs = vec![];
                for ty in given.iter().filter(|t| acc_mode(t)) {
                    let acc = self.bind(Ty::Acc(Box::new(ty.clone())), Expr::AccNew(ty.clone()));
                    args.push(acc.clone());
                    accs.push(acc);
                }
                let mut values = self.call_target(made.bwd, args).into_iter();
                let mut accs = accs.into_iter();
                let mut out = vec![];
                for ty in given {
                    out.push(if acc_mode(ty) {
                        let acc = accs.next().expect("one accumulator a table");
                        self.bind(ty.clone(), Expr::AccFreeze(acc))
                    } else {
                        values.next().expect("one value a scalar")
                    });
                }
                out
            }
        }
    }

    /// The results of the instance from the value of the rule: sizes, then leaves.
    fn as_results(&self, func: &Func, ruled: &Ruled, y: &Val) -> Vec<Atom> {
        let (mut own, mut found) = (vec![], vec![]);
        ruled.inst.result.sizes(&mut own);
        y.shape.sizes(&mut found);
        let n = ruled.inst.n_size_results;
        for (r, leaf) in func.body.results[n..].iter().zip(&y.leaves) {
            own.extend(walk::ty_vars(&r.ty()).into_iter().map(Atom::Var));
            found.extend(walk::ty_vars(&leaf.ty()).into_iter().map(Atom::Var));
        }
        let size = |r: &Atom| own.iter().position(|o| o == r).and_then(|k| found.get(k)).cloned();
        let sizes = func.body.results[..n].iter().map(|r| size(r).expect("the size is one of the result"));
        sizes.chain(y.leaves.iter().cloned()).collect()
    }

    /// The function of forward mode.
    fn forward_by_rule(&mut self, func: &Func, ruled: &Ruled, way: &Way) -> Result<FuncId> {
        let Copy { mut params, globals, tys, arg } = self.copy(func, ruled);
        let tangents: Vec<Var> = arg.shape.tangent().leaf_tys().into_iter().map(Var::new).collect();
        params.extend(tangents.iter().cloned());
        let mut sub = Spec::new(self.s, &params, globals, func.span);
        sub.open();
        let run = sub.run_rule(ruled, tys, &arg)?;
        let given = run.y.shape.tangent();
        let held = sub.hold(way, &run, &given);
        let dx: Vec<Atom> = tangents.iter().map(Atom::from).collect();
        let dy = sub.apply_way(way, held, &dx, &given.leaf_tys());
        let mut results = sub.as_results(func, ruled, &run.y);
        results.extend(dy);
        let body = sub.close(results);
        let name = format!("{}_by_rule", func.name);
        Ok(self.s.push(Func { name, tparams: vec![], params, body, span: func.span }))
    }

    /// The functions of reverse mode.
    fn sweeps_by_rule(&mut self, func: &Func, ruled: &Ruled, way: &Way) -> Result<Sweeps> {
        let Copy { params, globals, tys, arg } = self.copy(func, ruled);
        let mut sub = Spec::new(self.s, &params, globals, func.span);
        sub.open();
        let run = sub.run_rule(ruled, tys, &arg)?;
        let held = sub.hold(way, &run, &arg.shape.tangent());
        let mut results = sub.as_results(func, ruled, &run.y);
        // The sizes in the types of tangents, which the backward function needs too.
        let sizes = sizes_of(&run.y, &run.map, &arg);
        results.extend(sizes.sizes.iter().cloned());
        // Sizes in the types of what is held have to be results.
        let mut known: Vec<Atom> = params.iter().map(Atom::from).chain(results.iter().cloned()).collect();
        known.extend(held.iter().cloned());
        let mut extra: Vec<Var> = held.iter().flat_map(|a| walk::ty_vars(&a.ty())).collect();
        extra.retain(|v| !known.contains(&Atom::from(v)));
        extra.sort_by_key(|v| held.iter().position(|a| walk::ty_vars(&a.ty()).contains(v)));
        extra.dedup();
        results.extend(extra.iter().map(Atom::from));
        results.extend(held.iter().cloned());
        let body = sub.close(results);
        let (arg_shape, y_shape) = (sizes.apply(&arg.shape.tangent()), sizes.apply(&run.y.shape.tangent()));
        let name = format!("{}_fwd", func.name);
        let fwd = self.s.push(Func { name, tparams: vec![], params, body, span: func.span });
        let mut params = sizes.params.clone();
        params.extend(extra.iter().map(|_| Var::named("n", INT)));
        let held = held_params(&self.s.target, way);
        params.extend(held.iter().cloned());
        let cts: Vec<Var> = y_shape.leaf_tys().into_iter().map(|t| Var::named("ct", t)).collect();
        params.extend(cts.iter().cloned());
        let cotangents = arg_shape.leaf_tys();
        let mut sub = Spec::new(self.s, &params, HashMap::new(), func.span);
        sub.open();
        let atoms = |vars: &[Var]| vars.iter().map(Atom::from).collect::<Vec<Atom>>();
        let outs = sub.apply_way(way, atoms(&held), &atoms(&cts), &cotangents);
        let body = sub.close(outs);
        let name = format!("{}_bwd_by_rule", func.name);
        let bwd = self.s.push(Func { name, tparams: vec![], params, body, span: func.span });
        Ok(Sweeps { fwd, bwd, cotangents })
    }
}

/// The sizes in what a rule works on, each with a parameter.
fn sizes_of(y: &Val, map: &Val, arg: &Val) -> Abstraction {
    let mut sizes = Abstraction::default();
    sizes.note(&map.shape);
    sizes.note(&arg.shape);
    sizes.note(&y.shape);
    sizes
}

/// Parameters for what is held until the map is applied.
fn held_params(target: &Program, way: &Way) -> Vec<Var> {
    let (func, n) = match way {
        Way::Direct(map) => (map.func, map.n_held),
        Way::Transposed(_, made) => (made.bwd, made.n_residuals),
    };
    let mut map = Subst::new();
    target.funcs[func.0 as usize].params[..n].iter().map(|p| walk::rename_var(p, &mut map)).collect()
}
