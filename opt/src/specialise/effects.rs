//! Effects: failures, checks, output, files.

use adl_core::ir::{Atom, Effect, Expr, Stmt, Var};
use adl_core::ty::{INT, Ty};

use super::shape::{IxShape, Shape, Val};
use super::{Env, Result, Spec};

impl Spec<'_> {
    pub(super) fn effect(&mut self, effect: &Effect, stmt: &Stmt, env: &Env) -> Result<Vec<Val>> {
        let leaf = |s: &mut Self, a: &Atom| -> Result<Atom> { Ok(s.atom(a, env)?.leaves.swap_remove(0)) };
        let effect = match effect {
            Effect::Error(a) => {
                let message = leaf(self, a)?;
                let mut vals = vec![];
                let mut vars = vec![];
                for v in &stmt.vars {
                    let shape = self.ty_shape(v.ty(), env)?;
                    let leaves: Vec<Var> = self.leaf_tys(&shape).into_iter().map(Var::new).collect();
                    vals.push(Val { shape, leaves: leaves.iter().map(Atom::from).collect() });
                    vars.extend(leaves);
                }
                self.emit(vars, Expr::Effect(Effect::Error(message)));
                return Ok(vals);
            }
            Effect::LoadNpy { path, rank, elem } => {
                let path = leaf(self, path)?;
                let n = *rank as usize;
                let sizes: Vec<Var> = stmt.vars[..n].iter().map(|v| Var::named(v.name(), INT)).collect();
                let mut ty = Ty::Scalar(*elem);
                let mut shape = Shape::Scalar(*elem);
                for s in sizes.iter().rev() {
                    ty = Ty::table(s.into(), ty);
                    shape = Shape::Table(IxShape::Fin(s.into()), Box::new(shape));
                }
                let table = Var::named(stmt.vars[n].name(), ty);
                let mut vals: Vec<Val> = sizes.iter().map(|s| Val::scalar(s.into())).collect();
                vals.push(Val { shape, leaves: vec![(&table).into()] });
                let vars = sizes.into_iter().chain([table]).collect();
                let load = Effect::LoadNpy { path, rank: *rank, elem: *elem };
                self.emit(vars, Expr::Effect(load));
                return Ok(vals);
            }
            Effect::Assert { cond, msg } => Effect::Assert { cond: leaf(self, cond)?, msg: leaf(self, msg)? },
            Effect::CheckSize { left, right, what } => {
                Effect::CheckSize { left: leaf(self, left)?, right: leaf(self, right)?, what: what.clone() }
            }
            Effect::CheckNonNegative(a) => Effect::CheckNonNegative(leaf(self, a)?),
            Effect::Trace(a) => Effect::Trace(leaf(self, a)?),
            Effect::Print(a) => Effect::Print(leaf(self, a)?),
        };
        self.emit(vec![], Expr::Effect(effect));
        Ok(vec![Val::unit(); stmt.vars.len()])
    }
}
