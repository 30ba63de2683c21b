//! Built-in functions in Core.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use adl_core::{
    ir::{Atom, Effect, Expr, Keep, Lit, LoopKind, Method, Var},
    prim::{self, PrimDef},
    ty::{INT, KEY, STR, Scalar, Ty as CoreTy},
};

use super::{Ctx, expr::Arg};
use crate::{
    builtins::{Op, TABLE, lifted},
    data::Body,
    tree::Tx,
    types::{Class, Con, Ty, tuple},
};

const UNIT: Atom = Atom::Lit(Lit::Unit);

impl Ctx<'_> {
    /// A built-in that is not called.
    pub(crate) fn builtin_value(&mut self, k: usize, e: &Tx) -> Atom {
        match TABLE[k].op {
            Op::Const(x) => Atom::f64(x),
            Op::Method(method @ (Method::Zero | Method::One)) => self.method(method, &e.ty, vec![]),
            _ => self.eta(&e.ty, e),
        }
    }

    /// A call of a built-in.
    #[expect(clippy::too_many_lines, reason = "one arm a built-in")]
    pub(crate) fn builtin_call(&mut self, k: usize, f: &Ty, arg: &Arg, result: &Ty) -> Atom {
        match TABLE[k].op {
            Op::Method(method @ (Method::Zero | Method::One)) => {
                self.constant_applied(method, f, arg, result)
            }
            Op::Method(method) => {
                let count = match method {
                    Method::Dot | Method::Concat | Method::Move | Method::Before => 2,
                    Method::Lift(row) => row.0.arity(),
                    Method::Bulk(row) => row.0.ints + row.0.tables.len(),
                    _ => 1,
                };
                let args = self.parts(arg, count);
                self.method(method, result, args)
            }
            Op::Lift(def) => {
                let args = self.parts(arg, 1);
                self.method(lifted(def), result, args)
            }
            Op::LiftNum(float, int) => {
                let args = self.parts(arg, 1);
                let def = if self.leaf(result) == Some(Scalar::Int) { int } else { float };
                self.method(lifted(def), result, args)
            }
            Op::Prim(def) => self.primitive(def, arg, result),
            Op::Const(x) => Atom::f64(x),
            Op::Deriv(kind) => {
                let f = self.whole(arg);
                let ty = self.ty(result);
                self.bind(ty, Expr::Deriv { kind, f })
            }
            Op::Convert(_) => {
                let types = self.part_types(arg, 1);
                let value = self.whole(arg);
                self.convert(value, &types[0], result)
            }
            Op::Pairwise(float, int) => {
                let types = self.part_types(arg, 2);
                let args = self.parts(arg, 2);
                let args: Vec<Atom> =
                    args.into_iter().zip(&types).map(|(a, t)| self.ordinal_if_index(a, t)).collect();
                let def = match int {
                    Some(int) if self.leaf(result) == Some(Scalar::Int) => int,
                    Some(_) | None => float,
                };
                self.method(lifted(def), result, args)
            }
            Op::Size => UNIT,
            Op::Split => {
                let key = self.whole(arg);
                let left = self.prim(&prim::SPLIT_LEFT, KEY, vec![key.clone()]);
                let right = self.prim(&prim::SPLIT_RIGHT, KEY, vec![key]);
                self.bind(CoreTy::Tuple(vec![KEY, KEY]), Expr::Tuple(vec![left, right]))
            }
            Op::IndexKey => {
                let types = self.part_types(arg, 2);
                let args = self.parts(arg, 2);
                let ordinal = if self.c.is_int(&types[1]) {
                    args[1].clone()
                } else {
                    self.ordinal(args[1].clone(), &types[1])
                };
                self.prim(&prim::FOLD_IN, KEY, vec![args[0].clone(), ordinal])
            }
            Op::Trace => {
                let args = self.parts(arg, 2);
                let shown = self
                    .bind(STR, Expr::Method { method: Method::Show, ty: STR, args: vec![args[1].clone()] });
                let colon = Atom::Lit(Lit::Str(": ".into()));
                let label = self.prim(&prim::STR_CAT, STR, vec![args[0].clone(), colon]);
                let line = self.prim(&prim::STR_CAT, STR, vec![label, shown]);
                self.run(Expr::Effect(Effect::Trace(line)));
                args[1].clone()
            }
            Op::Error => {
                let message = self.whole(arg);
                let ty = self.ty(result);
                self.bind(ty, Expr::Effect(Effect::Error(message)))
            }
            Op::Assert => {
                let args = self.parts(arg, 2);
                self.run(Expr::Effect(Effect::Assert { cond: args[0].clone(), msg: args[1].clone() }));
                UNIT
            }
            Op::LoadNpy => self.load_closed(arg, result),
            Op::Scan => self.scan(arg, result),
        }
    }

    /// `zero(x)`: the zero of a function type, applied.
    fn constant_applied(&mut self, method: Method, f: &Ty, arg: &Arg, result: &Ty) -> Atom {
        let f = self.method(method, f, vec![]);
        let arg = self.whole(arg);
        let ty = self.ty(result);
        self.bind(ty, Expr::Apply { f, tys: vec![], arg })
    }

    fn primitive(&mut self, def: &'static PrimDef, arg: &Arg, result: &Ty) -> Atom {
        let args = self.parts(arg, def.arity());
        let ty = self.ty(result);
        let known = args.iter().all(|a| a.ty().scalar().is_some());
        if matches!(ty, CoreTy::Scalar(_)) && known {
            return self.prim(def, ty, args);
        }
        self.method(lifted(def), result, args)
    }

    /// The scalar that a table is made of, where it is known.
    fn leaf(&mut self, t: &Ty) -> Option<Scalar> {
        match self.c.arena.head(t) {
            Ty::Con(Con::Table, args) => self.leaf(&args[1]),
            other => self.ty(&other).scalar(),
        }
    }

    /// `float int f32 f64`.
    fn convert(&mut self, value: Atom, from: &Ty, to: &Ty) -> Atom {
        if self.is_index(from) || self.is_index_value(from) {
            let ordinal = self.ordinal(value, from);
            return self.convert(ordinal, &crate::types::int(), to);
        }
        let (Some(a), Some(b)) = (self.leaf(from), self.leaf(to)) else {
            // One of the floats; which one is known when the function is called.
            let def: &'static PrimDef = match self.leaf(to) {
                Some(Scalar::F64) => &prim::WIDEN,
                Some(Scalar::F32) => &prim::NARROW,
                Some(Scalar::Int) => &prim::TO_INT,
                _ => return value,
            };
            return self.method(lifted(def), to, vec![value]);
        };
        let def: &'static PrimDef = match (a, b) {
            (Scalar::Int | Scalar::Bool, Scalar::F64) => &prim::TO_F64,
            (Scalar::Int | Scalar::Bool, Scalar::F32) => &prim::TO_F32,
            (Scalar::F32, Scalar::F64) => &prim::WIDEN,
            (Scalar::F64, Scalar::F32) => &prim::NARROW,
            (Scalar::F64 | Scalar::F32 | Scalar::Bool, Scalar::Int) => &prim::TO_INT,
            _ => return value,
        };
        self.method(lifted(def), to, vec![value])
    }

    /// Indices whose type is no number: enums and tuples.
    fn is_index_value(&self, t: &Ty) -> bool {
        matches!(self.c.arena.head(t), Ty::Con(Con::Data(_) | Con::Tuple, _))
    }

    /// `load_npy` whose pack is not opened at once.
    fn load_closed(&mut self, arg: &Arg, result: &Ty) -> Atom {
        let path = self.whole(arg);
        let expr = self.load(path, result);
        let Ty::Exists(pack) = self.c.arena.head(result) else { return UNIT };
        let sizes: Vec<Var> = pack.vars.iter().map(|_| Var::named("n", INT)).collect();
        for (v, var) in pack.vars.iter().zip(&sizes) {
            self.name_size(*v, var.clone());
        }
        let item_ty = self.ty(&pack.body);
        let item = Var::new(item_ty);
        let vars = sizes.iter().cloned().chain([item.clone()]).collect();
        self.stmts.push(adl_core::ir::Stmt { vars, expr, span: self.span, dies: vec![] });
        let parts: Vec<Atom> = sizes.iter().chain([&item]).map(Atom::from).collect();
        let core = self.ty(result);
        self.bind(core, Expr::Tuple(parts))
    }

    /// Whether a value of the type can start as zero.
    fn has_zero(&self, t: &Ty) -> bool {
        match self.c.arena.head(t) {
            Ty::Var(v) => self.c.arena.has(v, Class::Add),
            Ty::Con(con, args) => match con {
                Con::Float | Con::F32 | Con::Int | Con::Tangent => true,
                Con::Tuple => args.iter().all(|a| self.has_zero(a)),
                Con::Table => self.has_zero(&args[1]),
                Con::Data(_) => match self.c.arena.payloads(&Ty::Con(con, args)) {
                    Body::Struct(fields) => fields.iter().all(|(_, t)| self.has_zero(t)),
                    Body::Enum(_) => false,
                },
                Con::Bool | Con::Str | Con::Key | Con::Fun | Con::Lin => false,
            },
            Ty::Fin(_) | Ty::Exists(_) | Ty::Error => false,
        }
    }

    /// A table of the right type to write into, for elements without a zero: what each round would give first.
    fn first_rounds(&mut self, args: &[Atom], carry: &Ty, set: &Ty, elem: &Ty) -> Atom {
        let ix = self.ix(set);
        let index_ty = self.ty(set);
        let var = Var::named("i", index_ty);
        let (pair_ty, out_ty) =
            (tuple(vec![carry.clone(), set.clone()]), tuple(vec![carry.clone(), elem.clone()]));
        let body = self.block(|this| {
            let [pair_ty, out_ty, elem] = [&pair_ty, &out_ty, elem].map(|t| this.ty(t));
            let pair = this.bind(pair_ty, Expr::Tuple(vec![args[0].clone(), Atom::Var(var.clone())]));
            let out = this.bind(out_ty, Expr::Apply { f: args[1].clone(), tys: vec![], arg: pair });
            this.bind(elem, Expr::Proj(out, 1))
        });
        let ty = self.ty(&crate::types::table(set.clone(), elem.clone()));
        self.bind(ty, Expr::For { ix, var, body })
    }

    /// `scan(x0, f)`: a loop that writes what each round gives into a table.
    fn scan(&mut self, arg: &Arg, result: &Ty) -> Atom {
        let args = self.parts(arg, 2);
        let Ty::Con(Con::Tuple, parts) = self.c.arena.head(result) else { return UNIT };
        let Ty::Con(Con::Table, sides) = self.c.arena.head(&parts[1]) else { return UNIT };
        let (carry, set, elem) = (parts[0].clone(), sides[0].clone(), sides[1].clone());
        let (core, table) = (self.ty(result), self.ty(&parts[1]));
        let empty = if self.has_zero(&elem) {
            self.bind(table.clone(), Expr::Zero(table.clone()))
        } else {
            self.first_rounds(&args, &carry, &set, &elem)
        };
        let init = self.bind(core.clone(), Expr::Tuple(vec![args[0].clone(), empty]));
        let state = Var::new(core.clone());
        let index_ty = self.ty(&set);
        let var = Var::named("i", index_ty);
        let ix = self.ix(&set);
        let step_arg = tuple(vec![carry.clone(), set]);
        let step_result = tuple(vec![carry.clone(), elem.clone()]);
        let body = self.block(|this| {
            let [carry, elem, step_arg, step_result] =
                [&carry, &elem, &step_arg, &step_result].map(|t| this.ty(t));
            let whole = Atom::Var(state.clone());
            let old = this.bind(carry.clone(), Expr::Proj(whole.clone(), 0));
            let ys = this.bind(table.clone(), Expr::Proj(whole, 1));
            let pair = this.bind(step_arg, Expr::Tuple(vec![old, Atom::Var(var.clone())]));
            let out = this.bind(step_result, Expr::Apply { f: args[1].clone(), tys: vec![], arg: pair });
            let new = this.bind(carry, Expr::Proj(out.clone(), 0));
            let y = this.bind(elem, Expr::Proj(out, 1));
            let index = vec![Atom::Var(var.clone())];
            let ys = this.bind(table, Expr::Update { table: ys, index, value: y, check: false });
            this.bind(core.clone(), Expr::Tuple(vec![new, ys]))
        });
        let kind = LoopKind::For { ix, var, reverse: false };
        let ty = self.ty(result);
        self.bind(ty, Expr::Loop { kind, state: vec![state], init: vec![init], body, keep: Keep::All })
    }
}
