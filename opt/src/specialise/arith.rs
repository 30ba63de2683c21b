//! `+ - * / % ^`, negation and lifted scalar primitives, by the structure of their operands.

use adl_core::ir::{Atom, Expr, Method, TypeBody, Var};
use adl_core::prim::{self, Prim, PrimDef};
use adl_core::ty::{INT, Ix, Scalar, Ty, TyVar};
use adl_diag::Code;

use super::shape::{IxShape, Shape, TyVal, Val, unzip};
use super::{Result, Spec};

impl Spec<'_> {
    /// A row applied to scalars whose types fit.
    pub(crate) fn scalar_prim(&mut self, def: &'static PrimDef, args: &[Val]) -> Result<Val> {
        let atoms: Vec<Atom> = args.iter().map(|a| a.leaves[0].clone()).collect();
        Ok(Val::scalar(self.prim(def, &atoms)))
    }

    /// A binary operation on values of any structure.
    pub(crate) fn arith(&mut self, op: Method, a: &Val, b: &Val) -> Result<Val> {
        match (&a.shape, &b.shape) {
            (Shape::Tuple(x), _) if x.is_empty() => Ok(Val::unit()),
            (_, Shape::Tuple(y)) if y.is_empty() => Ok(Val::unit()),
            (Shape::Struct(id, _), _) | (_, Shape::Struct(id, _))
                if self.instance_method(*id, op).is_some() && self.meets_as_instance(*id, a, b) =>
            {
                let func = self.instance_method(*id, op).expect("just found");
                let (a, b) = (self.as_instance(a, b)?, self.as_instance(b, a)?);
                let f = self.operation(func, &a.shape)?;
                self.apply(&f, Val::tuple(vec![a, b]))
            }
            (Shape::Table(..), _) | (_, Shape::Table(..)) => {
                self.over_table(a, b, |s, x, y| s.arith(op, x, y))
            }
            (Shape::Tuple(_) | Shape::Struct(..), Shape::Tuple(_) | Shape::Struct(..)) => {
                let parts: Result<Vec<Val>> =
                    a.parts().iter().zip(b.parts()).map(|(x, y)| self.arith(op, x, &y)).collect();
                self.rebuild(&a.shape, parts?)
            }
            (Shape::Tuple(_) | Shape::Struct(..), _) => {
                let parts: Result<Vec<Val>> = a.parts().iter().map(|x| self.arith(op, x, b)).collect();
                self.rebuild(&a.shape, parts?)
            }
            (_, Shape::Tuple(_) | Shape::Struct(..)) => {
                let parts: Result<Vec<Val>> = b.parts().iter().map(|y| self.arith(op, a, y)).collect();
                self.rebuild(&b.shape, parts?)
            }
            (Shape::Tangent(..) | Shape::Raw(_), _) | (_, Shape::Tangent(..) | Shape::Raw(_)) => {
                self.tangent_arith(op, a, b)
            }
            (Shape::Rec(..), _) | (_, Shape::Rec(..)) => {
                self.error(Code::E0399, "this operation on recursive data is not supported yet", None)
            }
            _ => {
                let (x, y) = self.one_width(a, b, op)?;
                let def = row_of(op, x.ty().scalar().expect("scalars"), y.ty().scalar().expect("scalars"));
                let Some(def) = def else {
                    return self.error(Code::E0399, "this operation is not defined on these scalars", None);
                };
                Ok(Val::scalar(self.prim(def, &[x, y])))
            }
        }
    }

    pub(super) fn instance_method(
        &self,
        id: adl_core::ty::TypeId,
        op: Method,
    ) -> Option<adl_core::ir::FuncId> {
        let decl = self.s.source.types.get(id.0 as usize)?;
        decl.methods.iter().find(|(m, _)| *m == op).map(|(_, f)| *f)
    }

    /// An operation of an instance, for values of this shape: their parts say what its type parameters are.
    pub(crate) fn operation(&mut self, func: adl_core::ir::FuncId, of: &Shape) -> Result<Val> {
        let (Shape::Struct(id, _) | Shape::Enum(id, _)) = of else {
            panic!("instances are those of structs and enums")
        };
        let decl = self.s.source.types[id.0 as usize].clone();
        let mut found = vec![];
        match (of, &decl.body) {
            (Shape::Struct(_, parts), TypeBody::Struct(fields)) => {
                fields.iter().zip(parts).for_each(|((_, ty), part)| parameters(ty, part, &mut found));
            }
            (Shape::Enum(_, alts), TypeBody::Enum(ctors)) => {
                let payloads = ctors.iter().zip(alts).flat_map(|((_, tys), parts)| tys.iter().zip(parts));
                payloads.for_each(|(ty, part)| parameters(ty, part, &mut found));
            }
            _ => panic!("a shape of its declaration"),
        }
        let mut tys = vec![];
        for param in &decl.tparams {
            match found.iter().find(|(p, _)| p == param) {
                Some((_, val)) => tys.push(val.clone()),
                None => {
                    let message = format!("no part of `{}` says what `{}` is", decl.name, param.0.name);
                    return self.error(Code::E0399, message, None);
                }
            }
        }
        self.top_closure(func, tys)
    }

    /// Whether the operands are both values of the type, or one an Int that its instance makes one. Other numbers
    /// scale it, and tables go through.
    fn meets_as_instance(&self, id: adl_core::ty::TypeId, a: &Val, b: &Val) -> bool {
        [a, b].iter().all(|x| match &x.shape {
            Shape::Scalar(Scalar::Int) => self.instance_method(id, Method::Lit).is_some(),
            other => matches!(other, Shape::Struct(own, _) if *own == id),
        })
    }

    /// A number that meets a value of an instance type, as such a value.
    fn as_instance(&mut self, a: &Val, like: &Val) -> Result<Val> {
        if matches!(a.shape, Shape::Struct(..)) { Ok(a.clone()) } else { self.literal(a, &like.shape) }
    }

    /// The same structure around new parts.
    fn rebuild(&mut self, like: &Shape, parts: Vec<Val>) -> Result<Val> {
        let (shapes, leaves) = unzip(parts);
        let shape = match like {
            Shape::Struct(id, _) => Shape::Struct(*id, shapes),
            _ => Shape::Tuple(shapes),
        };
        Ok(Val { shape, leaves })
    }

    /// Elementwise over the outermost index set of whichever operand is a table.
    pub(crate) fn over_table(
        &mut self,
        a: &Val,
        b: &Val,
        op: impl FnOnce(&mut Self, &Val, &Val) -> Result<Val>,
    ) -> Result<Val> {
        self.map_tables(&[a.clone(), b.clone()], |s, xs| op(s, &xs[0], &xs[1]))
    }

    /// A `for` over the index set of the tables among the operands; the others are the same in each round.
    pub(crate) fn map_tables(
        &mut self,
        args: &[Val],
        each: impl FnOnce(&mut Self, &[Val]) -> Result<Val>,
    ) -> Result<Val> {
        let ix = args
            .iter()
            .find_map(|a| if let Shape::Table(ix, _) = &a.shape { Some(ix.clone()) } else { None });
        let ix = ix.expect("one operand is a table");
        let i = Var::named("i", INT);
        self.open_with(std::slice::from_ref(&i));
        let at = Atom::Var(i.clone());
        let parts: Vec<Val> = args
            .iter()
            .map(|a| match &a.shape {
                Shape::Table(_, elem) => {
                    let leaves =
                        a.leaves.iter().map(|l| self.index(l, std::slice::from_ref(&at), false)).collect();
                    Val { shape: (**elem).clone(), leaves }
                }
                _ => a.clone(),
            })
            .collect();
        let val = each(self, &parts)?;
        let body = self.close(val.leaves);
        let shape = Shape::Table(ix.clone(), Box::new(val.shape));
        let leaves = self.bind_all(shape.leaf_tys(), Expr::For { ix: Ix::Fin(ix.size()), var: i, body });
        Ok(Val { shape, leaves })
    }

    /// Sum or scaling of tangents of enums.
    fn tangent_arith(&mut self, op: Method, a: &Val, b: &Val) -> Result<Val> {
        match (op, &a.shape, &b.shape) {
            (Method::Add, Shape::Tangent(..) | Shape::Raw(_), _) => {
                let ty = a.leaves[0].ty();
                let sum = Expr::AddCt(a.leaves[0].clone(), b.leaves[0].clone());
                Ok(Val { shape: a.shape.clone(), leaves: vec![self.bind(ty, sum)] })
            }
            (Method::Sub, Shape::Tangent(..), _) => {
                let minus = self.map_payload(b, |s, x| s.neg(x))?;
                self.tangent_arith(Method::Add, a, &minus)
            }
            (Method::Mul | Method::Div, Shape::Tangent(..), Shape::Scalar(_)) => {
                self.map_payload(a, |s, x| s.arith(op, x, b))
            }
            (Method::Mul, Shape::Scalar(_), Shape::Tangent(..)) => {
                self.map_payload(b, |s, y| s.arith(op, a, y))
            }
            _ => self.error(Code::E0399, "this operation on tangents of enums is not supported yet", None),
        }
    }

    /// Applies a function that keeps layouts to each component of the payload of an enum or the tangent of one.
    pub(crate) fn map_payload(
        &mut self,
        t: &Val,
        mut f: impl FnMut(&mut Self, &Val) -> Result<Val>,
    ) -> Result<Val> {
        let (Shape::Enum(_, alts) | Shape::Tangent(_, alts)) = &t.shape else { panic!("an enum") };
        let mut branches = vec![];
        for (tag, alt) in alts.iter().enumerate() {
            let params: Vec<Var> = alt.iter().flat_map(Shape::leaf_tys).map(Var::new).collect();
            self.open_with(&params);
            let leaves: Vec<Atom> = params.iter().map(Atom::from).collect();
            let mut out = vec![];
            for part in Val::split(alt, &leaves) {
                out.extend(f(self, &part)?.leaves);
            }
            let made = self.inject(&t.shape, tag, out);
            branches.push(self.suspend(params, Val { shape: t.shape.clone(), leaves: vec![made] }));
        }
        self.case_of(t.leaves[0].clone(), branches)
    }

    /// Both scalars in one type: an Int literal that meets a float is a float, and a Float that scales an
    /// F32 is rounded.
    fn one_width(&mut self, a: &Val, b: &Val, op: Method) -> Result<(Atom, Atom)> {
        let (x, y) = (a.leaves[0].clone(), b.leaves[0].clone());
        if op == Method::PowInt {
            return Ok((x, y));
        }
        let kind = |a: &Atom| a.ty().scalar();
        Ok(match (kind(&x), kind(&y)) {
            (Some(Scalar::Int), Some(s)) if s.is_float() => (self.float_of(x, s), y),
            (Some(s), Some(Scalar::Int)) if s.is_float() => (x, self.float_of(y, s)),
            (Some(Scalar::F64), Some(Scalar::F32)) => (self.prim(&prim::NARROW, &[x]), y),
            (Some(Scalar::F32), Some(Scalar::F64)) => (x, self.prim(&prim::NARROW, &[y])),
            _ => (x, y),
        })
    }

    pub(crate) fn float_of(&mut self, a: Atom, s: Scalar) -> Atom {
        self.prim(if s == Scalar::F32 { &prim::TO_F32 } else { &prim::TO_F64 }, &[a])
    }

    /// `-a`, through structures.
    pub(crate) fn neg(&mut self, a: &Val) -> Result<Val> {
        match &a.shape {
            Shape::Scalar(_) | Shape::Index(_) => {
                Ok(Val::scalar(self.prim(&prim::NEG, &[a.leaves[0].clone()])))
            }
            Shape::Table(..) => self.map_tables(std::slice::from_ref(a), |s, xs| s.neg(&xs[0])),
            Shape::Struct(id, _) if self.instance_method(*id, Method::Neg).is_some() => {
                let func = self.instance_method(*id, Method::Neg).expect("just found");
                let f = self.operation(func, &a.shape)?;
                self.apply(&f, a.clone())
            }
            Shape::Tuple(_) | Shape::Struct(..) => {
                let parts: Result<Vec<Val>> = a.parts().iter().map(|x| self.neg(x)).collect();
                self.rebuild(&a.shape, parts?)
            }
            Shape::Tangent(..) => self.map_payload(a, |s, x| s.neg(x)),
            Shape::Enum(..)
            | Shape::Fun(_)
            | Shape::Arrow(_)
            | Shape::Acc(_)
            | Shape::Rec(..)
            | Shape::Packed(_)
            | Shape::Raw(_) => self.error(Code::E0399, "negation is not defined on this value", None),
        }
    }

    /// A scalar primitive lifted over the tables among its operands.
    pub(crate) fn lift(&mut self, p: Prim, args: &[Val]) -> Result<Val> {
        if args.iter().any(|a| matches!(a.shape, Shape::Table(..))) {
            return self.map_tables(args, |s, xs| s.lift(p, xs));
        }
        let mut atoms: Vec<Atom> = args.iter().map(|a| a.leaves[0].clone()).collect();
        let float = atoms.iter().filter_map(|a| a.ty().scalar()).find(|s| s.is_float());
        if let Some(s) = float
            && p.0.arity() > 1
            && !matches!(p.0.sig, prim::Sig::FloatInt | prim::Sig::Fixed(..))
        {
            for a in &mut atoms {
                if a.ty() == INT {
                    *a = self.float_of(a.clone(), s);
                }
            }
        }
        let scalars: Vec<Scalar> = atoms.iter().map(|a| a.ty().scalar().expect("scalars")).collect();
        match fitting(p, &scalars) {
            Some(Fit::Row(def)) => Ok(Val::scalar(self.prim(def, &atoms))),
            Some(Fit::Same) => Ok(args[0].clone()),
            None => self.error(Code::E0399, format!("`{}` is not defined on these scalars", p.0.name), None),
        }
    }
}

/// The row of an operation for these scalar types.
fn row_of(op: Method, x: Scalar, y: Scalar) -> Option<&'static PrimDef> {
    let int = x == Scalar::Int;
    let number = int || x.is_float();
    match op {
        Method::Add if number => Some(&prim::ADD),
        Method::Sub if number => Some(&prim::SUB),
        Method::Mul if number => Some(&prim::MUL),
        Method::Div if x.is_float() => Some(&prim::DIV),
        Method::Rem if int => Some(&prim::INT_MOD),
        Method::Rem if x.is_float() => Some(&prim::REM),
        Method::Pow if x.is_float() => Some(&prim::POW),
        Method::PowInt if int && y == Scalar::Int => Some(&prim::INT_POW),
        Method::PowInt if x.is_float() && y == Scalar::Int => Some(&prim::POWI),
        _ => None,
    }
}

/// How a row serves operands of these types.
enum Fit {
    /// By this row.
    Row(&'static PrimDef),
    /// The operand already is the result.
    Same,
}

/// The row of the family of `p` that takes these types: Int forms of float rows, and conversions.
fn fitting(p: Prim, scalars: &[Scalar]) -> Option<Fit> {
    if p.0.result(scalars).is_some() {
        return Some(Fit::Row(p.0));
    }
    let is = |d: &'static PrimDef| std::ptr::eq(p.0, d);
    let first = scalars[0];
    let other: &'static PrimDef = if is(&prim::ABS) {
        &prim::INT_ABS
    } else if is(&prim::SIGN) {
        &prim::INT_SIGN
    } else if is(&prim::MIN) {
        &prim::INT_MIN
    } else if is(&prim::MAX) {
        &prim::INT_MAX
    } else if is(&prim::INT_ABS) {
        &prim::ABS
    } else if is(&prim::INT_MIN) {
        &prim::MIN
    } else if is(&prim::INT_MAX) {
        &prim::MAX
    } else if is(&prim::INT_SIGN) {
        &prim::SIGN
    } else if is(&prim::TO_F64) || is(&prim::WIDEN) {
        match first {
            Scalar::F64 => return Some(Fit::Same),
            Scalar::F32 => &prim::WIDEN,
            Scalar::Int | Scalar::Bool | Scalar::Str | Scalar::Key => &prim::TO_F64,
        }
    } else if is(&prim::TO_F32) || is(&prim::NARROW) {
        match first {
            Scalar::F32 => return Some(Fit::Same),
            Scalar::F64 => &prim::NARROW,
            Scalar::Int | Scalar::Bool | Scalar::Str | Scalar::Key => &prim::TO_F32,
        }
    } else if (is(&prim::TO_INT) || is(&prim::INT_COPY)) && first == Scalar::Int {
        return Some(Fit::Same);
    } else if is(&prim::INT_COPY) {
        &prim::TO_INT
    } else if is(&prim::STOP) {
        return Some(Fit::Same);
    } else {
        return None;
    };
    other.result(scalars).map(|_| Fit::Row(other))
}

/// What the type parameters in a type stand for, where values of it have this shape.
fn parameters(ty: &Ty, shape: &Shape, found: &mut Vec<(TyVar, TyVal)>) {
    match (ty, shape) {
        (Ty::Var(p), _) => found.push((p.clone(), TyVal::Ty(shape.clone()))),
        (Ty::Table(ix, elem), Shape::Table(set, inner)) => {
            index_parameters(ix, set, found);
            parameters(elem, inner, found);
        }
        (Ty::Tuple(ts), Shape::Tuple(ss)) => {
            ts.iter().zip(ss).for_each(|(t, s)| parameters(t, s, found));
        }
        _ => {}
    }
}

fn index_parameters(ix: &Ix, set: &IxShape, found: &mut Vec<(TyVar, TyVal)>) {
    match (ix, set) {
        (Ix::Var(p), _) => found.push((p.clone(), TyVal::Ix(set.clone()))),
        (Ix::Tuple(xs), IxShape::Tuple(sets, _)) => {
            xs.iter().zip(sets).for_each(|(x, s)| index_parameters(x, s, found));
        }
        _ => {}
    }
}
