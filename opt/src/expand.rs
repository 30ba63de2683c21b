//! Expand: drives [`adl_ad`] where a derivative operator is applied.
//!
//! The function is specialised first, which expands the derivatives inside it, then simplified, then
//! transformed: innermost first, without tags. Results are memoised by function and activity.

use std::sync::Arc;
use std::time::Instant;

use adl_ad::{Error, acc_mode};
use adl_core::ir::{Atom, Deriv, Expr, FuncId, Var};
use adl_core::ty::Ty;
use adl_core::walk::Subst;
use adl_diag::Code as DiagCode;

use crate::pipeline;
use crate::specialise::shape::{Abstraction, Closure, Code, LinearMap, Shape, Val};
use crate::specialise::{Instance, Result, Spec, SpecError};

impl Spec<'_> {
    /// `op(f)(arg)`.
    pub(crate) fn derivative(&mut self, op: Deriv, f: &Val, arg: Val) -> Result<Val> {
        self.each_lambda(f, |spec, f| match op {
            Deriv::Vjp => spec.vjp(f, &arg),
            Deriv::Jvp => spec.jvp(f, &arg),
            Deriv::Linearize => spec.linearize(f, &arg),
            Deriv::Checkpoint => spec.apply_closure(f, arg.clone(), true),
        })
    }

    /// The instance to differentiate, its call arguments, and which parameters are active: the floats of the
    /// argument, not what the function captured.
    fn target(&mut self, f: &Val, arg: &Val) -> Result<(std::rc::Rc<Instance>, Vec<Atom>, Vec<bool>)> {
        let Shape::Fun(closures) = &f.shape else { panic!("a function") };
        let (inst, sizes) = self.instance(&closures[0], &arg.shape)?;
        if self.s.reaches_open(inst.func) {
            let message = "this function is differentiated inside itself";
            let help = "write the recursion as a `loop`";
            return self.error(DiagCode::E0501, message, Some(help));
        }
        self.no_recursive_tangent(&arg.shape)?;
        self.no_recursive_tangent(&inst.result)?;
        let mut mask = vec![false; sizes.len() + f.leaves.len()];
        let args: Vec<Atom> =
            sizes.into_iter().chain(f.leaves.iter().cloned()).chain(arg.leaves.clone()).collect();
        mask.extend(arg.leaves.iter().map(|a| a.ty().is_active()));
        let at = inst.func.0 as usize;
        let func = self.s.target.funcs[at].clone();
        self.s.target.funcs[at] = pipeline::before_ad(&self.s.target, func);
        self.give_rules(inst.func)?;
        Ok((inst, args, mask))
    }

    fn checked<T>(&self, made: std::result::Result<T, Error>) -> Result<T> {
        made.map_err(|e| SpecError { code: e.code, message: e.message, help: Some(e.help), span: e.span })
    }

    fn vjp(&mut self, f: &Val, arg: &Val) -> Result<Val> {
        let (inst, args, mask) = self.target(f, arg)?;
        let s = &mut *self.s;
        let start = Instant::now();
        let made = s.derivatives.reverse(&mut s.target, inst.func, &mask);
        s.expanding += start.elapsed();
        s.number_residuals();
        let made = self.checked(made)?;
        let (y, rest) = self.call_for(&inst, made.fwd, args);
        let active = made.results[inst.n_size_results..].to_vec();
        let map = self.linear_map(made.bwd, true, &arg.shape, &y.shape, active, rest);
        Ok(Val::tuple(vec![y, map]))
    }

    fn jvp(&mut self, f: &Val, arg: &Val) -> Result<Val> {
        let mut parts = arg.parts();
        let dx = parts.swap_remove(1);
        let x = parts.swap_remove(0);
        let (inst, mut args, mask) = self.target(f, &x)?;
        let s = &mut *self.s;
        let start = Instant::now();
        let made = s.derivatives.forward(&mut s.target, inst.func, &mask);
        s.expanding += start.elapsed();
        s.number_residuals();
        let made = self.checked(made)?;
        args.extend(dx.leaves);
        let (y, tangents) = self.call_for(&inst, made.func, args);
        let dy = self.tangents_of(&y.shape, &made.results[inst.n_size_results..], tangents);
        Ok(Val::tuple(vec![y, dy]))
    }

    fn linearize(&mut self, f: &Val, arg: &Val) -> Result<Val> {
        let (inst, args, mask) = self.target(f, arg)?;
        let s = &mut *self.s;
        let start = Instant::now();
        let made = s.derivatives.forward(&mut s.target, inst.func, &mask);
        s.expanding += start.elapsed();
        s.number_residuals();
        let made = self.checked(made)?;
        let y = self.call_instance(&inst, args.clone(), false);
        let active = made.results[inst.n_size_results..].to_vec();
        let map = self.linear_map(made.func, false, &arg.shape, &y.shape, active, args);
        Ok(Val::tuple(vec![y, map]))
    }

    /// A call of a function whose results begin like those of the instance: the value, and the rest.
    fn call_for(&mut self, inst: &Instance, id: FuncId, args: Vec<Atom>) -> (Val, Vec<Atom>) {
        let primal = self.s.target.funcs[inst.func.0 as usize].clone();
        let func = self.s.target.funcs[id.0 as usize].clone();
        let outs = self.with_builder(|b| b.call(id, &func, args.clone()));
        let mut map: Subst = primal.params.iter().cloned().zip(args).collect();
        for (r, out) in primal.body.results.iter().zip(&outs) {
            if let Atom::Var(r) = r {
                map.entry(r.clone()).or_insert_with(|| out.clone());
            }
        }
        let n = primal.body.results.len();
        let leaves = outs[inst.n_size_results..n].to_vec();
        (Val { shape: inst.result.subst(&map), leaves }, outs[n..].to_vec())
    }

    /// The tangent of a result of this shape, from the tangents of its active leaves.
    fn tangents_of(&mut self, shape: &Shape, active: &[bool], tangents: Vec<Atom>) -> Val {
        let mut given = tangents.into_iter();
        let mut leaves = vec![];
        for (ty, active) in shape.leaf_tys().iter().zip(active) {
            let Some(t) = ty.tangent() else { continue };
            leaves.push(if *active {
                given.next().expect("one tangent an active leaf")
            } else {
                self.with_builder(|b| adl_ad::zero(b, &t))
            });
        }
        Val { shape: shape.tangent(), leaves }
    }

    /// The function value of a pullback or pushforward that holds these residuals.
    fn linear_map(
        &mut self,
        func: FuncId,
        backward: bool,
        arg: &Shape,
        result: &Shape,
        active: Vec<bool>,
        held: Vec<Atom>,
    ) -> Val {
        let mut sizes = Abstraction::default();
        sizes.note(arg);
        sizes.note(result);
        let names: Vec<Var> = held.iter().map(|a| Var::new(a.ty())).collect();
        let mut captured: Vec<(Var, Shape)> =
            names.iter().zip(&held).map(|(v, a)| (v.clone(), Shape::Raw(a.ty()))).collect();
        captured.extend(sizes.params.iter().map(|v| (v.clone(), Shape::Scalar(adl_core::ty::Scalar::Int))));
        let map = LinearMap {
            func,
            backward,
            arg: sizes.apply(arg),
            result: sizes.apply(result),
            active,
            residuals: names,
            sizes: sizes.params.clone(),
        };
        let leaves = held.into_iter().chain(sizes.sizes).collect();
        let closure = Closure { code: Code::Linear(Arc::new(map)), tys: vec![], captured };
        Val { shape: Shape::Fun(vec![closure]), leaves }
    }

    /// Applies a pullback to a cotangent, or a pushforward to a tangent.
    pub(crate) fn apply_linear(&mut self, map: &LinearMap, held: &[Atom], value: &Val) -> Result<Val> {
        let (residuals, sizes) = held.split_at(map.residuals.len());
        let subst: Subst = map.sizes.iter().cloned().zip(sizes.iter().cloned()).collect();
        let (arg, result) = (map.arg.subst(&subst), map.result.subst(&subst));
        let func = self.s.target.funcs[map.func.0 as usize].clone();
        let mut args = residuals.to_vec();
        if !map.backward {
            args.extend(value.leaves.iter().cloned());
            let outs = self.with_builder(|b| b.call(map.func, &func, args));
            let n = map.active.iter().filter(|a| **a).count();
            let tangents = outs[outs.len() - n..].to_vec();
            return Ok(self.tangents_of(&result, &map.active, tangents));
        }
        let with_tangent = |tys: Vec<Ty>| tys.iter().map(Ty::tangent).collect::<Vec<_>>();
        let mut given = value.leaves.iter();
        for (t, active) in with_tangent(result.leaf_tys()).iter().zip(&map.active) {
            if t.is_some() {
                let ct = given.next().expect("one cotangent a leaf");
                if *active {
                    args.push(ct.clone());
                }
            }
        }
        let leaf_tys: Vec<(Ty, Ty)> =
            arg.leaf_tys().into_iter().filter_map(|t| Some((t.tangent()?, t))).collect();
        let mut accs = vec![];
        for (t, ty) in &leaf_tys {
            if acc_mode(ty) {
                let acc = self.bind(Ty::Acc(Box::new(t.clone())), Expr::AccNew(t.clone()));
                accs.push(acc.clone());
                args.push(acc);
            }
        }
        let mut values = self.with_builder(|b| b.call(map.func, &func, args)).into_iter();
        let mut accs = accs.into_iter();
        let mut leaves = vec![];
        for (t, ty) in &leaf_tys {
            leaves.push(if acc_mode(ty) {
                let acc = accs.next().expect("one accumulator a table");
                self.bind(t.clone(), Expr::AccFreeze(acc))
            } else {
                values.next().expect("one cotangent a scalar")
            });
        }
        Ok(Val { shape: arg.tangent(), leaves })
    }
}
