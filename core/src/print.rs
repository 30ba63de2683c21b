//! The printer of Core text. Variables are numbered in order of appearance, so that equal programs
//! print alike.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::ir::{Atom, Block, Effect, Expr, Fmt, Func, Keep, Lit, LoopKind, Program, RedOp, Stmt, Var};
use crate::ty::{Ix, Poly, Scalar, SizeAtom, Ty, TyArg};

/// The text of a whole program.
pub fn program(p: &Program) -> String {
    let mut out = String::from("core 1\n");
    for func in &p.funcs {
        out.push('\n');
        out.push_str(&func_text(func, Some(p)));
    }
    for item in &p.items {
        let mut w = Printer::new(Some(p));
        let _ = write!(out, "\nitem {:?} {{\n", item.kind);
        w.indent = 1;
        w.block_body(&item.body);
        out.push_str(&w.out);
        out.push_str("}\n");
    }
    out
}

/// The text of one function; `p` gives names to the functions and types that it mentions.
pub fn func_text(func: &Func, p: Option<&Program>) -> String {
    let mut w = Printer::new(p);
    let _ = write!(w.out, "fn {}", func.name);
    if !func.tparams.is_empty() {
        let names: Vec<&str> = func.tparams.iter().map(|t| t.0.name.as_str()).collect();
        let _ = write!(w.out, "[{}]", names.join(", "));
    }
    w.out.push('(');
    w.binders(&func.params);
    w.out.push_str(") {\n");
    w.indent = 1;
    w.block_body(&func.body);
    w.out.push_str("}\n");
    w.out
}

/// The text of a type outside of any function; size variables print by name or as `_`.
pub fn ty_text(ty: &Ty) -> String {
    let mut w = Printer::new(None);
    w.ty(ty);
    w.out
}

struct Printer<'a> {
    out: String,
    indent: usize,
    names: HashMap<Var, usize>,
    program: Option<&'a Program>,
}

impl<'a> Printer<'a> {
    fn new(program: Option<&'a Program>) -> Printer<'a> {
        Printer { out: String::new(), indent: 0, names: HashMap::new(), program }
    }

    fn pad(&mut self) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn var(&mut self, v: &Var) {
        let next = self.names.len();
        let k = *self.names.entry(v.clone()).or_insert(next);
        let _ = write!(self.out, "%{k}");
    }

    fn lit(&mut self, lit: &Lit) {
        let _ = match lit {
            Lit::F64(x) => write!(self.out, "{x:?}"),
            Lit::F32(x) => write!(self.out, "{x:?}f32"),
            Lit::Int(x) => write!(self.out, "{x}"),
            Lit::Bool(x) => write!(self.out, "{x}"),
            Lit::Str(x) => write!(self.out, "{x:?}"),
            Lit::Unit => write!(self.out, "()"),
        };
    }

    fn atom(&mut self, a: &Atom) {
        match a {
            Atom::Var(v) => self.var(v),
            Atom::Lit(l) => self.lit(l),
        }
    }

    fn atoms(&mut self, atoms: &[Atom]) {
        self.list(atoms, Self::atom);
    }

    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        for (k, item) in items.iter().enumerate() {
            if k > 0 {
                self.push(", ");
            }
            each(self, item);
        }
    }

    fn binders(&mut self, vars: &[Var]) {
        self.list(vars, |w, v| {
            if v.is_linear() {
                w.push("lin ");
            }
            w.var(v);
            w.push(": ");
            w.ty(v.ty());
        });
    }

    fn ix(&mut self, ix: &Ix) {
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
            Ix::Var(v) => self.push(&v.0.name),
        }
    }

    fn poly(&mut self, p: &Poly) {
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
                    SizeAtom::Param(t) => self.push(&t.0.name),
                }
            }
        }
    }

    fn type_name(&mut self, id: u32) {
        match self.program.and_then(|p| p.types.get(id as usize)) {
            Some(decl) => self.push(&decl.name),
            None => {
                let _ = write!(self.out, "type#{id}");
            }
        }
    }

    fn ty(&mut self, ty: &Ty) {
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
            }
            Ty::Box(k) => {
                let _ = write!(self.out, "Box#{k}");
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
            Ty::Var(v) => self.push(&v.0.name),
        }
    }

    fn wrapped(&mut self, head: &str, t: &Ty) {
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

    fn ty_args(&mut self, args: &[TyArg]) {
        if args.is_empty() {
            return;
        }
        self.push("[");
        self.list(args, |w, a| match a {
            TyArg::Ty(t) => w.ty(t),
            TyArg::Ix(ix) => w.ix(ix),
            TyArg::Size(p) => w.poly(p),
        });
        self.push("]");
    }

    fn block(&mut self, b: &Block) {
        if b.stmts.is_empty() {
            self.push("{ yield ");
            self.atoms(&b.results);
            self.push(" }");
            return;
        }
        self.push("{\n");
        self.indent += 1;
        self.block_body(b);
        self.indent -= 1;
        self.pad();
        self.push("}");
    }

    fn block_body(&mut self, b: &Block) {
        for stmt in &b.stmts {
            self.stmt(stmt);
        }
        self.pad();
        self.push("yield ");
        self.atoms(&b.results);
        self.push("\n");
    }

    fn stmt(&mut self, s: &Stmt) {
        self.pad();
        if !s.vars.is_empty() {
            self.binders(&s.vars);
            self.push(" = ");
        }
        self.expr(&s.expr);
        if !s.dies.is_empty() {
            self.push(" ; dies ");
            self.list(&s.dies, |w, v| w.var(v));
        }
        self.push("\n");
    }

    fn func_name(&mut self, id: u32) {
        match self.program.and_then(|p| p.funcs.get(id as usize)) {
            Some(f) => self.push(&f.name),
            None => {
                let _ = write!(self.out, "fn#{id}");
            }
        }
    }

    fn indexed(&mut self, word: &str, base: &Atom, index: &[Atom], check: bool) {
        self.push(word);
        self.push(if check { "? " } else { " " });
        self.atom(base);
        self.push("[");
        self.atoms(index);
        self.push("]");
    }

    fn counted(&mut self, ix: &Ix, var: &Var) {
        self.var(var);
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
    fn expr(&mut self, e: &Expr) {
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
            Expr::BoxNew { id, args } => {
                let _ = write!(self.out, "box#{id}");
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
                self.atom(a);
                let _ = write!(self.out, ".{k}");
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
                let _ = write!(self.out, "method {method:?} : ");
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
                let _ = write!(self.out, "deriv {kind:?} ");
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
                self.list(names, |w, n| w.push(n));
                self.push(")");
            }
            Fmt::Sum(alts) => {
                self.push("sum(");
                self.list(alts, |w, (name, fmts)| {
                    w.push(name);
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
        }
    }
}

/// The name of a scalar type in Core text.
pub fn scalar_name(s: Scalar) -> &'static str {
    match s {
        Scalar::F64 => "F64",
        Scalar::F32 => "F32",
        Scalar::Int => "Int",
        Scalar::Bool => "Bool",
        Scalar::Str => "Str",
        Scalar::Key => "Key",
    }
}
