//! The forms of higher-order Core.

use std::sync::Arc;

use adl_diag::Span;

use super::{Parser, Result};
use crate::ir::{Expr, Lambda, Method, Var};
use crate::prim;
use crate::print::{deriv_of, method_of};
use crate::ty::TyVar;

impl Parser<'_> {
    /// The form that the word `t`, just read, begins.
    pub(super) fn higher(&mut self, t: &str) -> Result<Expr> {
        Ok(match t {
            "tuple" => Expr::Tuple(self.atoms_in("(", ")")?),
            "record" => Expr::Record { ty: self.ty()?, fields: self.atoms_in("(", ")")? },
            "proj" => {
                let k = self.int()?;
                Expr::Proj(self.atom()?, k)
            }
            "\\" => self.lambda(vec![])?,
            "apply" => {
                let f = self.atom()?;
                Expr::Apply { f, tys: self.ty_args()?, arg: self.one_in_parens()? }
            }
            "fnref" => Expr::FuncRef { func: self.func_name()?, tys: self.ty_args()? },
            "method" => {
                let method = self.method()?;
                let ty = self.typed_suffix()?;
                Expr::Method { method, ty, args: self.atoms_in("(", ")")? }
            }
            "size" => Expr::SizeOf(self.ix()?),
            "sizeval" => Expr::SizeVal(self.poly()?),
            "deriv" => {
                let name = self.next()?;
                let Some(kind) = deriv_of(name) else {
                    return self.fail(format!("`{name}` is no derivative operator"));
                };
                Expr::Deriv { kind, f: self.atom()? }
            }
            _ => {
                self.at -= 1;
                return self.fail(format!("`{t}` is no form of Core"));
            }
        })
    }

    /// After `\`.
    fn lambda(&mut self, tparams: Vec<TyVar>) -> Result<Expr> {
        self.word("(")?;
        let param = self.binder()?;
        self.word(")")?;
        Ok(Expr::Lambda(Arc::new(Lambda { tparams, param, body: self.block()?, span: Span::default() })))
    }

    /// `%0[a'0: Type]: TYPE = \(…) { … }`.
    pub(super) fn polymorphic(&mut self) -> Result<(Var, Expr)> {
        let name = self.next()?;
        let tparams = self.ty_params()?;
        let ty = self.typed_suffix()?;
        self.word("=")?;
        self.word("\\")?;
        let lambda = self.lambda(tparams)?;
        Ok((self.bind(name, Var::new(ty))?, lambda))
    }

    /// `Add`, `Lift(sin)`.
    pub(super) fn method(&mut self) -> Result<Method> {
        let name = self.next()?;
        if name == "Bulk" {
            self.word("(")?;
            let row = self.bulk_row()?;
            self.word(")")?;
            return Ok(Method::Bulk(row));
        }
        if name != "Lift" {
            return match method_of(name) {
                Some(method) => Ok(method),
                None => self.fail(format!("`{name}` is no method")),
            };
        }
        self.word("(")?;
        let name = self.next()?;
        let Some(prim) = prim::by_name(name) else { return self.fail(format!("`{name}` is no primitive")) };
        self.word(")")?;
        Ok(Method::Lift(prim))
    }
}
