//! Text of a value: a template for its structure, and its leaves.

use std::sync::Arc;

use adl_core::ir::{Atom, Expr, Fmt, Var};
use adl_core::ty::{INT, Ix, STR, Scalar, Ty};
use adl_diag::Code;

use super::shape::{Shape, Val};
use super::{Result, Spec};

impl Spec<'_> {
    /// Text of a value printed at top level: a String prints raw.
    pub(crate) fn show_top(&mut self, val: &Val) -> Result<Atom> {
        if val.shape == Shape::Scalar(Scalar::Str) { Ok(val.leaves[0].clone()) } else { self.show(val) }
    }

    /// Text of a value, as `show` gives it.
    pub(crate) fn show(&mut self, val: &Val) -> Result<Atom> {
        let mut args = vec![];
        let fmt = self.fmt(&val.shape, &mut val.leaves.iter(), &mut vec![], &mut args)?;
        Ok(self.bind(STR, Expr::Show { fmt: Arc::new(fmt), args }))
    }

    /// The format of a value with these leaves, inside tables of the sizes `dims`; `args` takes what it prints.
    fn fmt(
        &mut self,
        shape: &Shape,
        leaves: &mut std::slice::Iter<Atom>,
        dims: &mut Vec<Atom>,
        args: &mut Vec<Atom>,
    ) -> Result<Fmt> {
        match shape {
            Shape::Scalar(_) | Shape::Index(_) | Shape::Raw(_) | Shape::Enum(..) | Shape::Tangent(..) => {
                if let Shape::Enum(_, alts) | Shape::Tangent(_, alts) = shape
                    && alts.iter().flatten().any(holds_captures)
                {
                    let message = "an enum that holds a function which captured something cannot be printed";
                    return self.error(Code::E0399, message, None);
                }
                args.extend(leaves.next().cloned());
                Ok(self.leaf_fmt(shape))
            }
            Shape::Tuple(ss) => {
                let parts: Result<Vec<Fmt>> = ss.iter().map(|s| self.fmt(s, leaves, dims, args)).collect();
                Ok(Fmt::Tuple(parts?))
            }
            Shape::Struct(id, ss) => {
                let name = self.s.source.types[id.0 as usize].name.clone();
                let fields: Result<Vec<Fmt>> = ss.iter().map(|s| self.fmt(s, leaves, dims, args)).collect();
                Ok(Fmt::Struct(name, self.field_names(*id).into_iter().zip(fields?).collect()))
            }
            Shape::Table(ix, elem) => {
                let (depth, before) = (dims.len(), args.len());
                dims.push(ix.size());
                let inner = self.fmt(elem, leaves, dims, args)?;
                // Elements that print without leaves do not say how many there are: a table of numbers does.
                let out = if args.len() == before {
                    args.push(self.zeros(dims));
                    Fmt::Table(Box::new(Fmt::Names(vec![text_of(&inner)])))
                } else {
                    Fmt::Table(Box::new(inner))
                };
                dims.truncate(depth);
                Ok(out)
            }
            Shape::Fun(_) => {
                leaves.by_ref().take(shape.n_leaves()).for_each(drop);
                Ok(self.leaf_fmt(shape))
            }
            Shape::Acc(_) => panic!("an accumulator is no value"),
        }
    }

    /// A table of zeros of these sizes.
    fn zeros(&mut self, dims: &[Atom]) -> Atom {
        let [n, rest @ ..] = dims else { return Atom::int(0) };
        let i = Var::named("i", INT);
        self.open_with(std::slice::from_ref(&i));
        let inner = self.zeros(rest);
        let ty = Ty::table(n.clone(), inner.ty());
        let body = self.close(vec![inner]);
        self.bind(ty, Expr::For { ix: Ix::Fin(n.clone()), var: i, body })
    }

    /// The format of what prints from one leaf or none, or of a payload: it takes leaves as they come.
    fn leaf_fmt(&self, shape: &Shape) -> Fmt {
        match shape {
            Shape::Scalar(_) | Shape::Index(_) | Shape::Raw(_) => Fmt::Leaf,
            Shape::Tuple(ss) => Fmt::Tuple(ss.iter().map(|s| self.leaf_fmt(s)).collect()),
            Shape::Struct(id, ss) => {
                let name = self.s.source.types[id.0 as usize].name.clone();
                let fields = ss.iter().map(|s| self.leaf_fmt(s));
                Fmt::Struct(name, self.field_names(*id).into_iter().zip(fields).collect())
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
            Shape::Table(_, elem) => Fmt::Table(Box::new(self.leaf_fmt(elem))),
            Shape::Fun(_) => Fmt::Text("<function>".into()),
            Shape::Acc(_) => Fmt::Text("<accumulator>".into()),
        }
    }

    fn sum(&self, names: Vec<String>, alts: &[Vec<Shape>]) -> Fmt {
        let alts = alts.iter().map(|alt| alt.iter().map(|s| self.leaf_fmt(s)).collect());
        Fmt::Sum(names.into_iter().zip(alts).collect())
    }
}

/// The text of a format that takes no leaves.
fn text_of(fmt: &Fmt) -> String {
    adl_core::show::show(fmt, &[])
}

/// Whether functions inside have leaves, which do not print.
fn holds_captures(shape: &Shape) -> bool {
    match shape {
        Shape::Fun(_) => shape.n_leaves() > 0,
        Shape::Tuple(ss) | Shape::Struct(_, ss) => ss.iter().any(holds_captures),
        Shape::Enum(_, alts) | Shape::Tangent(_, alts) => alts.iter().flatten().any(holds_captures),
        Shape::Table(_, s) | Shape::Acc(s) => holds_captures(s),
        Shape::Scalar(_) | Shape::Index(_) | Shape::Raw(_) => false,
    }
}
