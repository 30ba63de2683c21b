//! From the typed tree to higher-order Core, as `core/src/ELABORATE.md` says.

mod builtin;
mod expr;
mod form;
mod lift;
mod pattern;
mod types;

use std::collections::HashMap;

use adl_core::{
    ir::{Atom, Block, Expr, Func, FuncId, Item, ItemKind, Lit, Program, Stmt, TypeDecl, Var},
    rule::Rule,
    ty::{INT, Ty as CoreTy, TyVar},
};
use adl_diag::Span;

use crate::{
    checker::Checker,
    module::{Output, TFunc, TItem},
    tree::{LocalId, Tp, TpKind, Tx},
    types::V,
};

/// What elaboration knows of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elaborator {
    types: Vec<TypeDecl>,
    funcs: Vec<Func>,
    rules: Vec<Rule>,
    /// The functions of the checker in Core.
    func_ids: HashMap<usize, FuncId>,
    /// What they are polymorphic in.
    func_vars: HashMap<usize, Vec<V>>,
    /// The values of variables in scope.
    locals: HashMap<LocalId, Atom>,
    /// Type parameters.
    params: HashMap<V, TyVar>,
    /// Sizes that the packs around a type bind.
    unknown: Vec<V>,
    /// Sizes that are Int variables.
    sizes: HashMap<V, Var>,
}

/// Writes the statements of one block.
pub(crate) struct Ctx<'a> {
    pub(crate) e: &'a mut Elaborator,
    pub(crate) c: &'a mut Checker,
    stmts: Vec<Stmt>,
    span: Span,
    /// How many blocks are open inside the item.
    depth: u32,
    /// Sizes that became variables in the outermost block of the item.
    opened: Vec<V>,
    /// The type parameters in scope.
    tparams: Vec<TyVar>,
}

impl Elaborator {
    /// All types and functions so far.
    pub(crate) fn program(&self) -> Program {
        Program {
            types: self.types.clone(),
            funcs: self.funcs.clone(),
            rules: self.rules.clone(),
            boxes: vec![],
            items: vec![],
        }
    }

    /// Elaborates what a module gave; the items that run.
    pub(crate) fn outputs(&mut self, c: &mut Checker, outputs: Vec<Output>) -> Vec<Item> {
        for k in self.types.len()..c.arena.data.len() {
            let decl = self.ctx(c, Span::default()).declaration(k);
            self.types.push(decl);
        }
        // Functions may refer to later ones.
        for output in &outputs {
            if let Output::Func(k, func) = output {
                let id = self.reserve(&func.name, func.span);
                self.func_ids.insert(*k, id);
                self.func_vars.insert(*k, func.vars.clone());
            }
        }
        let mut items = vec![];
        for output in outputs {
            match output {
                Output::Func(k, func) => self.func(c, k, &func),
                Output::Item(span, item) => items.push(self.item(c, span, &item)),
                Output::Operation(data, method, k) => {
                    let func = self.func_ids[&k];
                    self.types[data.0 as usize].methods.push((method, func));
                }
                Output::Rule { of, func, kind } => {
                    self.rules.push(Rule { of: self.func_ids[&of], func: self.func_ids[&func], kind });
                }
            }
        }
        items
    }

    fn ctx<'a>(&'a mut self, c: &'a mut Checker, span: Span) -> Ctx<'a> {
        Ctx { e: self, c, stmts: vec![], span, depth: 0, opened: vec![], tparams: vec![] }
    }

    /// A function whose code is written later.
    fn reserve(&mut self, name: &str, span: Span) -> FuncId {
        let id = FuncId(u32::try_from(self.funcs.len()).expect("fewer than 2^32 functions"));
        let name = name.to_string();
        self.funcs.push(Func { name, tparams: vec![], params: vec![], body: Block::default(), span });
        id
    }

    fn func(&mut self, c: &mut Checker, k: usize, func: &TFunc) {
        let id = self.func_ids[&k];
        let mut ctx = self.ctx(c, func.span);
        let tparams = ctx.type_params(&func.vars);
        ctx.tparams.clone_from(&tparams);
        let param = ctx.param_var(&func.param);
        let body = ctx.block(|ctx| {
            ctx.bind_pattern(&func.param, Atom::Var(param.clone()));
            ctx.expr(&func.body)
        });
        let name = func.name.clone();
        self.funcs[id.0 as usize] = Func { name, tparams, params: vec![param], body, span: func.span };
    }

    fn item(&mut self, c: &mut Checker, span: Span, item: &TItem) -> Item {
        let mut ctx = self.ctx(c, span);
        let (kind, results) = match item {
            TItem::Show(value) => (ItemKind::Show, vec![ctx.expr(value)]),
            TItem::Test(name, value) => {
                ctx.expr(value);
                (ItemKind::Test(name.clone()), vec![Atom::Lit(Lit::Unit)])
            }
            TItem::Param(name, id, value) => {
                let result = ctx.expr(value);
                let ty = ctx.ty(&value.ty);
                let var = Var::named(name, ty);
                ctx.e.locals.insert(*id, Atom::Var(var.clone()));
                (ItemKind::Param(name.clone(), var), vec![result])
            }
            TItem::Let(pat, value) => ctx.top_let(pat, value),
        };
        let body = Block { stmts: ctx.stmts, results };
        Item { kind, body, span }
    }
}

impl Ctx<'_> {
    /// A top-level `let`: its variables, and the sizes it opened, become variables of the program.
    fn top_let(&mut self, pat: &Tp, value: &Tx) -> (ItemKind, Vec<Atom>) {
        let atom = self.expr(value);
        self.bind_pattern(pat, atom);
        let opened = std::mem::take(&mut self.opened);
        let mut vars = vec![];
        let mut results = vec![];
        let mut outer = vec![];
        for v in &opened {
            if let Some(inner) = self.e.sizes.get(v) {
                let var = Var::named(inner.name(), INT);
                results.push(Atom::Var(inner.clone()));
                vars.push(var.clone());
                outer.push((*v, var));
            }
        }
        let locals = pat.locals();
        let inner: Vec<Atom> =
            locals.iter().map(|id| self.e.locals.get(id).cloned().unwrap_or(Atom::Lit(Lit::Unit))).collect();
        self.e.sizes.extend(outer);
        for (id, atom) in locals.iter().zip(inner) {
            let local = self.c.locals[id.0 as usize].clone();
            // Types of program variables mention program variables only.
            let mark = self.stmts.len();
            let ty = self.ty(&local.ty);
            self.stmts.truncate(mark);
            let var = Var::named(&local.name, ty);
            self.e.locals.insert(*id, Atom::Var(var.clone()));
            vars.push(var);
            results.push(atom);
        }
        (ItemKind::Let(vars), results)
    }

    /// `let name: ty = expr`.
    pub(crate) fn bind_named(&mut self, name: &str, ty: CoreTy, expr: Expr) -> Atom {
        let var = Var::named(name, ty);
        self.stmts.push(Stmt { vars: vec![var.clone()], expr, span: self.span, dies: vec![] });
        Atom::Var(var)
    }

    pub(crate) fn bind(&mut self, ty: CoreTy, expr: Expr) -> Atom {
        self.bind_named("", ty, expr)
    }

    /// A statement that binds nothing.
    pub(crate) fn run(&mut self, expr: Expr) {
        self.stmts.push(Stmt { vars: vec![], expr, span: self.span, dies: vec![] });
    }

    /// A nested block with one result.
    pub(crate) fn block(&mut self, body: impl FnOnce(&mut Self) -> Atom) -> Block {
        let outer = std::mem::take(&mut self.stmts);
        self.depth += 1;
        let result = body(self);
        self.depth -= 1;
        let stmts = std::mem::replace(&mut self.stmts, outer);
        Block { stmts, results: vec![result] }
    }

    /// The parameter of a function or lambda with this pattern.
    pub(crate) fn param_var(&mut self, pat: &Tp) -> Var {
        let ty = self.ty(&pat.ty);
        match &pat.kind {
            TpKind::Var(id) => Var::named(&self.c.locals[id.0 as usize].name.clone(), ty),
            TpKind::Wild | TpKind::Lit(_) | TpKind::Tuple(_) | TpKind::Ctor(..) | TpKind::Struct(..) => {
                Var::new(ty)
            }
        }
    }

    /// A variable with the value of the atom.
    pub(crate) fn as_var(&mut self, atom: Atom) -> Var {
        match atom {
            Atom::Var(v) => v,
            Atom::Lit(_) => {
                let ty = atom.ty();
                match self.bind(ty, Expr::Atom(atom)) {
                    Atom::Var(v) => v,
                    Atom::Lit(_) => unreachable!("`bind` gives a variable"),
                }
            }
        }
    }

    /// Notes that a size is now an Int variable.
    pub(crate) fn name_size(&mut self, v: V, var: Var) {
        self.e.sizes.insert(v, var);
        if self.depth == 0 {
            self.opened.push(v);
        }
    }
}
