//! Expressions in Core text.

use std::fmt::Write as _;

use super::{Printer, deriv_name, is_word, scalar_name};
use crate::ir::{Atom, Block, Effect, Expr, Fmt, Keep, LoopKind, RedOp, Var};
use crate::ty::{INT, Ix, Ty};

impl Printer<'_> {
    fn indexed(&mut self, word: &str, base: &Atom, index: &[Atom], check: bool) {
        self.push(word);
        self.push(if check { "? " } else { " " });
        self.atom(base);
        self.push("[");
        self.atoms(index);
        self.push("]");
    }

    fn counted(&mut self, ix: &Ix, var: &Var) {
        if *var.ty() == INT {
            self.var(var);
        } else {
            self.binders(std::slice::from_ref(var));
        }
        self.push(" < ");
        self.ix(ix);
        self.push(" ");
    }

    fn call_like(&mut self, word: &str, args: &[Atom]) {
        self.push(word);
        self.push("(");
        self.atoms(args);
        self.push(")");
    }

    #[expect(clippy::too_many_lines, reason = "one arm a form")]
    pub(super) fn expr(&mut self, e: &Expr) {
        match e {
            Expr::Atom(a) => self.atom(a),
            Expr::Prim(p, args) => {
                self.push(p.0.name);
                self.push(" ");
                self.atoms(args);
            }
            Expr::Inject { ty, tag, args } => {
                let _ = write!(self.out, "inject {tag} ");
                self.call_like("", args);
                self.push(" : ");
                self.ty(ty);
            }
            Expr::Case { scrut, arms } => {
                self.push("case ");
                self.atom(scrut);
                for arm in arms {
                    self.push(" (");
                    self.binders(&arm.params);
                    self.push(") ");
                    self.block(&arm.body);
                }
            }
            Expr::For { ix, var, body } => {
                self.push("for ");
                self.counted(ix, var);
                self.block(body);
            }
            Expr::Index { table, index, check } => self.indexed("index", table, index, *check),
            Expr::Reduce { op, ix, var, body } => self.reduction("reduce", op, ix, var, body),
            Expr::Prefix { op, ix, var, body } => self.reduction("prefix", op, ix, var, body),
            Expr::Contract { a, b, spec } => {
                let letters = |xs: &[u8]| xs.iter().map(|k| char::from(b'a' + k)).collect::<String>();
                let _ = write!(
                    self.out,
                    "contract {},{}->{} ",
                    letters(&spec.a),
                    letters(&spec.b),
                    letters(&spec.out)
                );
                self.atoms(&[a.clone(), b.clone()]);
            }
            Expr::Bulk(row, args) => {
                let _ = write!(self.out, "bulk {} ", row.0.name);
                self.atoms(args);
            }
            Expr::Loop { kind, state, init, body, keep } => {
                self.push("loop ");
                self.binders(state);
                self.push(" = ");
                self.atoms(init);
                match kind {
                    LoopKind::For { ix, var, reverse } => {
                        self.push(if *reverse { " downfor " } else { " for " });
                        self.counted(ix, var);
                    }
                    LoopKind::While { params, cond } => {
                        self.push(" while (");
                        self.binders(params);
                        self.push(") ");
                        self.block(cond);
                        self.push(" ");
                    }
                }
                self.keep(*keep);
                self.push("do ");
                self.block(body);
            }
            Expr::Update { table, index, value, check } => {
                self.indexed("update", table, index, *check);
                self.push(" = ");
                self.atom(value);
            }
            Expr::TableLit { elem, items } => {
                self.push("table ");
                self.ty(elem);
                self.call_like(" ", items);
            }
            Expr::Pack { ty, sizes, items } => {
                self.call_like("pack ", sizes);
                self.call_like(" ", items);
                self.push(" : ");
                self.ty(&Ty::Pack(ty.clone()));
            }
            Expr::Open(a) => self.call_like("open", std::slice::from_ref(a)),
            Expr::BoxNew { ty, args } => {
                self.push("box#");
                self.cell(*ty);
                self.call_like("", args);
            }
            Expr::Unbox(a) => self.call_like("unbox", std::slice::from_ref(a)),
            Expr::Call { func, tys, args, checkpoint } => {
                self.push(if *checkpoint { "checkpoint " } else { "call " });
                self.func_name(func.0);
                self.ty_args(tys);
                self.call_like("", args);
            }
            Expr::Zero(ty) => self.wrapped("zero", ty),
            Expr::AddCt(a, b) => self.call_like("addct", &[a.clone(), b.clone()]),
            Expr::Dup(a) => self.call_like("dup", std::slice::from_ref(a)),
            Expr::Drop(a) => self.call_like("drop", std::slice::from_ref(a)),
            Expr::Effect(e) => self.effect(e),
            Expr::Show { fmt, args } => {
                self.push("show ");
                self.fmt(fmt);
                self.call_like(" ", args);
            }
            Expr::AccNew(ty) => self.wrapped("acc_new", ty),
            Expr::AccView { acc, index, check } => self.indexed("acc_view", acc, index, *check),
            Expr::AccAdd { acc, index, value, check } => {
                self.indexed("acc_add", acc, index, *check);
                self.push(" += ");
                self.atom(value);
            }
            Expr::AccFrom(a) => self.call_like("acc_from", std::slice::from_ref(a)),
            Expr::AccFreeze(a) => self.call_like("acc_freeze", std::slice::from_ref(a)),
            Expr::AccInj { ty, tag, accs } => {
                let _ = write!(self.out, "acc_inj {tag} ");
                self.call_like("", accs);
                self.push(" : ");
                self.ty(ty);
            }
            Expr::AccPayload { acc, tag } => {
                let _ = write!(self.out, "acc_payload {tag} ");
                self.atom(acc);
            }
            Expr::Tuple(args) => self.call_like("tuple", args),
            Expr::Record { ty, fields } => {
                self.push("record ");
                self.ty(ty);
                self.call_like(" ", fields);
            }
            Expr::Proj(a, k) => {
                let _ = write!(self.out, "proj {k} ");
                self.atom(a);
            }
            Expr::Lambda(l) => {
                self.push("\\(");
                self.binders(std::slice::from_ref(&l.param));
                self.push(") ");
                self.block(&l.body);
            }
            Expr::Apply { f, tys, arg } => {
                self.push("apply ");
                self.atom(f);
                self.ty_args(tys);
                self.call_like("", std::slice::from_ref(arg));
            }
            Expr::FuncRef { func, tys } => {
                self.push("fnref ");
                self.func_name(func.0);
                self.ty_args(tys);
            }
            Expr::Method { method, ty, args } => {
                self.push("method ");
                self.method(*method);
                self.push(" : ");
                self.ty(ty);
                self.call_like(" ", args);
            }
            Expr::SizeOf(ix) => {
                self.push("size ");
                self.ix(ix);
            }
            Expr::SizeVal(p) => {
                self.push("sizeval ");
                self.poly(p);
            }
            Expr::Deriv { kind, f } => {
                self.push("deriv ");
                self.push(deriv_name(*kind));
                self.push(" ");
                self.atom(f);
            }
        }
    }

    fn keep(&mut self, keep: Keep) {
        let _ = match keep {
            Keep::All => Ok(()),
            Keep::None => write!(self.out, "keep none "),
            Keep::Sqrt => write!(self.out, "keep sqrt "),
            Keep::Every(k) => write!(self.out, "keep every {k} "),
            Keep::Log => write!(self.out, "keep log "),
        };
    }

    fn reduction(&mut self, word: &str, op: &RedOp, ix: &Ix, var: &Var, body: &Block) {
        self.push(word);
        match op {
            RedOp::Sum => self.push(" sum "),
            RedOp::Prod => self.push(" prod "),
            RedOp::Min => self.push(" min "),
            RedOp::Max => self.push(" max "),
            RedOp::And => self.push(" and "),
            RedOp::Or => self.push(" or "),
            RedOp::Custom { unit, left, right, body } => {
                self.call_like(" custom ", unit);
                self.push(" (");
                self.binders(left);
                self.push("; ");
                self.binders(right);
                self.push(") ");
                self.block(body);
                self.push(" ");
            }
        }
        self.counted(ix, var);
        self.block(body);
    }

    fn effect(&mut self, e: &Effect) {
        match e {
            Effect::Error(a) => self.call_like("error", std::slice::from_ref(a)),
            Effect::Assert { cond, msg } => self.call_like("assert", &[cond.clone(), msg.clone()]),
            Effect::CheckSize { left, right, what } => {
                self.call_like("check_size", &[left.clone(), right.clone()]);
                let _ = write!(self.out, " {what:?}");
            }
            Effect::CheckNonNegative(a) => self.call_like("check_non_negative", std::slice::from_ref(a)),
            Effect::Trace(a) => self.call_like("trace", std::slice::from_ref(a)),
            Effect::Print(a) => self.call_like("print", std::slice::from_ref(a)),
            Effect::LoadNpy { path, rank, elem } => {
                self.call_like("load_npy", std::slice::from_ref(path));
                let _ = write!(self.out, " {rank} {}", scalar_name(*elem));
            }
        }
    }

    fn fmt(&mut self, fmt: &Fmt) {
        match fmt {
            Fmt::Leaf => self.push("_"),
            Fmt::Raw => self.push("raw"),
            Fmt::Text(text) => {
                let _ = write!(self.out, "{text:?}");
            }
            Fmt::Names(names) => {
                self.push("names(");
                self.list(names, |w, n| w.label(n));
                self.push(")");
            }
            Fmt::Sum(alts) => {
                self.push("sum(");
                self.list(alts, |w, (name, fmts)| {
                    w.label(name);
                    w.push("(");
                    w.list(fmts, Self::fmt);
                    w.push(")");
                });
                self.push(")");
            }
            Fmt::Table(elem) => {
                self.push("[");
                self.fmt(elem);
                self.push("]");
            }
            Fmt::Tuple(parts) => {
                self.push("(");
                self.list(parts, Self::fmt);
                self.push(")");
            }
            Fmt::Struct(name, fields) => {
                self.push(name);
                self.push("{");
                self.list(fields, |w, (name, f)| {
                    w.push(name);
                    w.push(": ");
                    w.fmt(f);
                });
                self.push("}");
            }
            Fmt::After(n, fmt) => {
                let _ = write!(self.out, "after {n} ");
                self.fmt(fmt);
            }
            Fmt::Pack(fmt) => {
                self.push("pack ");
                self.fmt(fmt);
            }
            Fmt::Hidden(n, text) => {
                let _ = write!(self.out, "hidden {n} {text:?}");
            }
            Fmt::Cell(k) => {
                let _ = write!(self.out, "cell {k}");
            }
            Fmt::Where(fmt, cells) => {
                self.push("where(");
                self.fmt(fmt);
                for cell in cells {
                    self.push(", ");
                    self.fmt(cell);
                }
                self.push(")");
            }
        }
    }

    /// The name of a constructor, in quotes where it is no word, such as `()`.
    fn label(&mut self, name: &str) {
        if is_word(name) {
            self.push(name);
        } else {
            let _ = write!(self.out, "{name:?}");
        }
    }
}
