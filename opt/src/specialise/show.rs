//! Text of a value: a template for its structure, and its leaves.

use std::sync::Arc;

use adl_core::ir::{Atom, Expr, Fmt};
use adl_core::ty::{STR, Scalar};

use super::shape::{Shape, Val};
use super::{Result, Spec};

impl Spec<'_> {
    /// Text of a value printed at top level: a String prints raw.
    pub(crate) fn show_top(&mut self, val: &Val) -> Result<Atom> {
        if val.shape == Shape::Scalar(Scalar::Str) { Ok(val.leaves[0].clone()) } else { self.show(val) }
    }

    /// Text of a value, as `show` gives it.
    pub(crate) fn show(&mut self, val: &Val) -> Result<Atom> {
        let fmt = self.fmt(&val.shape, &val.leaves);
        let args = if matches!(val.shape, Shape::Fun(_)) { vec![] } else { val.leaves.clone() };
        Ok(self.bind(STR, Expr::Show { fmt: Arc::new(fmt), args }))
    }

    fn fmt(&self, shape: &Shape, leaves: &[Atom]) -> Fmt {
        let mut at = 0;
        let mut list = |ss: &[Shape]| -> Vec<Fmt> {
            ss.iter()
                .map(|s| {
                    let n = s.n_leaves();
                    at += n;
                    self.fmt(s, &leaves[at - n..at])
                })
                .collect()
        };
        match shape {
            Shape::Scalar(_) | Shape::Index(_) | Shape::Raw(_) => Fmt::Leaf,
            Shape::Tuple(ss) => Fmt::Tuple(list(ss)),
            Shape::Struct(id, ss) => {
                let name = self.s.source.types[id.0 as usize].name.clone();
                Fmt::Struct(name, self.field_names(*id).into_iter().zip(list(ss)).collect())
            }
            Shape::Enum(id, alts) => {
                let names = self.field_names(*id);
                if alts.iter().all(Vec::is_empty) { Fmt::Names(names) } else { self.sum(names, alts) }
            }
            Shape::Tangent(id, alts) => {
                let mut names = vec!["Zero".to_string()];
                if (id.0 as usize) < self.s.source.types.len() {
                    names.extend(self.field_names(*id));
                }
                self.sum(names, alts)
            }
            Shape::Table(_, elem) => match &**elem {
                Shape::Scalar(_) | Shape::Index(_) => Fmt::Table(Box::new(Fmt::Leaf)),
                _ => Fmt::Table(Box::new(self.elem_fmt(elem))),
            },
            Shape::Fun(_) => Fmt::Text("<function>".into()),
            Shape::Acc(_) => Fmt::Text("<accumulator>".into()),
        }
    }

    /// The format of an element: it does not look at leaves.
    fn elem_fmt(&self, shape: &Shape) -> Fmt {
        let placeholders = vec![Atom::int(0); shape.n_leaves()];
        self.fmt(shape, &placeholders)
    }

    fn sum(&self, names: Vec<String>, alts: &[Vec<Shape>]) -> Fmt {
        let alts = alts.iter().map(|alt| alt.iter().map(|s| self.elem_fmt(s)).collect());
        Fmt::Sum(names.into_iter().zip(alts).collect())
    }
}
