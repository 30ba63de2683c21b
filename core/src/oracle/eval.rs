//! The evaluator: walks the tree of a function, block by block.

use std::collections::HashMap;
use std::mem;

use adl_diag::Span;

use super::Stop;
use super::num::{Leaf, Num, Real};
use super::reduce;
use super::value::Val;
use crate::ir::{Arm, Atom, Block, Expr, FuncId, Lit, LoopKind, Program, RedOp, Stmt, Var};
use crate::prim::S;
use crate::run::fail;
use crate::ty::{Ix, Scalar, Ty};

/// How deep calls and blocks may nest: the evaluator uses the stack of the process.
const MAX_DEPTH: u32 = 300;

/// What a statement or block gives.
pub(super) type Vals<N> = Result<Vec<Val<N>>, Stop>;

/// A run.
pub(super) struct Eval<'p, N: Num> {
    pub(super) program: &'p Program,
    pub(super) store: &'p mut N::Store,
    /// The variables of the function that runs.
    env: HashMap<Var, Val<N>>,
    /// What accumulators hold.
    pub(super) accs: Vec<Val<N>>,
    depth: u32,
}

impl<'p, N: Num> Eval<'p, N> {
    /// Runs a function.
    pub(super) fn run(
        program: &'p Program,
        store: &'p mut N::Store,
        func: FuncId,
        args: Vec<Val<N>>,
    ) -> Vals<N> {
        let mut eval = Eval { program, store, env: HashMap::new(), accs: vec![], depth: 0 };
        eval.call(func, args)
    }

    /// Runs a block of one scalar result by itself.
    pub(super) fn scratch(
        program: &'p Program,
        store: &'p mut N::Store,
        given: impl IntoIterator<Item = (Var, Leaf<N>)>,
        block: &Block,
    ) -> Result<Leaf<N>, Stop> {
        let env = given.into_iter().map(|(var, leaf)| (var, Val::Leaf(leaf))).collect();
        let mut eval = Eval { program, store, env, accs: vec![], depth: 0 };
        one(eval.block(block)?)?.into_leaf()
    }

    fn call(&mut self, func: FuncId, args: Vec<Val<N>>) -> Vals<N> {
        let Some(func) = self.program.funcs.get(func.0 as usize) else {
            return Err(Stop::ill_formed("a call of no function"));
        };
        let outer = mem::take(&mut self.env);
        self.bind(&func.params, args)?;
        let results = self.block(&func.body);
        self.env = outer;
        results
    }

    pub(super) fn block(&mut self, block: &Block) -> Vals<N> {
        if MAX_DEPTH < self.depth {
            return Err(Stop::NotCovered(format!("more than {MAX_DEPTH} calls and blocks in each other")));
        }
        self.depth += 1;
        for stmt in &block.stmts {
            let values = self.stmt(stmt).map_err(|stop| stop.at(stmt.span))?;
            self.bind(&stmt.vars, values)?;
        }
        self.depth -= 1;
        self.atoms(&block.results)
    }

    pub(super) fn bind(&mut self, vars: &[Var], values: Vec<Val<N>>) -> Result<(), Stop> {
        if vars.len() != values.len() {
            let message = format!("{} variables take {} values", vars.len(), values.len());
            return Err(Stop::ill_formed(&message));
        }
        self.env.extend(vars.iter().cloned().zip(values));
        Ok(())
    }

    pub(super) fn atom(&self, atom: &Atom) -> Result<Val<N>, Stop> {
        Ok(Val::Leaf(match atom {
            Atom::Var(var) => {
                let found = self.env.get(var).cloned();
                return found.ok_or_else(|| Stop::ill_formed("a variable that is not bound"));
            }
            Atom::Lit(Lit::F64(x)) => Leaf::Float(N::constant(Real::F64(*x))),
            Atom::Lit(Lit::F32(x)) => Leaf::Float(N::constant(Real::F32(*x))),
            Atom::Lit(Lit::Int(k)) => Leaf::Other(S::Int(*k)),
            Atom::Lit(Lit::Bool(b)) => Leaf::Other(S::Bool(*b)),
            Atom::Lit(Lit::Str(text)) => Leaf::Other(S::Str(text.clone())),
            Atom::Lit(Lit::Unit) => return Err(Stop::ill_formed("`()` in first-order Core")),
        }))
    }

    pub(super) fn atoms(&self, atoms: &[Atom]) -> Vals<N> {
        atoms.iter().map(|atom| self.atom(atom)).collect()
    }

    /// The size of an index set.
    pub(super) fn size(&self, ix: &Ix) -> Result<usize, Stop> {
        let n = match ix {
            Ix::Fin(atom) => self.atom(atom)?.as_int()?,
            Ix::Poly(_) | Ix::Unit | Ix::Bool | Ix::Enum(_) | Ix::Tuple(_) | Ix::Var(_) => {
                return Err(Stop::ill_formed("an index set of higher-order Core"));
            }
        };
        usize::try_from(n).map_err(|_| Stop::Failed(fail::negative_size(Span::default(), n)))
    }

    /// The size in a type: as [`Eval::size`], but 0 where a bundle has yet to say it.
    pub(super) fn size_in_type(&self, ix: &Ix) -> Result<usize, Stop> {
        let open = matches!(ix, Ix::Fin(Atom::Var(var)) if !self.env.contains_key(var));
        if open { Ok(0) } else { self.size(ix) }
    }

    fn stmt(&mut self, stmt: &Stmt) -> Vals<N> {
        if let Expr::Case { scrut, arms } = &stmt.expr {
            self.case(scrut, arms)
        } else if let Expr::For { ix, var, body } = &stmt.expr {
            let n = self.size(ix)?;
            let columns = self.columns(n, var, body)?;
            Ok(columns.into_iter().map(Val::table).collect())
        } else if let Expr::Reduce { op, ix, var, body } = &stmt.expr {
            let n = self.size(ix)?;
            self.reduce(op, n, var, body, &stmt.vars)
        } else if let Expr::Prefix { op, ix, var, body } = &stmt.expr {
            let n = self.size(ix)?;
            self.prefix(op, n, var, body)
        } else if let Expr::Loop { kind, state, init, body, keep: _ } = &stmt.expr {
            let init = self.atoms(init)?;
            match kind {
                LoopKind::For { ix, var, reverse } => {
                    let n = self.size(ix)?;
                    self.loop_for(n, var, *reverse, (state, init), body)
                }
                LoopKind::While { params, cond } => self.loop_while(params, cond, (state, init), body),
            }
        } else if let Expr::Call { func, tys: _, args, checkpoint: _ } = &stmt.expr {
            let args = self.atoms(args)?;
            self.call(*func, args)
        } else {
            self.simple(stmt)
        }
    }

    fn case(&mut self, scrut: &Atom, arms: &[Arm]) -> Vals<N> {
        let (arm, payload) = match self.atom(scrut)? {
            Val::Leaf(Leaf::Other(S::Bool(b))) => (usize::from(b), vec![]),
            Val::Leaf(Leaf::Other(S::Int(k))) => (usize::try_from(k).unwrap_or(usize::MAX), vec![]),
            Val::Sum(tag, payload) => (tag as usize, payload.to_vec()),
            other @ (Val::Leaf(_) | Val::Table(_) | Val::Pack(..) | Val::Cell(_) | Val::Acc(_)) => {
                return Err(Stop::ill_formed(&format!("a case on {}", other.kind())));
            }
        };
        let Some(arm) = arms.get(arm) else { return Err(Stop::ill_formed("a case without its arm")) };
        self.bind(&arm.params, payload)?;
        self.block(&arm.body)
    }

    /// What a body gives for each index: a column a result.
    fn columns(&mut self, n: usize, var: &Var, body: &Block) -> Result<Vec<Vec<Val<N>>>, Stop> {
        let mut columns = vec![vec![]; body.results.len()];
        for i in 0..n {
            self.bind(std::slice::from_ref(var), vec![Val::int(i as i64)])?;
            for (column, value) in columns.iter_mut().zip(self.block(body)?) {
                column.push(value);
            }
        }
        Ok(columns)
    }

    fn reduce(&mut self, op: &RedOp, n: usize, var: &Var, body: &Block, vars: &[Var]) -> Vals<N> {
        let columns = self.columns(n, var, body)?;
        if let RedOp::Custom { .. } = op {
            let mut rows = self.run_on(op, n, &columns)?;
            return rows.pop().ok_or_else(|| Stop::ill_formed("a reduction without its unit"));
        }
        let each = columns.into_iter().zip(vars);
        each.map(|(column, var)| reduce::fold(self.store, op, &column, scalar_of(var.ty())?)).collect()
    }

    fn prefix(&mut self, op: &RedOp, n: usize, var: &Var, body: &Block) -> Vals<N> {
        let columns = self.columns(n, var, body)?;
        if let RedOp::Custom { .. } = op {
            let rows = self.run_on(op, n, &columns)?;
            let column = |k: usize| Val::table(rows.iter().skip(1).map(|row| row[k].clone()).collect());
            return Ok((0..columns.len()).map(column).collect());
        }
        let mut tables = vec![];
        for (column, result) in columns.iter().zip(&body.results) {
            let scalar = scalar_of(&result.ty())?;
            // Each prefix is a reduction of its own.
            let prefixes = (1..=n).map(|k| reduce::fold(self.store, op, &column[..k], scalar));
            tables.push(Val::table(prefixes.collect::<Vals<N>>()?));
        }
        Ok(tables)
    }

    /// The unit of a custom reduction, and what it has become after each row.
    fn run_on(&mut self, op: &RedOp, n: usize, columns: &[Vec<Val<N>>]) -> Result<Vec<Vec<Val<N>>>, Stop> {
        let RedOp::Custom { unit, left, right, body } = op else { return Ok(vec![]) };
        let mut state = self.atoms(unit)?;
        let mut rows = vec![state.clone()];
        for i in 0..n {
            self.bind(left, state)?;
            self.bind(right, columns.iter().map(|column| column[i].clone()).collect())?;
            state = self.block(body)?;
            rows.push(state.clone());
        }
        Ok(rows)
    }

    fn loop_for(
        &mut self,
        n: usize,
        var: &Var,
        reverse: bool,
        (state, init): (&[Var], Vec<Val<N>>),
        body: &Block,
    ) -> Vals<N> {
        let mut now = init;
        let mut rows = vec![];
        for round in 0..n {
            let i = if reverse { n - 1 - round } else { round };
            self.bind(std::slice::from_ref(var), vec![Val::int(i as i64)])?;
            let Round { next, kept } = self.round(state, now, body)?;
            now = next;
            rows.push(kept);
        }
        // What is collected stands at the index of its round.
        if reverse {
            rows.reverse();
        }
        now.extend(transposed(rows, body.results.len().saturating_sub(state.len())));
        Ok(now)
    }

    fn loop_while(
        &mut self,
        params: &[Var],
        cond: &Block,
        (state, init): (&[Var], Vec<Val<N>>),
        body: &Block,
    ) -> Vals<N> {
        let mut now = init;
        let mut rows = vec![];
        loop {
            self.bind(params, now.clone())?;
            if !one(self.block(cond)?)?.as_bool()? {
                break;
            }
            let Round { next, kept } = self.round(state, now, body)?;
            now = next;
            rows.push(kept);
        }
        now.push(Val::int(rows.len() as i64));
        now.extend(transposed(rows, body.results.len().saturating_sub(state.len())));
        Ok(now)
    }

    /// One round of a loop.
    fn round(&mut self, state: &[Var], now: Vec<Val<N>>, body: &Block) -> Result<Round<N>, Stop> {
        self.bind(state, now)?;
        let mut next = self.block(body)?;
        if next.len() < state.len() {
            return Err(Stop::ill_formed("a loop body that does not give its state"));
        }
        let kept = next.split_off(state.len());
        Ok(Round { next, kept })
    }
}

/// What a round of a loop gives.
struct Round<N> {
    next: Vec<Val<N>>,
    kept: Vec<Val<N>>,
}

/// The only value.
pub(super) fn one<N>(mut values: Vec<Val<N>>) -> Result<Val<N>, Stop> {
    match (values.pop(), values.is_empty()) {
        (Some(value), true) => Ok(value),
        (Some(_) | None, _) => Err(Stop::ill_formed("not one value")),
    }
}

/// Rows of `width` values each as tables of them.
fn transposed<N: Num>(rows: Vec<Vec<Val<N>>>, width: usize) -> Vec<Val<N>> {
    let mut columns = vec![vec![]; width];
    for row in rows {
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    columns.into_iter().map(Val::table).collect()
}

fn scalar_of(ty: &Ty) -> Result<Scalar, Stop> {
    ty.scalar().ok_or_else(|| Stop::ill_formed("a reduction of what is no scalar"))
}
