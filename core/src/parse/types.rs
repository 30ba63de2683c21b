//! Types, index sets, sizes and type parameters in Core text.

use std::sync::Arc;

use super::{Parser, Result};
use crate::ir::Var;
use crate::print::plain_ty_var;
use crate::ty::{BoxTy, INT, Ix, Kind, Mono, PackTy, Poly, Scalar, SizeAtom, Ty, TyArg, TyVar};

impl Parser<'_> {
    pub(super) fn scalar(name: &str) -> Option<Scalar> {
        Some(match name {
            "F64" => Scalar::F64,
            "F32" => Scalar::F32,
            "Int" => Scalar::Int,
            "Bool" => Scalar::Bool,
            "Str" => Scalar::Str,
            "Key" => Scalar::Key,
            _ => return None,
        })
    }

    pub(super) fn ty(&mut self) -> Result<Ty> {
        self.deeper(Self::ty_inner)
    }

    /// The kind of cells behind `Box#` or `box#`.
    pub(super) fn cell(&self, text: &str) -> Result<BoxTy> {
        let plain = text.trim_end_matches('\'');
        let order = u8::try_from(text.len() - plain.len());
        let number = plain.strip_suffix(".plain");
        match (number.unwrap_or(plain).parse(), order) {
            (Ok(id), Ok(order)) => Ok(BoxTy { id, order, has_floats: number.is_none() }),
            (Ok(_) | Err(_), _) => self.fail("a box needs a number"),
        }
    }

    fn ty_inner(&mut self) -> Result<Ty> {
        let t = self.next()?;
        if let Some(id) = self.types.get(t).copied() {
            return Ok(Ty::Named(id, self.ty_args()?));
        }
        if let Some(v) = self.ty_vars.get(t) {
            return Ok(Ty::Var(v.clone()));
        }
        if let Some(s) = Self::scalar(t) {
            return Ok(Ty::Scalar(s));
        }
        if let Some(id) = t.strip_prefix("Box#") {
            return Ok(Ty::Box(self.cell(id)?));
        }
        Ok(match t {
            "[" => {
                let ix = self.ix()?;
                self.word("]")?;
                Ty::Table(ix, Box::new(self.ty()?))
            }
            "<" => self.sum()?,
            "(" => self.tuple_or_arrow()?,
            "Acc" => Ty::Acc(Box::new(self.ty_in_parens()?)),
            "T" => Ty::Tangent(Box::new(self.ty_in_parens()?)),
            "Index" => {
                self.word("(")?;
                let ix = self.ix()?;
                self.word(")")?;
                Ty::Index(ix)
            }
            "exists" => Ty::Pack(self.pack_ty()?),
            _ => {
                self.at -= 1;
                return self.fail(format!("`{t}` is no type"));
            }
        })
    }

    pub(super) fn ty_in_parens(&mut self) -> Result<Ty> {
        self.word("(")?;
        let t = self.ty()?;
        self.word(")")?;
        Ok(t)
    }

    /// After `<`.
    fn sum(&mut self) -> Result<Ty> {
        let mut alts = vec![];
        loop {
            let mut alt = vec![];
            while !["|", ">"].contains(&self.peek()) {
                if !alt.is_empty() {
                    self.word(",")?;
                }
                alt.push(self.ty()?);
            }
            alts.push(alt);
            if self.next()? == ">" {
                return Ok(Ty::Sum(alts));
            }
        }
    }

    /// After `(`.
    fn tuple_or_arrow(&mut self) -> Result<Ty> {
        if self.is(")") {
            return Ok(Ty::Tuple(vec![]));
        }
        let first = self.ty()?;
        let arrow = self.peek();
        if arrow == "->" || arrow == "-o" {
            self.at += 1;
            let (a, b) = (Box::new(first), Box::new(self.ty()?));
            self.word(")")?;
            return Ok(if arrow == "->" { Ty::Fn(a, b) } else { Ty::Lin(a, b) });
        }
        let mut parts = vec![first];
        while self.is(",") {
            parts.push(self.ty()?);
        }
        self.word(")")?;
        Ok(Ty::Tuple(parts))
    }

    /// After `exists`.
    pub(super) fn pack_ty(&mut self) -> Result<Arc<PackTy>> {
        let mut sizes = vec![];
        let mut shadowed = vec![];
        while !self.is(".") {
            if !sizes.is_empty() {
                self.word(",")?;
            }
            let name = self.next()?;
            let v = Var::new(INT);
            shadowed.push((name, self.vars.insert(name, v.clone())));
            sizes.push(v);
        }
        self.word("(")?;
        let items = self.list(")", Self::ty)?;
        for (name, old) in shadowed {
            match old {
                Some(old) => self.vars.insert(name, old),
                None => self.vars.remove(name),
            };
        }
        Ok(Arc::new(PackTy { sizes, items }))
    }

    pub(super) fn ix(&mut self) -> Result<Ix> {
        self.deeper(|p| {
            let t = p.peek();
            if let Some(id) = p.types.get(t).copied() {
                p.at += 1;
                return Ok(Ix::Enum(id));
            }
            if let Some(v) = p.ty_vars.get(t).cloned() {
                p.at += 1;
                return Ok(Ix::Var(v));
            }
            if p.is("Bool") {
                return Ok(Ix::Bool);
            }
            if p.is("Fin") {
                p.word("(")?;
                let poly = p.poly()?;
                p.word(")")?;
                return Ok(Ix::Poly(poly));
            }
            if p.is("(") {
                let parts = p.list(")", Self::ix)?;
                return Ok(if parts.is_empty() { Ix::Unit } else { Ix::Tuple(parts) });
            }
            Ok(Ix::Fin(p.atom()?))
        })
    }

    /// `2*%3 + -1*n'0*%3 + 5`.
    pub(super) fn poly(&mut self) -> Result<Poly> {
        let mut monos = vec![];
        loop {
            let mut mono = Mono { coef: self.int()?, atoms: vec![] };
            while self.is("*") {
                let atom = match self.ty_vars.get(self.peek()).cloned() {
                    Some(v) => {
                        self.at += 1;
                        SizeAtom::Param(v)
                    }
                    None => SizeAtom::Var(self.used()?),
                };
                mono.atoms.push(atom);
            }
            monos.push(mono);
            if !self.is("+") {
                let zero = monos.len() == 1 && monos[0].coef == 0 && monos[0].atoms.is_empty();
                return Ok(Poly(if zero { vec![] } else { monos }));
            }
        }
    }

    /// `[F64, ix Bool, size 3]`, or nothing.
    pub(super) fn ty_args(&mut self) -> Result<Vec<TyArg>> {
        if !self.is("[") {
            return Ok(vec![]);
        }
        self.list("]", |p| {
            Ok(if p.is("ix") {
                TyArg::Ix(p.ix()?)
            } else if p.is("size") {
                TyArg::Size(p.poly()?)
            } else {
                TyArg::Ty(p.ty()?)
            })
        })
    }

    /// `[a'0: Type, n'1: Size]`, or nothing.
    pub(super) fn ty_params(&mut self) -> Result<Vec<TyVar>> {
        if !self.is("[") {
            return Ok(vec![]);
        }
        self.list("]", |p| {
            let name = p.next()?;
            let Some(plain) = plain_ty_var(name) else { return p.fail("expected a type parameter") };
            p.word(":")?;
            let kind = match p.next()? {
                "Type" => Kind::Type,
                "Ix" => Kind::Ix,
                "Size" => Kind::Size,
                _ => return p.fail("expected `Type`, `Ix` or `Size`"),
            };
            let v = TyVar::new(plain, kind);
            if p.ty_vars.insert(name, v.clone()).is_some() {
                return p.fail(format!("`{name}` is bound twice"));
            }
            Ok(v)
        })
    }
}
