//! Patterns: projections where they always match, nested `case`s where they do not.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use adl_core::{
    ir::{Arm, Atom, Block, Effect, Expr, Lit as CoreLit, Method, Var},
    ty::{BOOL, Ty as CoreTy},
};
use adl_syntax::ast::Lit;

use super::Ctx;
use crate::{
    data::CtorRef,
    tree::{TArm, Tp, TpKind, Tx},
    types::Ty,
};

/// An arm on its way: the patterns that still have to match, each with its value.
#[derive(Clone)]
struct Row<'a> {
    tests: Vec<(Atom, &'a Tp)>,
    /// Variables to bind when all match.
    bound: Vec<(Atom, &'a Tp)>,
    arm: &'a TArm,
}

impl Ctx<'_> {
    /// Binds the variables of a pattern that always matches.
    pub(crate) fn bind_pattern(&mut self, p: &Tp, value: Atom) {
        match &p.kind {
            TpKind::Wild | TpKind::Lit(_) => {}
            TpKind::Var(id) => {
                self.e.locals.insert(*id, value);
            }
            TpKind::Tuple(ps) => {
                for (k, p) in (0u32..).zip(ps) {
                    self.bind_part(p, &value, k);
                }
            }
            TpKind::Struct(_, fields) => {
                for (k, p) in fields {
                    self.bind_part(p, &value, u32::try_from(*k).unwrap_or(0));
                }
            }
            // An enum with one constructor: its payload as a tuple.
            TpKind::Ctor(_, ps) => {
                let types: Vec<CoreTy> = ps.iter().map(|p| self.ty(&p.ty)).collect();
                let params: Vec<Var> = types.iter().cloned().map(Var::new).collect();
                let whole = CoreTy::Tuple(types);
                let parts: Vec<Atom> = params.iter().map(Atom::from).collect();
                let body = self.block(|this| this.bind(whole.clone(), Expr::Tuple(parts)));
                let arms = vec![Arm { params, body }];
                let tuple = self.bind(whole, Expr::Case { scrut: value, arms });
                for (k, p) in (0u32..).zip(ps) {
                    self.bind_part(p, &tuple, k);
                }
            }
        }
    }

    fn bind_part(&mut self, p: &Tp, whole: &Atom, k: u32) {
        if matches!(p.kind, TpKind::Wild) {
            return;
        }
        let part = self.project(p, whole, k);
        self.bind_pattern(p, part);
    }

    fn project(&mut self, p: &Tp, whole: &Atom, k: u32) -> Atom {
        let ty = self.ty(&p.ty);
        let name = match &p.kind {
            TpKind::Var(id) => self.c.locals[id.0 as usize].name.to_string(),
            TpKind::Wild | TpKind::Lit(_) | TpKind::Tuple(_) | TpKind::Ctor(..) | TpKind::Struct(..) => {
                String::new()
            }
        };
        self.bind_named(&name, ty, Expr::Proj(whole.clone(), k))
    }

    /// `case`: the arms in order.
    pub(crate) fn case(&mut self, value: Atom, scrutinee: &Tx, arms: &[TArm], ty: &CoreTy) -> Atom {
        let _ = scrutinee;
        let rows = arms
            .iter()
            .map(|arm| Row { tests: vec![(value.clone(), &arm.pat)], bound: vec![], arm })
            .collect();
        self.rows(rows, ty)
    }

    fn rows(&mut self, mut rows: Vec<Row>, ty: &CoreTy) -> Atom {
        if rows.is_empty() {
            let message = Atom::Lit(CoreLit::Str("no arm of this `case` matches".into()));
            return self.bind(ty.clone(), Expr::Effect(Effect::Error(message)));
        }
        for row in &mut rows {
            self.spread(row);
        }
        let Some((value, test)) = rows[0].tests.first().cloned() else { return self.matched(rows, ty) };
        match &test.kind {
            TpKind::Ctor(ctor, _) => self.switch(value, *ctor, &test.ty, &rows, ty),
            TpKind::Lit(Lit::Bool(_)) => {
                let arms = [false, true]
                    .map(|b| {
                        let left = rows
                            .iter()
                            .filter_map(|r| keep_literal(r, &value, &Lit::Bool(b), true))
                            .collect();
                        Arm { params: vec![], body: self.block(|this| this.rows(left, ty)) }
                    })
                    .to_vec();
                self.bind(ty.clone(), Expr::Case { scrut: value, arms })
            }
            TpKind::Lit(lit) => {
                let wanted = self.literal_atom(lit, &test.ty);
                let args = vec![value.clone(), wanted];
                let scrut = self.bind(BOOL, Expr::Method { method: Method::Eq, ty: BOOL, args });
                let yes = rows.iter().filter_map(|r| keep_literal(r, &value, lit, true)).collect();
                let no = rows.iter().filter_map(|r| keep_literal(r, &value, lit, false)).collect();
                let then = self.block(|this| this.rows(yes, ty));
                let orelse = self.block(|this| this.rows(no, ty));
                self.choose(ty.clone(), scrut, then, orelse)
            }
            TpKind::Wild | TpKind::Var(_) | TpKind::Tuple(_) | TpKind::Struct(..) => self.matched(rows, ty),
        }
    }

    fn literal_atom(&mut self, lit: &Lit, ty: &Ty) -> Atom {
        let e = Tx::new(self.span, ty.clone(), crate::tree::Tk::Lit(lit.clone()));
        self.expr(&e)
    }

    /// Takes patterns apart that always match: names, tuples, structs.
    fn spread<'a>(&mut self, row: &mut Row<'a>) {
        let mut todo: Vec<(Atom, &'a Tp)> = std::mem::take(&mut row.tests);
        todo.reverse();
        while let Some((value, p)) = todo.pop() {
            match &p.kind {
                TpKind::Wild => {}
                TpKind::Var(_) => row.bound.push((value, p)),
                TpKind::Lit(_) | TpKind::Ctor(..) => row.tests.push((value, p)),
                TpKind::Tuple(ps) => {
                    for (k, part) in (0u32..).zip(ps).collect::<Vec<_>>().into_iter().rev() {
                        if !matches!(part.kind, TpKind::Wild) {
                            let atom = self.project(part, &value, k);
                            todo.push((atom, part));
                        }
                    }
                }
                TpKind::Struct(_, fields) => {
                    for (k, part) in fields.iter().rev() {
                        let atom = self.project(part, &value, u32::try_from(*k).unwrap_or(0));
                        todo.push((atom, part));
                    }
                }
            }
        }
    }

    /// The first row matches: its guard decides, then its body.
    fn matched(&mut self, mut rows: Vec<Row>, ty: &CoreTy) -> Atom {
        let row = rows.remove(0);
        for (value, p) in &row.bound {
            self.bind_pattern(p, value.clone());
        }
        let Some(guard) = &row.arm.guard else { return self.expr(&row.arm.body) };
        let scrut = self.expr(guard);
        let then = self.block(|this| this.expr(&row.arm.body));
        let orelse = self.block(|this| this.rows(rows, ty));
        self.choose(ty.clone(), scrut, then, orelse)
    }

    /// A `case` on the constructors of an enum.
    fn switch(&mut self, value: Atom, ctor: CtorRef, of: &Ty, rows: &[Row], ty: &CoreTy) -> Atom {
        let ctors = self.c.arena.alternatives(of);
        debug_assert!(ctors.len() > ctor.tag as usize);
        let mut arms = vec![];
        for (tag, (_, payload)) in (0u32..).zip(&ctors) {
            let mut params: Vec<Var> = vec![];
            for t in payload {
                let core = self.ty(t);
                params.push(Var::new(core));
            }
            let atoms: Vec<Atom> = params.iter().map(Atom::from).collect();
            let left: Vec<Row> = rows.iter().filter_map(|r| keep_ctor(r, &value, tag, &atoms)).collect();
            let body: Block = self.block(|this| this.rows(left, ty));
            arms.push(Arm { params, body });
        }
        self.bind(ty.clone(), Expr::Case { scrut: value, arms })
    }
}

/// The row where the value is known to have this constructor, if it can match.
fn keep_ctor<'a>(row: &Row<'a>, value: &Atom, tag: u32, parts: &[Atom]) -> Option<Row<'a>> {
    let mut out = Row { tests: vec![], bound: row.bound.clone(), arm: row.arm };
    for (atom, p) in &row.tests {
        match &p.kind {
            TpKind::Ctor(ctor, ps) if atom == value => {
                if ctor.tag != tag {
                    return None;
                }
                out.tests.extend(parts.iter().cloned().zip(ps));
            }
            _ => out.tests.push((atom.clone(), p)),
        }
    }
    Some(out)
}

/// The row where the value is known to be (or not to be) this literal, if it can match.
fn keep_literal<'a>(row: &Row<'a>, value: &Atom, lit: &Lit, equal: bool) -> Option<Row<'a>> {
    let mut out = Row { tests: vec![], bound: row.bound.clone(), arm: row.arm };
    for (atom, p) in &row.tests {
        match &p.kind {
            TpKind::Lit(own) if atom == value => match (own == lit, equal) {
                (true, true) => {}
                (true, false) | (false, true) => return None,
                (false, false) => out.tests.push((atom.clone(), p)),
            },
            _ => out.tests.push((atom.clone(), p)),
        }
    }
    Some(out)
}
