//! Which names an item mentions freely, and in which order definitions are checked.

use std::collections::{BTreeSet, HashMap};

use adl_syntax::ast::{Def, Expr, ExprKind, Let, LoopKind, Pat, PatKind, Stmt, Type, TypeKind, Update};

/// Collects free names; `bound` is the scope so far.
#[derive(Default)]
struct Walk {
    bound: Vec<String>,
    /// How often each name is bound.
    counts: HashMap<String, usize>,
    free: BTreeSet<String>,
}

/// The free value names of a definition.
pub(crate) fn free_in_def(d: &Def) -> BTreeSet<String> {
    let mut walk = Walk::default();
    walk.def(d);
    walk.free
}

/// The free value names of an expression.
pub(crate) fn free_in(e: &Expr) -> BTreeSet<String> {
    let mut walk = Walk::default();
    walk.expr(e);
    walk.free
}

/// The names a pattern binds, in order.
pub(crate) fn pattern_names(p: &Pat) -> Vec<(String, adl_diag::Span)> {
    let mut names = vec![];
    collect_names(p, &mut names);
    names
}

fn collect_names(p: &Pat, names: &mut Vec<(String, adl_diag::Span)>) {
    match &p.kind {
        PatKind::Var(name) => names.push((name.clone(), p.span)),
        PatKind::Wild | PatKind::Lit(_) => {}
        PatKind::Tuple(ps) | PatKind::Ctor(_, ps) => ps.iter().for_each(|p| collect_names(p, names)),
        PatKind::Struct(_, fields) => fields.iter().for_each(|(_, p)| collect_names(p, names)),
        PatKind::Typed(p, _) => collect_names(p, names),
    }
}

impl Walk {
    fn bind(&mut self, p: &Pat) {
        self.types_in(p);
        pattern_names(p).into_iter().for_each(|(name, _)| self.push(name));
    }

    fn push(&mut self, name: String) {
        *self.counts.entry(name.clone()).or_default() += 1;
        self.bound.push(name);
    }

    fn is_bound(&self, name: &str) -> bool {
        self.counts.get(name).is_some_and(|n| 0 < *n)
    }

    fn within(&mut self, body: impl FnOnce(&mut Walk)) {
        let mark = self.bound.len();
        body(self);
        for name in self.bound.split_off(mark) {
            if let Some(n) = self.counts.get_mut(&name) {
                *n -= 1;
            }
        }
    }

    fn def(&mut self, d: &Def) {
        self.within(|walk| {
            walk.push(String::new());
            d.params.iter().for_each(|p| walk.bind(p));
            d.result.iter().for_each(|t| walk.ty(t));
            walk.expr(&d.body);
        });
    }

    fn types_in(&mut self, p: &Pat) {
        match &p.kind {
            PatKind::Var(_) | PatKind::Wild | PatKind::Lit(_) => {}
            PatKind::Tuple(ps) | PatKind::Ctor(_, ps) => ps.iter().for_each(|p| self.types_in(p)),
            PatKind::Struct(_, fields) => fields.iter().for_each(|(_, p)| self.types_in(p)),
            PatKind::Typed(p, t) => {
                self.types_in(p);
                self.ty(t);
            }
        }
    }

    /// Types mention values inside `Fin(…)`.
    fn ty(&mut self, t: &Type) {
        match &t.kind {
            TypeKind::Var(_) | TypeKind::Hole => {}
            TypeKind::Fin(e) => self.expr(e),
            TypeKind::Con(_, ts) | TypeKind::Tuple(ts) => ts.iter().for_each(|t| self.ty(t)),
            TypeKind::Table(a, b) | TypeKind::Fun(a, b) | TypeKind::Linear(a, b) => {
                self.ty(a);
                self.ty(b);
            }
            TypeKind::Exists(_, t) => self.ty(t),
        }
    }

    fn all(&mut self, es: &[Expr]) {
        es.iter().for_each(|e| self.expr(e));
    }

    fn let_(&mut self, l: &Let) {
        self.expr(&l.value);
        self.bind(&l.pat);
    }

    fn block(&mut self, stmts: &[Stmt]) {
        self.within(|walk| {
            for (k, stmt) in stmts.iter().enumerate() {
                match stmt {
                    Stmt::Let(l) => walk.let_(l),
                    Stmt::Def(d) => {
                        // Definitions that follow one another see each other.
                        if k == 0 || !matches!(stmts[k - 1], Stmt::Def(_)) {
                            first_defs(&stmts[k..]).iter().for_each(|d| walk.push(d.name.text.clone()));
                        }
                        walk.def(d);
                    }
                    Stmt::Expr(e) => walk.expr(e),
                }
            }
        });
    }

    #[expect(clippy::too_many_lines, reason = "one arm a form")]
    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Var(name) => {
                if !self.is_bound(name) {
                    self.free.insert(name.clone());
                }
            }
            ExprKind::Ctor(_) | ExprKind::Lit(_) | ExprKind::Hole | ExprKind::Error => {}
            ExprKind::Tuple(es) | ExprKind::List(es) => self.all(es),
            ExprKind::Paren(e) | ExprKind::Neg(e) | ExprKind::Not(e) | ExprKind::Field(e, _) => self.expr(e),
            ExprKind::Annot(e, t) => {
                self.expr(e);
                self.ty(t);
            }
            ExprKind::Chain(first, links) => {
                self.expr(first);
                links.iter().for_each(|l| self.expr(&l.right));
            }
            ExprKind::Pipe(f, es) | ExprKind::Call(f, es) | ExprKind::Index(f, es) => {
                self.expr(f);
                self.all(es);
            }
            ExprKind::With(e, updates) => {
                self.expr(e);
                for update in updates {
                    match update {
                        Update::Field(_, e) => self.expr(e),
                        Update::Index(_, es, e) => {
                            self.all(es);
                            self.expr(e);
                        }
                    }
                }
            }
            ExprKind::Build(_, fields) => fields.iter().for_each(|(_, e)| self.expr(e)),
            ExprKind::If(c, a, b) => [c, a, b].into_iter().for_each(|e| self.expr(e)),
            ExprKind::When(a, b) | ExprKind::PlusAssign(a, b) => {
                [a, b].into_iter().for_each(|e| self.expr(e))
            }
            ExprKind::Block(stmts) => self.block(stmts),
            ExprKind::Lambda(p, body) => self.within(|walk| {
                walk.bind(p);
                walk.expr(body);
            }),
            ExprKind::For(ps, body) => self.within(|walk| {
                ps.iter().for_each(|p| walk.bind(p));
                walk.expr(body);
            }),
            ExprKind::Loop(l) => {
                self.expr(&l.init);
                self.within(|walk| {
                    walk.bind(&l.pat);
                    match &l.kind {
                        LoopKind::For(p) => walk.bind(p),
                        LoopKind::While(c) => walk.expr(c),
                    }
                    walk.expr(&l.body);
                });
            }
            ExprKind::Accum(refs, body) => self.within(|walk| {
                for (name, t) in refs {
                    walk.ty(t);
                    walk.push(name.text.clone());
                }
                walk.expr(body);
            }),
            ExprKind::Case(e, arms) => {
                self.expr(e);
                for arm in arms {
                    self.within(|walk| {
                        walk.bind(&arm.pat);
                        arm.guard.iter().for_each(|g| walk.expr(g));
                        walk.expr(&arm.body);
                    });
                }
            }
        }
    }
}

/// The definitions that stand first.
pub(crate) fn first_defs(stmts: &[Stmt]) -> Vec<&Def> {
    let mut defs = vec![];
    for stmt in stmts {
        let Stmt::Def(d) = stmt else { break };
        defs.push(d);
    }
    defs
}

/// Groups of definitions that refer to each other, each after the groups it uses. `uses[k]` are the
/// definitions that definition `k` mentions.
pub(crate) fn components(uses: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut tarjan =
        Tarjan { uses, index: HashMap::new(), low: vec![0; uses.len()], stack: vec![], out: vec![] };
    for k in 0..uses.len() {
        if !tarjan.index.contains_key(&k) {
            tarjan.visit(k);
        }
    }
    tarjan.out
}

/// Tarjan, "Depth-first search and linear graph algorithms" (1972).
struct Tarjan<'a> {
    uses: &'a [Vec<usize>],
    index: HashMap<usize, usize>,
    low: Vec<usize>,
    stack: Vec<usize>,
    out: Vec<Vec<usize>>,
}

impl Tarjan<'_> {
    fn visit(&mut self, k: usize) {
        let number = self.index.len();
        self.index.insert(k, number);
        self.low[k] = number;
        self.stack.push(k);
        for next in &self.uses[k] {
            match self.index.get(next) {
                None => {
                    self.visit(*next);
                    self.low[k] = self.low[k].min(self.low[*next]);
                }
                Some(number) if self.stack.contains(next) => self.low[k] = self.low[k].min(*number),
                Some(_) => {}
            }
        }
        if self.low[k] == number {
            let at = self.stack.iter().position(|x| *x == k).unwrap_or(0);
            let mut group = self.stack.split_off(at);
            group.sort_unstable();
            self.out.push(group);
        }
    }
}
