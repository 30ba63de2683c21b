//! The forms without blocks.

use std::rc::Rc;

use adl_diag::Span;

use super::eval::{Eval, Vals};
use super::num::{Leaf, Num, Real};
use super::value::{Val, add};
use super::{Stop, bulk};
use crate::ir::{Atom, Effect, Expr, Stmt};
use crate::prim::S;
use crate::run::fail;
use crate::ty::{Scalar, Ty};

impl<N: Num> Eval<'_, N> {
    /// Runs a statement that has no blocks.
    #[expect(clippy::too_many_lines, reason = "one arm a form")]
    pub(super) fn simple(&mut self, stmt: &Stmt) -> Vals<N> {
        let one = |value: Val<N>| Ok(vec![value]);
        match &stmt.expr {
            Expr::Atom(a) => one(self.atom(a)?),
            Expr::Prim(row, args) => {
                let leaves: Result<Vec<Leaf<N>>, Stop> =
                    args.iter().map(|a| self.atom(a)?.into_leaf()).collect();
                one(Val::Leaf(N::apply(self.store, *row, &leaves?)?))
            }
            Expr::Inject { ty: _, tag, args } => one(Val::Sum(*tag, Rc::new(self.atoms(args)?))),
            Expr::Index { table, index, check: _ } => {
                let index = self.indices(index)?;
                one(self.atom(table)?.at(&index)?.clone())
            }
            Expr::Contract { a, b, spec } => one(self.contract(a, b, spec)?),
            Expr::Bulk(row, args) => {
                let args = self.atoms(args)?;
                one(bulk::apply(self.store, *row, &args)?)
            }
            Expr::Update { table, index, value, check: _ } => {
                let (index, mut table) = (self.indices(index)?, self.atom(table)?);
                *table.at_mut(&index)? = self.atom(value)?;
                one(table)
            }
            Expr::TableLit { elem: _, items } => one(Val::table(self.atoms(items)?)),
            Expr::Pack { ty: _, sizes, items } => {
                one(Val::Pack(self.indices(sizes)?, Rc::new(self.atoms(items)?)))
            }
            Expr::Open(a) => match self.atom(a)? {
                Val::Pack(sizes, items) => {
                    Ok(sizes.iter().map(|n| Val::int(*n)).chain(items.iter().cloned()).collect())
                }
                other @ (Val::Leaf(_) | Val::Table(_) | Val::Sum(..) | Val::Cell(_) | Val::Acc(_)) => {
                    Err(Stop::ill_formed(&format!("{} is opened", other.kind())))
                }
            },
            Expr::BoxNew { ty: _, args } => one(Val::Cell(Rc::new(self.atoms(args)?))),
            Expr::Unbox(a) => match self.atom(a)? {
                Val::Cell(items) => Ok(items.to_vec()),
                other @ (Val::Leaf(_) | Val::Table(_) | Val::Sum(..) | Val::Pack(..) | Val::Acc(_)) => {
                    Err(Stop::ill_formed(&format!("{} is no cell", other.kind())))
                }
            },
            Expr::Zero(ty) => one(self.zero(ty)?),
            Expr::AddCt(a, b) => {
                let (a, b) = (self.atom(a)?, self.atom(b)?);
                one(add(self.store, &a, &b)?)
            }
            Expr::Dup(a) => Ok(vec![self.atom(a)?, self.atom(a)?]),
            Expr::Drop(_) => Ok(vec![]),
            Expr::Effect(effect) => self.effect(effect),
            Expr::Show { fmt, args } => {
                let (values, tys) = (self.atoms(args)?, args.iter().map(Atom::ty).collect::<Vec<Ty>>());
                let text = super::show::text(fmt, &values, &tys)?;
                one(Val::Leaf(Leaf::Other(S::Str(text.into()))))
            }
            Expr::AccNew(ty) => {
                let zero = self.zero(ty)?;
                one(Val::Acc(self.new_acc(zero)))
            }
            Expr::AccFrom(a) => {
                let value = self.atom(a)?;
                one(Val::Acc(self.new_acc(value)))
            }
            Expr::AccView { acc, index, check: _ } => {
                let (acc, index) = (self.acc(acc)?, self.indices(index)?);
                one(Val::Acc(self.view(acc, &index)?))
            }
            Expr::AccAdd { acc, index, value, check: _ } => {
                let (acc, index, value) = (self.acc(acc)?, self.indices(index)?, self.atom(value)?);
                let place = self.view(acc, &index)?;
                self.acc_add(&place, &value)?;
                Ok(vec![])
            }
            Expr::AccFreeze(acc) => {
                let acc = self.acc(acc)?;
                one(self.freeze(&acc)?)
            }
            Expr::AccInj { ty: _, tag, accs } => {
                let accs: Result<Vec<_>, Stop> = accs.iter().map(|acc| self.acc(acc)).collect();
                one(Val::Acc(super::acc::AccRef::Made(*tag, accs?)))
            }
            Expr::AccPayload { acc, tag } => {
                let acc = self.acc(acc)?;
                let tys: Vec<Ty> = stmt.vars.iter().filter_map(|v| held_by(v.ty())).collect();
                Ok(self.payload(&acc, *tag, &tys)?.into_iter().map(Val::Acc).collect())
            }
            Expr::Case { .. }
            | Expr::For { .. }
            | Expr::Reduce { .. }
            | Expr::Prefix { .. }
            | Expr::Loop { .. }
            | Expr::Call { .. } => Err(Stop::ill_formed("a form with blocks")),
            Expr::Tuple(_)
            | Expr::Record { .. }
            | Expr::Proj(..)
            | Expr::Lambda(_)
            | Expr::Apply { .. }
            | Expr::FuncRef { .. }
            | Expr::Method { .. }
            | Expr::SizeOf(_)
            | Expr::SizeVal(_)
            | Expr::Deriv { .. } => Err(Stop::NotCovered("a form of higher-order Core".to_string())),
        }
    }

    fn effect(&mut self, effect: &Effect) -> Vals<N> {
        let failed = |error| Err(Stop::Failed(error));
        match effect {
            Effect::Error(message) => failed(fail::error(Span::default(), &self.text(message)?)),
            Effect::Assert { cond, msg } => {
                if self.atom(cond)?.as_bool()? {
                    Ok(vec![])
                } else {
                    failed(fail::assertion(Span::default(), &self.text(msg)?))
                }
            }
            Effect::CheckSize { left, right, what } => {
                let (left, right) = (self.atom(left)?.as_int()?, self.atom(right)?.as_int()?);
                if left == right {
                    Ok(vec![])
                } else {
                    failed(fail::sizes_differ(Span::default(), what, left, right))
                }
            }
            Effect::CheckNonNegative(size) => {
                let n = self.atom(size)?.as_int()?;
                if n < 0 { failed(fail::negative_size(Span::default(), n)) } else { Ok(vec![]) }
            }
            Effect::Trace(_) | Effect::Print(_) => Ok(vec![]),
            Effect::LoadNpy { .. } => Err(Stop::NotCovered("a table from a file".to_string())),
        }
    }

    fn text(&self, atom: &Atom) -> Result<String, Stop> {
        let value = self.atom(atom)?;
        let Val::Leaf(Leaf::Other(S::Str(text))) = &value else {
            return Err(Stop::ill_formed(&format!("{} is no text", value.kind())));
        };
        Ok(text.to_string())
    }

    fn acc(&self, atom: &Atom) -> Result<super::acc::AccRef, Stop> {
        match self.atom(atom)? {
            Val::Acc(acc) => Ok(acc),
            other @ (Val::Leaf(_) | Val::Table(_) | Val::Sum(..) | Val::Pack(..) | Val::Cell(_)) => {
                Err(Stop::ill_formed(&format!("{} is no accumulator", other.kind())))
            }
        }
    }

    fn indices(&self, atoms: &[Atom]) -> Result<Vec<i64>, Stop> {
        atoms.iter().map(|a| self.atom(a)?.as_int()).collect()
    }

    /// The zero of a type, with sizes as its variables say now.
    pub(super) fn zero(&mut self, ty: &Ty) -> Result<Val<N>, Stop> {
        let other = |s: S| Ok(Val::Leaf(Leaf::Other(s)));
        match ty {
            Ty::Scalar(s @ (Scalar::F64 | Scalar::F32)) => {
                Ok(Val::Leaf(Leaf::Float(N::constant(Real::of(*s, 0.0)))))
            }
            Ty::Scalar(Scalar::Int) => other(S::Int(0)),
            Ty::Scalar(Scalar::Bool) => other(S::Bool(false)),
            Ty::Scalar(Scalar::Key) => other(S::Key(0)),
            Ty::Scalar(Scalar::Str) => other(S::Str("".into())),
            Ty::Table(ix, elem) => {
                let n = self.size_in_type(ix)?;
                Ok(Val::table(vec![self.zero(elem)?; n]))
            }
            Ty::Sum(_) => Ok(Val::Sum(super::value::ZERO_TAG, Rc::default())),
            Ty::Pack(pack) => {
                let items: Vals<N> = pack.items.iter().map(|ty| self.zero(ty)).collect();
                Ok(Val::Pack(vec![0; pack.sizes.len()], Rc::new(items?)))
            }
            Ty::Box(_)
            | Ty::Acc(_)
            | Ty::Tuple(_)
            | Ty::Named(..)
            | Ty::Index(_)
            | Ty::Fn(..)
            | Ty::Lin(..)
            | Ty::Tangent(_)
            | Ty::Var(_) => Err(Stop::ill_formed("the zero of a type that has none")),
        }
    }
}

/// The type of the values of an accumulator.
fn held_by(ty: &Ty) -> Option<Ty> {
    if let Ty::Acc(held) = ty { Some((**held).clone()) } else { None }
}
