//! Types, index sets, sizes and declarations in Core text.

use std::fmt::Write as _;

use super::{Printer, scalar_name};
use crate::ir::{TypeBody, TypeDecl};
use crate::ty::{BoxTy, Ix, Kind, Poly, SizeAtom, Ty, TyArg, TyVar};

impl Printer<'_> {
    pub(super) fn ix(&mut self, ix: &Ix) {
        match ix {
            Ix::Fin(a) => self.atom(a),
            Ix::Poly(p) => {
                self.push("Fin(");
                self.poly(p);
                self.push(")");
            }
            Ix::Unit => self.push("()"),
            Ix::Bool => self.push("Bool"),
            Ix::Enum(id) => self.type_name(id.0),
            Ix::Tuple(xs) => {
                self.push("(");
                self.list(xs, Self::ix);
                self.push(")");
            }
            Ix::Var(v) => self.ty_var(v),
        }
    }

    pub(super) fn poly(&mut self, p: &Poly) {
        if p.0.is_empty() {
            self.push("0");
        }
        for (k, m) in p.0.iter().enumerate() {
            if k > 0 {
                self.push(" + ");
            }
            let _ = write!(self.out, "{}", m.coef);
            for a in &m.atoms {
                self.push("*");
                match a {
                    SizeAtom::Var(v) => self.var(v),
                    SizeAtom::Param(t) => self.ty_var(t),
                }
            }
        }
    }

    fn type_name(&mut self, id: u32) {
        match self.names.types.get(id as usize) {
            Some(name) => self.out.push_str(name),
            None => {
                let _ = write!(self.out, "type#{id}");
            }
        }
    }

    pub(super) fn ty(&mut self, ty: &Ty) {
        match ty {
            Ty::Scalar(s) => self.push(scalar_name(*s)),
            Ty::Table(ix, elem) => {
                self.push("[");
                self.ix(ix);
                self.push("]");
                self.ty(elem);
            }
            Ty::Sum(alts) => {
                self.push("<");
                for (k, alt) in alts.iter().enumerate() {
                    if k > 0 {
                        self.push(" | ");
                    }
                    self.list(alt, Self::ty);
                }
                self.push(">");
            }
            Ty::Pack(p) => {
                self.push("exists ");
                self.list(&p.sizes, |w, v| w.var(v));
                self.push(". (");
                self.list(&p.items, Self::ty);
                self.push(")");
                // The sizes are names inside the type only.
                for v in &p.sizes {
                    self.vars.remove(v);
                }
            }
            Ty::Box(cell) => {
                self.push("Box#");
                self.cell(*cell);
            }
            Ty::Acc(t) => self.wrapped("Acc", t),
            Ty::Tangent(t) => self.wrapped("T", t),
            Ty::Index(ix) => {
                self.push("Index(");
                self.ix(ix);
                self.push(")");
            }
            Ty::Tuple(ts) => {
                self.push("(");
                self.list(ts, Self::ty);
                self.push(")");
            }
            Ty::Named(id, args) => {
                self.type_name(id.0);
                self.ty_args(args);
            }
            Ty::Fn(a, b) => self.arrow(a, " -> ", b),
            Ty::Lin(a, b) => self.arrow(a, " -o ", b),
            Ty::Var(v) => self.ty_var(v),
        }
    }

    pub(super) fn wrapped(&mut self, head: &str, t: &Ty) {
        self.push(head);
        self.push("(");
        self.ty(t);
        self.push(")");
    }

    fn arrow(&mut self, a: &Ty, arrow: &str, b: &Ty) {
        self.push("(");
        self.ty(a);
        self.push(arrow);
        self.ty(b);
        self.push(")");
    }

    pub(super) fn ty_args(&mut self, args: &[TyArg]) {
        if args.is_empty() {
            return;
        }
        self.push("[");
        self.list(args, |w, a| match a {
            TyArg::Ty(t) => w.ty(t),
            TyArg::Ix(ix) => {
                w.push("ix ");
                w.ix(ix);
            }
            TyArg::Size(p) => {
                w.push("size ");
                w.poly(p);
            }
        });
        self.push("]");
    }

    /// A kind of cells, behind `Box#` or `box#`.
    pub(super) fn cell(&mut self, cell: BoxTy) {
        let plain = if cell.has_floats { "" } else { ".plain" };
        let _ = write!(self.out, "{}{plain}{}", cell.id, "'".repeat(cell.order.into()));
    }

    /// A type parameter: its name, and a number that tells it apart.
    fn ty_var(&mut self, t: &TyVar) {
        let next = self.ty_vars.len();
        let k = *self.ty_vars.entry(t.clone()).or_insert(next);
        let _ = write!(self.out, "{}'{k}", t.0.name);
    }

    /// `[a'0: Type, n'1: Size]`, or nothing.
    pub(super) fn ty_params(&mut self, params: &[TyVar]) {
        if params.is_empty() {
            return;
        }
        self.push("[");
        self.list(params, |w, t| {
            w.ty_var(t);
            w.push(match t.0.kind {
                Kind::Type => ": Type",
                Kind::Ix => ": Ix",
                Kind::Size => ": Size",
            });
        });
        self.push("]");
    }

    /// A struct or enum with the functions of its instances.
    pub(super) fn declaration(&mut self, id: u32, decl: &TypeDecl) {
        self.push(match decl.body {
            TypeBody::Struct(_) => "struct ",
            TypeBody::Enum(_) => "enum ",
        });
        self.type_name(id);
        self.ty_params(&decl.tparams);
        self.push(" { ");
        match &decl.body {
            TypeBody::Struct(fields) => self.list(fields, |w, (name, ty)| {
                w.push(name);
                w.push(": ");
                w.ty(ty);
            }),
            TypeBody::Enum(ctors) => self.list(ctors, |w, (name, tys)| {
                w.push(name);
                w.push("(");
                w.list(tys, Self::ty);
                w.push(")");
            }),
        }
        self.push(" }");
        for (k, (method, func)) in decl.methods.iter().enumerate() {
            self.push(if k == 0 { " with " } else { ", " });
            self.method(*method);
            self.push(" = ");
            self.func_name(func.0);
        }
        self.push("\n");
    }
}
