//! The printer of Core text: what it prints, [`crate::parse`] reads. Variables are numbered in order of
//! appearance, so that equal programs print alike.

mod forms;
mod methods;
mod names;
mod types;

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::ir::{Atom, Block, Expr, Func, Item, ItemKind, Lit, Method, Program, Stmt, Var};
use crate::rule::{Rule, RuleKind};
use crate::ty::{Scalar, Ty, TyVar};
use methods::method_name;
pub(crate) use methods::{deriv_name, deriv_of, method_of};
use names::{Names, is_word};
pub(crate) use names::{plain, plain_ty_var};

/// The text of a whole program.
pub fn program(p: &Program) -> String {
    let names = Names::of(p);
    let mut out = String::from("core 1\n");
    let mut head = Printer::new(&names);
    for (k, decl) in (0..).zip(&p.types) {
        head.declaration(k, decl);
    }
    for (k, tys) in p.boxes.iter().enumerate() {
        let _ = write!(head.out, "box#{k} (");
        head.list(tys, Printer::ty);
        head.push(")\n");
    }
    for v in &names.globals {
        head.push("var ");
        head.binders(std::slice::from_ref(v));
        head.push("\n");
    }
    if !head.out.is_empty() {
        let _ = write!(out, "\n{}", head.out);
    }
    for (k, func) in (0..).zip(&p.funcs) {
        out.push('\n');
        let mut w = Printer::new(&names);
        w.func(k, func);
        out.push_str(&w.out);
    }
    for rule in &p.rules {
        let mut w = Printer::new(&names);
        w.rule(rule);
        let _ = write!(out, "\n{}", w.out);
    }
    for item in &p.items {
        out.push('\n');
        let mut w = Printer::new(&names);
        w.item(item);
        out.push_str(&w.out);
    }
    out
}

/// The text of one function; `p` gives names to the functions and types that it mentions.
pub fn func_text(func: &Func, p: Option<&Program>) -> String {
    let mut names = p.map(Names::of).unwrap_or_default();
    let id = u32::try_from(names.funcs.len()).expect("fewer than 2^32 functions");
    names.funcs.push(func.name.clone());
    let mut w = Printer::new(&names);
    w.func(id, func);
    w.out
}

/// The text of a type outside of any function.
pub fn ty_text(ty: &Ty) -> String {
    let names = Names::default();
    let mut w = Printer::new(&names);
    w.ty(ty);
    w.out
}

struct Printer<'a> {
    out: String,
    indent: usize,
    vars: HashMap<Var, usize>,
    ty_vars: HashMap<TyVar, usize>,
    names: &'a Names,
}

impl<'a> Printer<'a> {
    fn new(names: &'a Names) -> Printer<'a> {
        Printer { out: String::new(), indent: 0, vars: HashMap::new(), ty_vars: HashMap::new(), names }
    }

    fn func(&mut self, id: u32, func: &Func) {
        self.push("fn ");
        self.func_name(id);
        self.ty_params(&func.tparams);
        self.push("(");
        self.binders(&func.params);
        self.push(") {\n");
        self.item_body(&func.body);
    }

    fn rule(&mut self, rule: &Rule) {
        self.push("rule ");
        self.func_name(rule.of.0);
        self.push(" = ");
        self.func_name(rule.func.0);
        self.push(match rule.kind {
            RuleKind::Forward => " forward\n",
            RuleKind::Reverse => " reverse\n",
            RuleKind::ReverseOnly => " reverse_only\n",
        });
    }

    fn item(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Let(vars) => {
                self.push("let ");
                self.list(vars, Self::var);
                if !vars.is_empty() {
                    self.push(" ");
                }
            }
            ItemKind::Show => self.push("show "),
            ItemKind::Test(name) => {
                let _ = write!(self.out, "test {name:?} ");
            }
            ItemKind::Param(name, v) => {
                let _ = write!(self.out, "param {name} ");
                self.var(v);
                self.push(" ");
            }
        }
        self.push("{\n");
        self.item_body(&item.body);
    }

    /// The statements of a function or item, and its end.
    fn item_body(&mut self, body: &Block) {
        self.indent = 1;
        self.block_body(body);
        self.push("}\n");
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
        if let Some(k) = self.names.numbers.get(v) {
            let _ = write!(self.out, "@{k}");
            return;
        }
        let next = self.vars.len();
        let k = *self.vars.entry(v.clone()).or_insert(next);
        let _ = write!(self.out, "%{k}");
    }

    fn lit(&mut self, lit: &Lit) {
        let _ = match lit {
            Lit::F64(x) => write!(self.out, "{x:?}"),
            Lit::F32(x) => write!(self.out, "{x:?}f32"),
            Lit::Int(x) => write!(self.out, "{x}"),
            Lit::Bool(x) => write!(self.out, "{x}"),
            Lit::Str(x) => write!(self.out, "{x:?}"),
            Lit::Unit => write!(self.out, "unit"),
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
        match (&s.expr, s.vars.as_slice()) {
            (_, []) => {}
            // The type of a polymorphic function mentions the type parameters of the lambda.
            (Expr::Lambda(l), [v]) if !l.tparams.is_empty() => {
                self.var(v);
                self.ty_params(&l.tparams);
                self.push(": ");
                self.ty(v.ty());
                self.push(" = ");
            }
            (_, vars) => {
                self.binders(vars);
                self.push(" = ");
            }
        }
        self.expr(&s.expr);
        if !s.dies.is_empty() {
            self.push(" ; dies ");
            self.list(&s.dies, |w, v| w.var(v));
        }
        self.push("\n");
    }

    fn method(&mut self, m: Method) {
        self.push(method_name(m));
        if let Method::Lift(prim) = m {
            let _ = write!(self.out, "({})", prim.0.name);
        }
        if let Method::Bulk(row) = m {
            let _ = write!(self.out, "({})", row.0.name);
        }
    }

    fn func_name(&mut self, id: u32) {
        match self.names.funcs.get(id as usize) {
            Some(name) => self.out.push_str(name),
            None => {
                let _ = write!(self.out, "fn#{id}");
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
