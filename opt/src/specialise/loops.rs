//! Loops: the shape that a state keeps.

use adl_core::ir::{Atom, Block, Expr, Keep, LoopKind, Var};
use adl_core::ty::{INT, Ix, Ty};
use adl_diag::Code;

use super::family::Place;
use super::forms::own_sizes_differ;
use super::join::same_layout;
use super::shape::{Packed, Shape, Val};
use super::{Env, Result, Spec};

/// How often the shape of a loop's state may grow. Each round can join a lambda to a set; more means that
/// functions nest without end.
const MAX_ROUNDS: usize = 16;

/// A loop for a state of some shape.
struct Round {
    /// The loop, without its start.
    expr: Expr,
    /// The shape that the body gives.
    next: Shape,
    /// Does the body give a pack of another size?
    resized: bool,
}

impl Spec<'_> {
    /// The state keeps one shape for all rounds: that of the start, joined with what the body gives.
    pub(super) fn loop_(
        &mut self,
        kind: &LoopKind,
        state: &Var,
        init: &Atom,
        body: &Block,
        keep: Keep,
        env: &Env,
    ) -> Result<Val> {
        let init = self.atom(init, env)?;
        let place = Place::Body(state.clone(), init.shape.skeleton());
        let init = self.fitted(&place, init)?;
        let mut shape = init.shape.clone();
        for _ in 0..MAX_ROUNDS {
            let Round { expr, next, resized } =
                self.loop_round(kind, state, (&shape, &init.leaves), body, keep, env)?;
            let changing = self.local_functions(&next, self.depth()).or_else(|| self.nested_functions(&next));
            if let Some(at) = changing {
                return self.start_family(place, at);
            }
            if resized {
                // The state has another size in each round: it brings it along.
                let of = |val: &Val| Shape::Packed(Box::new(Packed::of(val)));
                shape = self.join(&of(&init), &next)?;
                continue;
            }
            let joined = self.join(&shape, &next)?;
            if !same_layout(&joined, &shape) {
                shape = joined;
                continue;
            }
            let init = self.coerce(&init, &shape)?;
            let Expr::Loop { kind, state, body, keep, .. } = expr else { panic!("a loop") };
            let mut tys: Vec<Ty> = state.iter().map(|v| v.ty().clone()).collect();
            let n = tys.len();
            if matches!(kind, LoopKind::While { .. }) {
                tys.push(INT);
            }
            let mut leaves = self.bind_all(tys, Expr::Loop { kind, state, init, body, keep });
            leaves.truncate(n);
            return Ok(Val { shape, leaves });
        }
        let message = "the state of this loop is a function that captures the one of the round before";
        self.error(Code::E0399, message, Some("let the state be the values that the function captures"))
    }

    /// The loop for a state of this shape.
    fn loop_round(
        &mut self,
        kind: &LoopKind,
        state: &Var,
        (shape, init): (&Shape, &[Atom]),
        body: &Block,
        keep: Keep,
        env: &Env,
    ) -> Result<Round> {
        let tys = self.leaf_tys(shape);
        let new_state =
            |tys: &[Ty]| -> Vec<Var> { tys.iter().map(|t| Var::named(state.name(), t.clone())).collect() };
        let bind = |env: &Env, var: &Var, vars: &[Var]| {
            let mut env = env.clone();
            env.set(var, Val { shape: shape.clone(), leaves: vars.iter().map(Atom::from).collect() });
            env
        };
        let mut inner = env.clone();
        let mut bound = vec![];
        let kind = match kind {
            LoopKind::For { ix, var, reverse } => {
                let ix = self.ix(ix, env)?;
                let n = ix.size();
                let i = Var::named(var.name(), INT);
                bound.push(i.clone());
                (LoopKind::For { ix: Ix::Fin(n), var: i.clone(), reverse: *reverse }, Some((ix, var, i)))
            }
            LoopKind::While { params, cond } => {
                let vars = new_state(&tys);
                self.open_with(&vars);
                let cond_env = bind(env, &params[0], &vars);
                let cond = self.block1(cond, &cond_env)?;
                let cond = self.close(cond.leaves);
                (LoopKind::While { params: vars, cond }, None)
            }
        };
        let vars = new_state(&tys);
        bound.extend(vars.iter().cloned());
        self.open_with(&bound);
        if let Some((ix, var, i)) = kind.1 {
            let index = self.index_of(&ix, Atom::Var(i));
            inner.set(var, index);
        }
        let inner = bind(&inner, state, &vars);
        let next = self.block1(body, &inner)?;
        let next = self.fitted(&Place::Body(state.clone(), next.shape.skeleton()), next)?;
        let resized = own_sizes_differ((shape, init), &next);
        let joined = self.join(shape, &next.shape)?;
        let results = if same_layout(&joined, shape) { self.coerce(&next, shape)? } else { next.leaves };
        let body = self.close(results);
        let expr = Expr::Loop { kind: kind.0, state: vars, init: vec![], body, keep };
        Ok(Round { expr, next: next.shape, resized })
    }
}
