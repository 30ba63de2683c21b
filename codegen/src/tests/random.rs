//! Random programs: tables, views, updates, sums, bundles, cells and accumulators in all combinations. The
//! three executors agree, and no buffer is left over.

use std::sync::Arc;

use adl_core::build::Builder;
use adl_core::ir::{Arm, Atom, Block, Expr, Func, FuncId, Keep, LoopKind, Program, RedOp, Var};
use adl_core::prim;
use adl_core::ty::{BOOL, BoxTy, F64, INT, Ix, PackTy, Ty};
use adl_diag::Span;

use super::compare;

/// A generator of small numbers: a step of a linear congruence (Knuth, MMIX).
struct Choice(u64);

impl Choice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }

    fn of<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }
}

/// The types that occur.
fn row() -> Ty {
    Ty::table(Atom::int(3), F64)
}
fn matrix() -> Ty {
    Ty::table(Atom::int(2), row())
}
fn sum() -> Ty {
    Ty::Sum(vec![vec![], vec![F64, row()], vec![F64], vec![bundle()]])
}
fn sums() -> Ty {
    Ty::table(Atom::int(2), sum())
}
fn bundle() -> Ty {
    let k = Var::new(INT);
    Ty::Pack(Arc::new(PackTy { sizes: vec![k.clone()], items: vec![Ty::table(Atom::from(&k), F64)] }))
}
fn bundles() -> Ty {
    Ty::table(Atom::int(2), bundle())
}
fn cells() -> Ty {
    Ty::table(Atom::int(2), Ty::Box(BoxTy::new(0)))
}
fn tys() -> Vec<Ty> {
    vec![
        F64,
        row(),
        row(),
        matrix(),
        matrix(),
        sum(),
        sums(),
        bundle(),
        bundles(),
        Ty::Box(BoxTy::new(0)),
        cells(),
    ]
}

struct Gen {
    choice: Choice,
    /// What is in scope.
    scope: Vec<Atom>,
    depth: usize,
    /// Functions that may be called: number, parameters, results.
    callees: Vec<(u32, Vec<Ty>, Vec<Ty>)>,
}

impl Gen {
    fn program(seed: u64) -> Program {
        let mut this = Gen { choice: Choice(seed), scope: vec![], depth: 0, callees: vec![] };
        let mut funcs = vec![];
        for number in (0..3).rev() {
            let params: Vec<Var> = tys().into_iter().skip(number % 2).step_by(2).map(Var::new).collect();
            let params = if number == 0 { vec![Var::new(F64), Var::new(row())] } else { params };
            this.scope = params.iter().map(Atom::from).collect();
            let results: Vec<Ty> = (0..3).map(|_| this.choice.of(&tys()).clone()).collect();
            let mut b = Builder::new(Span::default());
            let atoms = this.body(&mut b, 8, &results);
            let body = b.finish(atoms);
            let tys = params.iter().map(|p| p.ty().clone()).collect();
            this.callees.push((number as u32, tys, results));
            funcs.push(Func {
                name: format!("f{number}"),
                tparams: vec![],
                params,
                body,
                span: Span::default(),
            });
        }
        funcs.reverse();
        Program { funcs, boxes: vec![vec![row(), F64, sum()]], ..Program::default() }
    }

    /// Some statements, then one atom of each type.
    fn body(&mut self, b: &mut Builder, n: usize, results: &[Ty]) -> Vec<Atom> {
        for _ in 0..=self.choice.below(n) {
            self.stmt(b);
        }
        results.iter().map(|ty| self.atom(b, ty)).collect()
    }

    /// A block in a scope of its own.
    fn block(&mut self, b: &Builder, params: &[Var], results: &[Ty]) -> Block {
        let mark = self.scope.len();
        self.scope.extend(params.iter().map(Atom::from));
        self.depth += 1;
        let block = b.block(|b| self.body(b, 4, results));
        self.depth -= 1;
        self.scope.truncate(mark);
        block
    }

    fn bind(&mut self, b: &mut Builder, ty: &Ty, expr: Expr) -> Atom {
        let atom = b.bind(ty.clone(), expr);
        self.scope.push(atom.clone());
        atom
    }

    /// Something of this type: often what is there, else something new.
    fn atom(&mut self, b: &mut Builder, ty: &Ty) -> Atom {
        let known: Vec<Atom> = self.scope.iter().filter(|a| a.ty() == *ty).cloned().collect();
        if !known.is_empty() && self.choice.below(8) != 0 {
            return self.choice.of(&known).clone();
        }
        self.fresh(b, ty)
    }

    fn index(&mut self, n: usize) -> Atom {
        // Now and then out of bounds.
        let n = if self.choice.below(200) == 0 { n + 1 } else { n };
        Atom::int(self.choice.below(n) as i64)
    }

    fn fresh(&mut self, b: &mut Builder, ty: &Ty) -> Atom {
        let number = |this: &mut Self| Atom::f64(this.choice.below(9) as f64 - 2.5);
        if *ty == F64 {
            return number(self);
        }
        if *ty == sum() {
            let tag = self.choice.below(4) as u32;
            let Ty::Sum(alts) = ty else { unreachable!("a sum") };
            let args = alts[tag as usize].iter().map(|ty| self.atom(b, ty)).collect();
            return self.bind(b, ty, Expr::Inject { ty: ty.clone(), tag, args });
        }
        if *ty == bundle() {
            let Ty::Pack(pack) = ty else { unreachable!("a bundle") };
            let n = Atom::int(self.choice.below(4) as i64);
            let items = b.build(&n, |_, _| vec![number(self)]);
            return self.bind(b, ty, Expr::Pack { ty: pack.clone(), sizes: vec![n], items });
        }
        if *ty == Ty::Box(BoxTy::new(0)) {
            let args = [row(), F64, sum()].iter().map(|ty| self.atom(b, ty)).collect();
            return self.bind(b, ty, Expr::BoxNew { ty: BoxTy::new(0), args });
        }
        let Ty::Table(ix, elem) = ty else { unreachable!("a table") };
        if self.choice.below(4) == 0 {
            let Ix::Fin(n) = ix else { unreachable!("a size") };
            let items = (0..n.as_int().unwrap()).map(|_| self.atom(b, elem)).collect();
            return self.bind(b, ty, Expr::TableLit { elem: (**elem).clone(), items });
        }
        let var = Var::new(INT);
        let elem = (**elem).clone();
        let body = if self.depth < 3 {
            self.block(b, &[], &[elem])
        } else {
            b.block(|b| {
                let mark = self.scope.len();
                let atom = self.atom(b, &elem);
                self.scope.truncate(mark);
                vec![atom]
            })
        };
        self.bind(b, ty, Expr::For { ix: ix.clone(), var, body })
    }

    fn stmt(&mut self, b: &mut Builder) {
        match self.choice.below(if self.depth < 3 { 15 } else { 9 }) {
            0 => {
                let (x, y) = (self.atom(b, &F64), self.atom(b, &F64));
                let row = *self.choice.of(&[&prim::ADD, &prim::MUL, &prim::SUB, &prim::MAX]);
                self.bind(b, &F64, Expr::Prim(prim::Prim(row), vec![x, y]));
            }
            1 => {
                let table = self.atom(b, &row());
                let index = vec![self.index(3)];
                self.bind(b, &F64, Expr::Index { table, index, check: true });
            }
            2 => self.read(b),
            3 | 4 => self.update(b),
            5 => {
                let ty = self.choice.of(&tys()).clone();
                let atom = self.atom(b, &ty);
                self.bind(b, &ty, Expr::Atom(atom));
            }
            6 => {
                let bundle = self.atom(b, &bundle());
                let n = Var::new(INT);
                let items = Var::new(Ty::table(Atom::from(&n), F64));
                b.emit(vec![n.clone(), items.clone()], Expr::Open(bundle));
                let i = Var::new(INT);
                let body = b.block(|b| vec![b.index(&Atom::from(&items), &[Atom::from(&i)], true)]);
                let expr = Expr::Reduce { op: RedOp::Sum, ix: Ix::Fin(n.into()), var: i, body };
                self.bind(b, &F64, expr);
            }
            7 => {
                let cell = self.atom(b, &Ty::Box(BoxTy::new(0)));
                let parts = b.bind_all(&[row(), F64, sum()], Expr::Unbox(cell));
                self.scope.extend(parts);
            }
            8 => {
                let ty = self.choice.of(&tys()).clone();
                let atom = self.fresh(b, &ty);
                self.scope.push(atom);
            }
            9 => self.case(b),
            10 => self.repeat(b),
            11 => self.accumulate(b),
            12 => self.case_of_sum(b),
            13 => self.call(b),
            _ => {
                let i = Var::new(INT);
                let body = self.block(b, std::slice::from_ref(&i), &[F64]);
                let ix = Ix::Fin(Atom::int(3));
                self.bind(b, &F64, Expr::Reduce { op: RedOp::Sum, ix, var: i, body });
            }
        }
    }

    fn read(&mut self, b: &mut Builder) {
        let (table, elem) = self
            .choice
            .of(&[
                (matrix(), row()),
                (sums(), sum()),
                (bundles(), bundle()),
                (cells(), Ty::Box(BoxTy::new(0))),
            ])
            .clone();
        let table = self.atom(b, &table);
        let index = vec![self.index(2)];
        self.bind(b, &elem, Expr::Index { table, index, check: true });
    }

    fn update(&mut self, b: &mut Builder) {
        let choices = [
            (row(), F64, 3),
            (matrix(), row(), 2),
            (sums(), sum(), 2),
            (bundles(), bundle(), 2),
            (cells(), Ty::Box(BoxTy::new(0)), 2),
        ];
        let (ty, elem, n) = self.choice.of(&choices).clone();
        let (table, value, index) = (self.atom(b, &ty), self.atom(b, &elem), vec![self.index(n)]);
        self.bind(b, &ty, Expr::Update { table, index, value, check: true });
    }

    fn results(&mut self) -> Vec<Ty> {
        (0..=self.choice.below(2)).map(|_| self.choice.of(&tys()).clone()).collect()
    }

    fn case(&mut self, b: &mut Builder) {
        let (x, y, results) = (self.atom(b, &F64), self.atom(b, &F64), self.results());
        let cond = b.bind(BOOL, Expr::Prim(prim::Prim(&prim::LT), vec![x, y]));
        let arms = (0..2).map(|_| Arm { params: vec![], body: self.block(b, &[], &results) }).collect();
        let atoms = b.bind_all(&results, Expr::Case { scrut: cond, arms });
        self.scope.extend(atoms);
    }

    fn case_of_sum(&mut self, b: &mut Builder) {
        let (scrut, results) = (self.atom(b, &sum()), self.results());
        let Ty::Sum(alts) = sum() else { unreachable!("a sum") };
        let mut arms = vec![];
        for alt in alts {
            let params: Vec<Var> = alt.into_iter().map(Var::new).collect();
            let body = self.block(b, &params, &results);
            arms.push(Arm { params, body });
        }
        let atoms = b.bind_all(&results, Expr::Case { scrut, arms });
        self.scope.extend(atoms);
    }

    fn repeat(&mut self, b: &mut Builder) {
        let state = self.results();
        let collected = self.choice.of(&[F64, row(), sum(), bundle()]).clone();
        let init = state.iter().map(|ty| self.atom(b, ty)).collect();
        let vars: Vec<Var> = state.iter().cloned().map(Var::new).collect();
        let mut results = state.clone();
        results.push(collected.clone());
        let i = Var::new(INT);
        let mut inside = vars.clone();
        inside.push(i.clone());
        let body = self.block(b, &inside, &results);
        let reverse = self.choice.below(2) == 0;
        let mut outs = state;
        outs.push(Ty::table(Atom::int(2), collected));
        let kind = LoopKind::For { ix: Ix::Fin(Atom::int(2)), var: i, reverse };
        let atoms = b.bind_all(&outs, Expr::Loop { kind, state: vars, init, body, keep: Keep::All });
        self.scope.extend(atoms);
    }

    fn accumulate(&mut self, b: &mut Builder) {
        let acc = if self.choice.below(2) == 0 {
            Expr::AccNew(matrix())
        } else {
            Expr::AccFrom(self.atom(b, &matrix()))
        };
        let acc = b.bind(Ty::Acc(Box::new(matrix())), acc);
        let i = Var::new(INT);
        let mark = self.scope.len();
        self.scope.push(Atom::from(&i));
        self.depth += 1;
        let body = b.block(|b| {
            let (x, value) = (self.atom(b, &F64), self.atom(b, &row()));
            let index = vec![Atom::from(&i)];
            b.emit(vec![], Expr::AccAdd { acc: acc.clone(), index, value, check: true });
            let view = Expr::AccView { acc: acc.clone(), index: vec![Atom::int(1)], check: true };
            let view = b.bind(Ty::Acc(Box::new(row())), view);
            b.emit(vec![], Expr::AccAdd { acc: view, index: vec![Atom::int(2)], value: x, check: true });
            vec![]
        });
        self.depth -= 1;
        self.scope.truncate(mark);
        b.emit(vec![], Expr::For { ix: Ix::Fin(Atom::int(2)), var: i, body });
        self.bind(b, &matrix(), Expr::AccFreeze(acc));
    }

    fn call(&mut self, b: &mut Builder) {
        if self.callees.is_empty() {
            return;
        }
        let (number, params, results) = self.choice.of(&self.callees.clone()).clone();
        let args = params.iter().map(|ty| self.atom(b, ty)).collect();
        let expr = Expr::Call { func: FuncId(number), tys: vec![], args, checkpoint: false };
        let atoms = b.bind_all(&results, expr);
        self.scope.extend(atoms);
    }
}

#[test]
fn three_executors_agree_on_random_programs() {
    let n = if std::env::var_os("ADL_SLOW").is_some() { 1500 } else { 60 };
    for seed in 0..n {
        let program = Gen::program(seed * 977 + 13);
        assert_eq!(adl_core::lint::program(&program).err().map(|e| format!("{e:?}")), None, "seed {seed}");
        let args = [super::Value::F64(1.5), super::floats(&[1.0, -2.0, 3.0])];
        // A failure is as good as a value, as long as it is the same.
        let _ = compare(&program, &args, &format!("seed {seed}"));
    }
}
