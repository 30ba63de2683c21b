//! Derivatives that are given, in place of those of the code.
//!
//! What is given is for all arguments at once; what is asked for is for the active ones. The functions made here
//! stand between the two.

use adl_core::build::Builder;
use adl_core::ir::{Atom, Expr, Func, FuncId, Var};
use adl_core::ty::Ty;
use adl_core::walk::{self, Subst};

use crate::tangent::{acc_mode, tangent_of, zero};
use crate::{Cx, Error, Forward, Reverse, activity};

/// The derivatives of a function as they are given.
#[derive(Clone, Debug)]
pub struct Custom {
    /// The arguments that are differentiated: the parameters from this one on. Those before are constants.
    pub first: usize,
    /// Parameters of the primal, then the tangents of all arguments that have one; results of the primal, then the
    /// tangents of all results that have one.
    pub forward: Result<FuncId, Error>,
    /// Both sweeps.
    pub reverse: Result<Sweeps, Error>,
}

/// The functions of reverse mode.
#[derive(Clone, Debug)]
pub struct Sweeps {
    /// Parameters of the primal; results of the primal, then residuals.
    pub fwd: FuncId,
    /// Parameters: residuals, the cotangents of all results that have one. Its last results are the cotangents of
    /// all arguments that have one.
    pub bwd: FuncId,
    /// The types of these cotangents, over the parameters of `bwd`.
    pub cotangents: Vec<Ty>,
}

/// A copy of the parameters of a function.
fn renamed(func: &Func) -> (Vec<Var>, Subst) {
    let mut map = Subst::new();
    let params = func.params.iter().map(|p| walk::rename_var(p, &mut map)).collect();
    (params, map)
}

impl Cx<'_> {
    /// All results that have a tangent are active.
    pub(crate) fn custom_activity(&self, id: FuncId) -> activity::CallActivity {
        let func = &self.program.funcs[id.0 as usize];
        activity::CallActivity {
            results: func.body.results.iter().map(|r| r.ty().is_active()).collect(),
            written: vec![false; func.params.len()],
        }
    }

    pub(crate) fn custom_forward(
        &mut self,
        id: FuncId,
        active: &[bool],
        custom: Custom,
    ) -> Result<Forward, Error> {
        let given = custom.forward?;
        let (primal, full) =
            (self.program.funcs[id.0 as usize].clone(), self.program.funcs[given.0 as usize].clone());
        let (all, _) = renamed(&full);
        let (own, tangents) = all.split_at(primal.params.len());
        let mut params = own.to_vec();
        let mut args: Vec<Atom> = own.iter().map(Atom::from).collect();
        let mut b = Builder::new(primal.span);
        let mut tangents = tangents.iter();
        for (k, (_, on)) in
            primal.params.iter().zip(active).enumerate().filter(|(_, (p, _))| p.ty().is_active())
        {
            if k < custom.first {
                // A constant of the function: its tangent is not looked at.
                params.extend(on.then(|| Var::new(tangent_of(own[k].ty()))));
                continue;
            }
            let t = tangents.next().expect("one tangent an argument");
            if *on {
                params.push(t.clone());
                args.push(t.into());
            } else {
                args.push(zero(&mut b, t.ty()));
            }
        }
        let results = b.call(given, &full, args);
        let name = format!("{}_jvp", primal.name);
        let func = Func { name, tparams: vec![], params, body: b.finish(results), span: primal.span };
        Ok(Forward { func: self.push(func), results: self.custom_activity(id).results })
    }

    pub(crate) fn custom_reverse(
        &mut self,
        id: FuncId,
        active: &[bool],
        custom: Custom,
    ) -> Result<Reverse, Error> {
        let sweeps = custom.reverse?;
        let (primal, full) =
            (self.program.funcs[id.0 as usize].clone(), self.program.funcs[sweeps.bwd.0 as usize].clone());
        let results = self.custom_activity(id).results;
        let n_residuals = full.params.len() - results.iter().filter(|r| **r).count();
        let (mut params, map) = renamed(&full);
        let mut b = Builder::new(primal.span);
        let outs = b.call(sweeps.bwd, &full, params.iter().map(Atom::from).collect());
        let mut cotangents = sweeps.cotangents.iter().zip(&outs[outs.len() - sweeps.cotangents.len()..]);
        let mut values = vec![];
        for (k, (p, on)) in
            primal.params.iter().zip(active).enumerate().filter(|(_, (p, _))| p.ty().is_active())
        {
            let given = if k < custom.first { None } else { cotangents.next() };
            if !on {
                continue;
            }
            match given {
                Some((ty, value)) if acc_mode(p.ty()) => {
                    let acc = Var::named("acc", Ty::Acc(Box::new(walk::subst_ty(ty, &map))));
                    params.push(acc.clone());
                    let (acc, value) = (acc.into(), value.clone());
                    b.emit(vec![], Expr::AccAdd { acc, index: vec![], value, check: false });
                }
                Some((_, value)) => values.push(value.clone()),
                None if acc_mode(p.ty()) => {
                    params.push(Var::named("acc", Ty::Acc(Box::new(tangent_of(p.ty())))));
                }
                None => values.push(zero(&mut b, &tangent_of(p.ty()))),
            }
        }
        let name = format!("{}_bwd", primal.name);
        let bwd = Func { name, tparams: vec![], params, body: b.finish(values), span: primal.span };
        Ok(Reverse { fwd: sweeps.fwd, bwd: self.push(bwd), results, n_residuals })
    }
}
