//! Random first-order programs from a list of small choices, so that shrinking the list shrinks the program and
//! every intermediate program is well formed.
//!
//! All values stay tame: results pass through `sin` or `tanh`, so that tests of meaning are not tests of overflow.

use adl_core::build::Builder;
use adl_core::ir::{Arm, Atom, Block, Expr, Func, Keep, LoopKind, Program, RedOp, Var};
use adl_core::prim::{self, PrimDef};
use adl_core::ty::{F64, INT, Ix, Ty};
use adl_core::value::{Table, Value};

/// What a generated program contains, for counting what tests reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// By form: `for`, reduce, loop, while, case, call, accumulator, update, contraction, sum type.
    pub forms: [usize; 10],
}

const NAMES: [&str; 10] =
    ["for", "reduce", "loop", "while", "case", "call", "accumulator", "update", "contract", "inject"];

impl Reached {
    /// Adds the counts of another program.
    pub fn add(&mut self, other: Reached) {
        for (a, b) in self.forms.iter_mut().zip(other.forms) {
            *a += b;
        }
    }
    /// Forms that were never reached.
    pub fn missing(&self) -> Vec<&'static str> {
        NAMES.iter().zip(self.forms).filter(|(_, n)| *n == 0).map(|(name, _)| *name).collect()
    }
}

/// Smooth rows, safe for every operand.
const UNARY: &[&PrimDef] =
    &[&prim::SIN, &prim::COS, &prim::TANH, &prim::SIGMOID, &prim::ATAN, &prim::NEG, &prim::SOFTPLUS];
const BINARY: &[&PrimDef] = &[&prim::ADD, &prim::SUB, &prim::MUL, &prim::ATAN2];

/// A program whose last function takes `(n: Int, x: F64, xs: [n]F64)`, gives F64s, and may call the others.
pub fn program(choices: &[u8]) -> (Program, Reached) {
    let mut g = Gen { choices, at: 0, program: Program::default(), reached: Reached::default() };
    for k in 0..g.pick(3) {
        g.function(&format!("g{k}"), 4);
    }
    g.function("f", 8);
    (g.program, g.reached)
}

/// Arguments for such a function: a table of `n` numbers.
pub fn arguments(n: usize, seed: u8) -> Vec<Value> {
    let at = |k: usize| ((k * 37 + usize::from(seed) * 11) % 101) as f64 / 101.0 - 0.45;
    let xs: Vec<f64> = (1..=n).map(at).collect();
    vec![Value::Int(i64::try_from(n).expect("small")), Value::F64(at(0)), Value::Table(Table::of_f64(&xs))]
}

struct Gen<'a> {
    choices: &'a [u8],
    at: usize,
    program: Program,
    reached: Reached,
}

/// What is in scope: floats, and tables of `n` floats.
#[derive(Clone)]
struct Scope {
    n: Atom,
    floats: Vec<Atom>,
    tables: Vec<Atom>,
    depth: usize,
}

impl Gen<'_> {
    /// A choice below `n`; 0 when the list has run out.
    fn pick(&mut self, n: usize) -> usize {
        let c = self.choices.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(c) % n
    }

    fn one(&mut self, of: &[Atom]) -> Atom {
        let k = self.pick(of.len());
        of[of.len() - 1 - k].clone()
    }

    fn function(&mut self, name: &str, steps: usize) {
        let n = Var::new(INT);
        let x = Var::new(F64);
        let xs = Var::new(Ty::table(Atom::from(&n), F64));
        let mut scope = Scope {
            n: Atom::from(&n),
            floats: vec![Atom::f64(0.7), Atom::from(&x)],
            tables: vec![Atom::from(&xs)],
            depth: 0,
        };
        let mut b = Builder::default();
        for _ in 0..steps {
            self.step(&mut b, &mut scope);
        }
        // Everything counts, so that nothing is dead.
        let total = self.total(&mut b, &scope);
        let func = Func {
            name: name.to_string(),
            tparams: vec![],
            params: vec![n, x, xs],
            body: b.finish(vec![total]),
            span: Default::default(),
        };
        self.program.funcs.push(func);
    }

    /// A tame number that depends on the last values in scope.
    fn total(&mut self, b: &mut Builder, scope: &Scope) -> Atom {
        let table = scope.tables[scope.tables.len() - 1].clone();
        let sum = b.reduce(RedOp::Sum, &scope.n, |b, i| b.index(&table, &[i], false));
        let last = scope.floats[scope.floats.len() - 1].clone();
        let both = b.prim(&prim::ADD, &[sum, last]);
        b.prim(&prim::SIN, &[both])
    }

    fn step(&mut self, b: &mut Builder, scope: &mut Scope) {
        if 2 < scope.depth {
            return self.scalar(b, scope);
        }
        match self.pick(12) {
            0 | 1 => self.scalar(b, scope),
            2 | 3 => self.build(b, scope),
            4 => self.reduce(b, scope),
            5 => self.looped(b, scope),
            6 => self.whiled(b, scope),
            7 => self.case(b, scope),
            8 => self.call(b, scope),
            9 => self.accumulate(b, scope),
            10 => self.update(b, scope),
            _ => {
                if self.pick(2) == 0 {
                    self.contract(b, scope);
                } else {
                    self.sum_type(b, scope);
                }
            }
        }
    }

    fn scalar(&mut self, b: &mut Builder, scope: &mut Scope) {
        let x = self.one(&scope.floats);
        let k = self.pick(UNARY.len() + BINARY.len());
        let y = if k < UNARY.len() {
            b.prim(UNARY[k], &[x])
        } else {
            let z = self.one(&scope.floats);
            let w = b.prim(BINARY[k - UNARY.len()], &[x, z]);
            // atan2 has no derivative at the origin; sums and products grow.
            b.prim(&prim::TANH, &[w])
        };
        scope.floats.push(y);
    }

    /// Some statements in a nested block, and a number they give.
    fn inner(&mut self, b: &mut Builder, scope: &Scope, extra: &[Atom]) -> Atom {
        let mut scope = scope.clone();
        scope.depth += 1;
        scope.floats.extend(extra.iter().cloned());
        for _ in 0..=self.pick(3) {
            self.step(b, &mut scope);
        }
        let x = scope.floats[scope.floats.len() - 1].clone();
        let y = self.one(&scope.floats);
        let z = b.prim(&prim::ADD, &[x, y]);
        b.prim(&prim::TANH, &[z])
    }

    fn element(&mut self, b: &mut Builder, scope: &Scope, i: &Atom) -> Atom {
        let t = self.one(&scope.tables);
        b.index(&t, std::slice::from_ref(i), false)
    }

    fn build(&mut self, b: &mut Builder, scope: &mut Scope) {
        self.reached.forms[0] += 1;
        let (n, outer) = (scope.n.clone(), scope.clone());
        let t = b.build(&n, |b, i| {
            let x = self.element(b, &outer, &i);
            vec![self.inner(b, &outer, &[x])]
        });
        scope.tables.extend(t);
    }

    fn reduce(&mut self, b: &mut Builder, scope: &mut Scope) {
        self.reached.forms[1] += 1;
        let op = [RedOp::Sum, RedOp::Max, RedOp::Prod, RedOp::Min][self.pick(4)].clone();
        let (n, outer) = (scope.n.clone(), scope.clone());
        let y = b.reduce(op, &n, |b, i| {
            let x = self.element(b, &outer, &i);
            self.inner(b, &outer, &[x])
        });
        scope.floats.push(b.prim(&prim::TANH, &[y]));
    }

    fn looped(&mut self, b: &mut Builder, scope: &mut Scope) {
        self.reached.forms[2] += 1;
        let init = self.one(&scope.floats);
        let (state, i) = (Var::new(F64), Var::new(INT));
        let reverse = self.pick(2) == 1;
        let outer = scope.clone();
        let body = b.block(|b| {
            let x = self.element(b, &outer, &Atom::from(&i));
            let y = self.inner(b, &outer, &[x, Atom::from(&state)]);
            vec![y.clone(), y]
        });
        let kind = LoopKind::For { ix: Ix::Fin(scope.n.clone()), var: i, reverse };
        let expr = Expr::Loop { kind, state: vec![state], init: vec![init], body, keep: Keep::All };
        let out = b.bind_all(&[F64, Ty::table(scope.n.clone(), F64)], expr);
        scope.floats.push(out[0].clone());
        scope.tables.push(out[1].clone());
    }

    fn whiled(&mut self, b: &mut Builder, scope: &mut Scope) {
        self.reached.forms[3] += 1;
        let init = self.one(&scope.floats);
        let bound = Atom::int(1 + i64::try_from(self.pick(3)).expect("small"));
        let (state, count) = (Var::new(F64), Var::new(INT));
        let (p, q) = (Var::new(F64), Var::new(INT));
        let cond = b.block(|b| vec![b.prim(&prim::LT, &[Atom::from(&q), bound])]);
        let outer = scope.clone();
        let body = b.block(|b| {
            let y = self.inner(b, &outer, &[Atom::from(&state)]);
            let next = b.prim(&prim::ADD, &[Atom::from(&count), Atom::int(1)]);
            vec![y, next]
        });
        let kind = LoopKind::While { params: vec![p, q], cond };
        let expr = Expr::Loop {
            kind,
            state: vec![state, count],
            init: vec![init, Atom::int(0)],
            body,
            keep: Keep::All,
        };
        let out = b.bind_all(&[F64, INT, INT], expr);
        scope.floats.push(out[0].clone());
    }

    fn case(&mut self, b: &mut Builder, scope: &mut Scope) {
        self.reached.forms[4] += 1;
        let x = self.one(&scope.floats);
        let below = b.prim(&prim::LT, &[x, Atom::f64(0.1)]);
        let outer = scope.clone();
        let arms = (0..2)
            .map(|_| Arm { params: vec![], body: b.block(|b| vec![self.inner(b, &outer, &[])]) })
            .collect();
        let y = b.bind(F64, Expr::Case { scrut: below, arms });
        scope.floats.push(y);
        if self.pick(2) == 0 && 1 < scope.tables.len() {
            // A choice between tables is an alias, not a copy.
            let (s, t) = (self.one(&scope.tables), self.one(&scope.tables));
            let some = b.prim(&prim::LT, &[Atom::f64(0.0), scope.floats[scope.floats.len() - 1].clone()]);
            let arm = |t: Atom| Arm { params: vec![], body: Block { stmts: vec![], results: vec![t] } };
            let ty = Ty::table(scope.n.clone(), F64);
            scope.tables.push(b.bind(ty, Expr::Case { scrut: some, arms: vec![arm(s), arm(t)] }));
        }
    }

    fn call(&mut self, b: &mut Builder, scope: &mut Scope) {
        if self.program.funcs.is_empty() {
            return self.scalar(b, scope);
        }
        self.reached.forms[5] += 1;
        let k = self.pick(self.program.funcs.len());
        let (x, t) = (self.one(&scope.floats), self.one(&scope.tables));
        let id = adl_core::ir::FuncId(u32::try_from(k).expect("few"));
        let func = self.program.funcs[k].clone();
        scope.floats.extend(b.call(id, &func, vec![scope.n.clone(), x, t]));
    }

    fn accumulate(&mut self, b: &mut Builder, scope: &mut Scope) {
        self.reached.forms[6] += 1;
        let ty = Ty::table(scope.n.clone(), F64);
        let acc = b.bind(Ty::Acc(Box::new(ty.clone())), Expr::AccNew(ty.clone()));
        let (n, outer) = (scope.n.clone(), scope.clone());
        let i = Var::new(INT);
        let body = b.block(|b| {
            let x = self.element(b, &outer, &Atom::from(&i));
            let value = self.inner(b, &outer, &[x]);
            let twice = b.prim(&prim::MUL, &[Atom::from(&i), Atom::int(2)]);
            let place = b.prim(&prim::INT_MOD, &[twice, n.clone()]);
            b.emit(vec![], Expr::AccAdd { acc: acc.clone(), index: vec![place], value, check: false });
            vec![]
        });
        b.emit(vec![], Expr::For { ix: Ix::Fin(scope.n.clone()), var: i, body });
        if self.pick(2) == 0 {
            let whole = self.one(&scope.tables);
            b.emit(vec![], Expr::AccAdd { acc: acc.clone(), index: vec![], value: whole, check: false });
        }
        scope.tables.push(b.bind(ty, Expr::AccFreeze(acc)));
    }

    /// A loop that updates a table in place, reading it as it goes.
    fn update(&mut self, b: &mut Builder, scope: &mut Scope) {
        self.reached.forms[7] += 1;
        let ty = Ty::table(scope.n.clone(), F64);
        let init = self.one(&scope.tables);
        let (state, i) = (Var::new(ty.clone()), Var::new(INT));
        let outer = scope.clone();
        let body = b.block(|b| {
            let old = b.index(&Atom::from(&state), &[Atom::from(&i)], false);
            let first = b.index(&Atom::from(&state), &[Atom::int(0)], true);
            let value = self.inner(b, &outer, &[old, first]);
            let expr =
                Expr::Update { table: Atom::from(&state), index: vec![Atom::from(&i)], value, check: false };
            vec![b.bind(ty.clone(), expr)]
        });
        let kind = LoopKind::For { ix: Ix::Fin(scope.n.clone()), var: i, reverse: false };
        let expr = Expr::Loop { kind, state: vec![state], init: vec![init], body, keep: Keep::All };
        scope.tables.push(b.bind(ty, expr));
    }

    fn contract(&mut self, b: &mut Builder, scope: &mut Scope) {
        self.reached.forms[8] += 1;
        let (s, t) = (self.one(&scope.tables), self.one(&scope.tables));
        let spec = adl_core::ir::Axes { a: vec![0], b: vec![0], out: vec![] };
        let y = b.bind(F64, Expr::Contract { a: s, b: t, spec });
        scope.floats.push(b.prim(&prim::TANH, &[y]));
    }

    /// A value of a sum type, made in a branch and taken apart.
    fn sum_type(&mut self, b: &mut Builder, scope: &mut Scope) {
        self.reached.forms[9] += 1;
        let table = Ty::table(scope.n.clone(), F64);
        let with_table = self.pick(2) == 0;
        let second = if with_table { vec![F64, table] } else { vec![F64, F64] };
        let ty = Ty::Sum(vec![vec![F64], second]);
        let (x, y, t) = (self.one(&scope.floats), self.one(&scope.floats), self.one(&scope.tables));
        let cond = b.prim(&prim::LT, &[x.clone(), y.clone()]);
        let make = |tag: u32, args: Vec<Atom>, ty: &Ty| {
            let ty = ty.clone();
            move |b: &mut Builder| vec![b.bind(ty.clone(), Expr::Inject { ty, tag, args })]
        };
        let payload = if with_table { vec![y.clone(), t] } else { vec![y.clone(), x.clone()] };
        let v = b
            .branch(cond, std::slice::from_ref(&ty), make(0, vec![x], &ty), make(1, payload, &ty))
            .swap_remove(0);
        let p = Var::new(F64);
        let first = b.block(|b| vec![b.prim(&prim::SIN, &[Atom::from(&p)])]);
        let (q, r) =
            (Var::new(F64), Var::new(if with_table { Ty::table(scope.n.clone(), F64) } else { F64 }));
        let n = scope.n.clone();
        let second = b.block(|b| {
            let z = if with_table {
                b.reduce(RedOp::Sum, &n, |b, i| b.index(&Atom::from(&r), &[i], false))
            } else {
                Atom::from(&r)
            };
            let w = b.prim(&prim::MUL, &[Atom::from(&q), z]);
            vec![b.prim(&prim::TANH, &[w])]
        });
        let arms = vec![Arm { params: vec![p], body: first }, Arm { params: vec![q, r], body: second }];
        let out = b.bind(F64, Expr::Case { scrut: v, arms });
        scope.floats.push(out);
    }
}
