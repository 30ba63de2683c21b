//! Each form, run on small programs.

use std::sync::Arc;

use adl_diag::{Code, Span};

use super::Interp;
use crate::build::Builder;
use crate::host::Closed;
use crate::ir::{
    Arm, Atom, Axes, Block, Effect, Expr, Fmt, Func, FuncId, Keep, Lit, LoopKind, Program, RedOp, Stmt, Var,
};
use crate::prim;
use crate::run::{Counts, Limits, RuntimeError};
use crate::ty::{BOOL, F64, INT, Ix, PackTy, STR, Scalar, Ty};
use crate::value::{Leaves, Table, Value};

/// A function of parameters of these types.
fn func(name: &str, params: &[Var], body: impl FnOnce(&mut Builder, &[Atom]) -> Vec<Atom>) -> Func {
    let mut b = Builder::new(Span::default());
    let atoms: Vec<Atom> = params.iter().map(Atom::from).collect();
    let results = body(&mut b, &atoms);
    let body = b.finish(results);
    Func { name: name.into(), tparams: vec![], params: params.to_vec(), body, span: Span::default() }
}

fn run_all(
    funcs: Vec<Func>,
    args: Vec<Value>,
    limits: &Limits,
) -> Result<(Vec<Value>, Counts, Closed), RuntimeError> {
    let program = Program { funcs, ..Program::default() };
    let mut host = Closed::default();
    let outcome = Interp::new(&program).run(FuncId(0), args, &mut host, limits)?;
    Ok((outcome.values, outcome.counts, host))
}

fn run(f: Func, args: Vec<Value>) -> Vec<Value> {
    run_all(vec![f], args, &Limits::default()).unwrap().0
}

fn fails(f: Func, args: Vec<Value>) -> Code {
    run_all(vec![f], args, &Limits::default()).unwrap_err().code
}

#[track_caller]
fn same(got: &[Value], want: &[Value]) {
    let equal = got.len() == want.len() && got.iter().zip(want).all(|(x, y)| x.same(y));
    assert!(equal, "{got:?} is not {want:?}");
}

fn floats(xs: &[f64]) -> Value {
    Table::of_f64(xs).into()
}

fn sized() -> (Var, Var) {
    let n = Var::named("n", INT);
    let xs = Var::named("xs", Ty::table(Atom::from(&n), F64));
    (n, xs)
}

/// Marks the last statement of a block as the last use of a variable.
fn dies(b: &mut Builder, atom: &Atom) {
    let var = atom.var().unwrap().clone();
    b.stmts.last_mut().unwrap().dies.push(var);
}

#[test]
fn tables_are_built_indexed_and_nested() {
    let (n, xs) = sized();
    let f = func("f", &[n, xs], |b, p| {
        b.build(&p[0].clone(), |b, i| {
            b.build(&Atom::int(2), |b, j| {
                let x = b.index(&p[1], std::slice::from_ref(&i), true);
                let j = b.float_of(j, Scalar::F64);
                vec![b.prim(&prim::MUL, &[x, j])]
            })
        })
    });
    let got = run(f.clone(), vec![Value::Int(2), floats(&[3.0, 5.0])]);
    same(&got, &[Table::new(&[2, 2], Leaves::F64(vec![0.0, 3.0, 0.0, 5.0])).into()]);
    // No element is made, and the inner size is still there.
    same(&run(f, vec![Value::Int(0), floats(&[])]), &[Table::new(&[0, 2], Leaves::F64(vec![])).into()]);
}

#[test]
fn sums_follow_the_fixed_order() {
    let (n, xs) = sized();
    let f = func("f", &[n, xs], |b, p| {
        let read = |b: &mut Builder, i: Atom| b.index(&p[1], &[i], false);
        let ops = [RedOp::Sum, RedOp::Prod, RedOp::Min, RedOp::Max];
        ops.into_iter().map(|op| b.reduce(op, &p[0], read)).collect()
    });
    let data: Vec<f64> = (0..10_000).map(|k| 1.0 + f64::from(k % 7) * 1e-5).collect();
    let got = run(f.clone(), vec![Value::Int(10_000), floats(&data)]);
    let (sum, prod) = (adl_math::order::sum(&data), adl_math::order::prod(&data));
    same(&got, &[sum.into(), prod.into(), 1.0.into(), (1.0 + 6.0 * 1e-5).into()]);
    assert_eq!(fails(f, vec![Value::Int(0), floats(&[])]), Code::E0708);
}

#[test]
fn a_custom_reduction_and_its_prefixes_run_in_order() {
    let n = Var::new(INT);
    let f = func("f", &[n], |b, p| {
        let custom = |b: &Builder| {
            let (left, right) = (Var::new(INT), Var::new(INT));
            let body = b.block(|b| {
                let ten = b.prim(&prim::MUL, &[Atom::from(&left), Atom::int(10)]);
                vec![b.prim(&prim::ADD, &[ten, Atom::from(&right)])]
            });
            RedOp::Custom { unit: vec![Atom::int(0)], left: vec![left], right: vec![right], body }
        };
        let op = custom(b);
        let digits = b.reduce(op, &p[0], |b, i| b.prim(&prim::ADD, &[i, Atom::int(1)]));
        let (op, var) = (custom(b), Var::new(INT));
        let body = Block { stmts: vec![], results: vec![Atom::from(&var)] };
        let table = Ty::table(p[0].clone(), INT);
        let prefixes = b.bind(table.clone(), Expr::Prefix { op, ix: Ix::Fin(p[0].clone()), var, body });
        let var = Var::new(INT);
        let body = Block { stmts: vec![], results: vec![Atom::from(&var)] };
        let sums = b.bind(table, Expr::Prefix { op: RedOp::Sum, ix: Ix::Fin(p[0].clone()), var, body });
        vec![digits, prefixes, sums]
    });
    let table = |xs: &[i64]| Value::from(Table::of_int(xs));
    same(&run(f, vec![Value::Int(4)]), &[Value::Int(1234), table(&[0, 1, 12, 123]), table(&[0, 1, 3, 6])]);
}

/// `loop x = x0 for i: n do x * (i + 1)`, collecting `x`.
fn powers(b: &mut Builder, n: &Atom, reverse: bool) -> Vec<Atom> {
    let (state, var) = (Var::new(INT), Var::new(INT));
    let body = b.block(|b| {
        let k = b.prim(&prim::ADD, &[Atom::from(&var), Atom::int(2)]);
        let next = b.prim(&prim::MUL, &[Atom::from(&state), k]);
        let next = b.prim(&prim::SUB, &[next, Atom::int(1)]);
        vec![next, Atom::from(&state)]
    });
    let kind = LoopKind::For { ix: Ix::Fin(n.clone()), var, reverse };
    let expr = Expr::Loop { kind, state: vec![state], init: vec![Atom::int(1)], body, keep: Keep::All };
    b.bind_all(&[INT, Ty::table(n.clone(), INT)], expr)
}

#[test]
fn loops_run_both_ways_and_collect() {
    let n = Var::new(INT);
    let f = func("f", &[n], |b, p| {
        let mut results = powers(b, &p[0], false);
        results.extend(powers(b, &p[0], true));
        results
    });
    // 1 -> 1*2-1 = 1 -> 1*3-1 = 2 -> 2*4-1 = 7, and 1 -> 1*4-1 = 3 -> 3*3-1 = 8 -> 8*2-1 = 15;
    // what is collected lies at the index of its round.
    let table = |xs: &[i64]| Value::from(Table::of_int(xs));
    same(
        &run(f, vec![Value::Int(3)]),
        &[Value::Int(7), table(&[1, 1, 2]), Value::Int(15), table(&[8, 3, 1])],
    );
}

/// `while x < limit do 2 * x`, collecting `x`.
fn doubling(limit: i64) -> Func {
    func("f", &[Var::new(INT)], |b, p| {
        let (param, state) = (Var::new(INT), Var::new(INT));
        let cond = b.block(|b| vec![b.prim(&prim::LT, &[Atom::from(&param), Atom::int(limit)])]);
        let body = b.block(|b| {
            let next = b.prim(&prim::MUL, &[Atom::from(&state), Atom::int(2)]);
            vec![next, Atom::from(&state)]
        });
        let kind = LoopKind::While { params: vec![param], cond };
        let expr = Expr::Loop { kind, state: vec![state], init: vec![p[0].clone()], body, keep: Keep::All };
        let (last, rounds) = (Var::new(INT), Var::new(INT));
        let table = Var::new(Ty::table(Atom::from(&rounds), INT));
        b.emit(vec![last.clone(), rounds.clone(), table.clone()], expr);
        vec![last.into(), rounds.into(), table.into()]
    })
}

#[test]
fn while_counts_and_collects() {
    let table = Value::from(Table::of_int(&[3, 6]));
    same(&run(doubling(10), vec![Value::Int(3)]), &[Value::Int(12), Value::Int(2), table]);
    let none = Value::from(Table::of_int(&[]));
    same(&run(doubling(1), vec![Value::Int(3)]), &[Value::Int(3), Value::Int(0), none]);
}

#[test]
fn an_endless_loop_can_be_stopped() {
    let limits = Limits::default();
    limits.cancel.store(true, std::sync::atomic::Ordering::Relaxed);
    let error = run_all(vec![doubling(i64::MAX)], vec![Value::Int(0)], &limits).unwrap_err();
    assert!(error.is_cancelled());
}

/// A loop that writes `i` at `i`, with or without marks of last uses.
fn filling(marked: bool) -> Func {
    let (n, xs) = sized();
    func("f", &[n, xs], |b, p| {
        let (state, var) = (Var::new(p[1].ty()), Var::new(INT));
        let body = b.block(|b| {
            let x = b.float_of(Atom::from(&var), Scalar::F64);
            let (table, index) = (Atom::from(&state), vec![Atom::from(&var)]);
            let next = b.bind(p[1].ty(), Expr::Update { table: table.clone(), index, value: x, check: true });
            if marked {
                dies(b, &table);
            }
            vec![next]
        });
        let kind = LoopKind::For { ix: Ix::Fin(p[0].clone()), var, reverse: false };
        let expr = Expr::Loop { kind, state: vec![state], init: vec![p[1].clone()], body, keep: Keep::All };
        let last = b.bind(p[1].ty(), expr);
        if marked {
            dies(b, &p[1]);
        }
        vec![last]
    })
}

#[test]
fn updates_are_in_place_where_the_table_dies() {
    let start = || vec![Value::Int(100), floats(&[9.0; 100])];
    let want: Vec<f64> = (0..100).map(f64::from).collect();
    let (values, counts, _) = run_all(vec![filling(true)], start(), &Limits::default()).unwrap();
    same(&values, &[floats(&want)]);
    assert_eq!(counts.copied, 0);
    let (values, counts, _) = run_all(vec![filling(false)], start(), &Limits::default()).unwrap();
    same(&values, &[floats(&want)]);
    assert_eq!(counts.copied, 100 * 800);
    // The caller keeps its table: one copy, then none.
    let kept = floats(&[9.0; 100]);
    let (_, counts, _) =
        run_all(vec![filling(true)], vec![Value::Int(100), kept.clone()], &Limits::default()).unwrap();
    assert_eq!(counts.copied, 800);
    same(&[kept], &[floats(&[9.0; 100])]);
}

/// `f(k) = if k == 0 then 0 else 1 + f(k - 1)`.
fn depth() -> Func {
    func("depth", &[Var::new(INT)], |b, p| {
        let zero = b.prim(&prim::EQ, &[p[0].clone(), Atom::int(0)]);
        b.branch(
            zero,
            &[INT],
            |_| vec![Atom::int(0)],
            |b| {
                let less = b.prim(&prim::SUB, &[p[0].clone(), Atom::int(1)]);
                let call = Expr::Call { func: FuncId(0), tys: vec![], args: vec![less], checkpoint: false };
                let rest = b.bind(INT, call);
                vec![b.prim(&prim::ADD, &[rest, Atom::int(1)])]
            },
        )
    })
}

#[test]
fn deep_recursion_uses_the_heap_and_has_a_limit() {
    same(&run(depth(), vec![Value::Int(1_000_000)]), &[Value::Int(1_000_000)]);
    let limits = Limits { depth: 1000, ..Limits::default() };
    assert_eq!(run_all(vec![depth()], vec![Value::Int(-1)], &limits).unwrap_err().code, Code::E0707);
}

#[test]
fn failures_have_codes() {
    let (n, xs) = sized();
    let read = func("f", &[n, xs], |b, p| vec![b.index(&p[1], &[Atom::int(2)], true)]);
    assert_eq!(fails(read, vec![Value::Int(2), floats(&[1.0, 2.0])]), Code::E0701);
    let divide =
        func("f", &[Var::new(INT)], |b, p| vec![b.prim(&prim::INT_DIV, &[Atom::int(1), p[0].clone()])]);
    assert_eq!(fails(divide, vec![Value::Int(0)]), Code::E0703);
    let convert = func("f", &[Var::new(F64)], |b, p| vec![b.prim(&prim::TO_INT, &[p[0].clone()])]);
    assert_eq!(fails(convert, vec![Value::F64(f64::NAN)]), Code::E0709);
    let build = func("f", &[Var::new(INT)], |b, p| b.build(&p[0], |_, i| vec![i]));
    assert_eq!(fails(build.clone(), vec![Value::Int(-1)]), Code::E0710);
    let limits = Limits { memory: 1000, ..Limits::default() };
    for n in [126, i64::MAX] {
        let error = run_all(vec![build.clone()], vec![Value::Int(n)], &limits).unwrap_err();
        assert_eq!(error.code, Code::E0706);
    }
    assert!(run_all(vec![build], vec![Value::Int(125)], &limits).is_ok());
}

#[test]
fn effects_reach_the_host_or_end_the_run() {
    let effects = |effects: Vec<Effect>| {
        func("f", &[], |b, _| {
            effects.into_iter().for_each(|e| b.emit(vec![], Expr::Effect(e)));
            vec![]
        })
    };
    let text = |s: &str| Atom::Lit(Lit::Str(s.into()));
    let f = effects(vec![
        Effect::Print(text("a")),
        Effect::Trace(text("b")),
        Effect::CheckNonNegative(Atom::int(0)),
    ]);
    let (_, _, host) = run_all(vec![f], vec![], &Limits::default()).unwrap();
    assert_eq!((host.output, host.trace), (vec!["a".to_string()], vec!["b".to_string()]));
    let no = Atom::Lit(Lit::Bool(false));
    let cases = [
        (Effect::Error(text("no")), Code::E0704),
        (Effect::Assert { cond: no, msg: text("no") }, Code::E0705),
        (Effect::CheckSize { left: Atom::int(1), right: Atom::int(2), what: "sizes".into() }, Code::E0702),
        (Effect::CheckNonNegative(Atom::int(-1)), Code::E0710),
        (Effect::LoadNpy { path: text("x.npy"), rank: 1, elem: Scalar::F64 }, Code::E0801),
    ];
    for (effect, code) in cases {
        assert_eq!(fails(effects(vec![effect]), vec![]), code);
    }
}

#[test]
fn sums_packs_and_boxes() {
    let sum = Ty::Sum(vec![vec![], vec![INT, F64]]);
    let f = func("f", &[Var::new(INT)], |b, p| {
        let made = b.bind(
            sum.clone(),
            Expr::Inject { ty: sum.clone(), tag: 1, args: vec![p[0].clone(), Atom::f64(2.5)] },
        );
        let (k, x) = (Var::new(INT), Var::new(F64));
        let arm = |params: &[&Var], results: Vec<Atom>| Arm {
            params: params.iter().map(|v| (*v).clone()).collect(),
            body: Block { stmts: vec![], results },
        };
        let arms = vec![arm(&[], vec![Atom::f64(0.0)]), arm(&[&k, &x], vec![Atom::from(&x)])];
        let chosen = b.bind(F64, Expr::Case { scrut: made, arms });
        let table = b.build(&p[0], |_, i| vec![i]).remove(0);
        let size = Var::new(INT);
        let pack =
            Arc::new(PackTy { sizes: vec![size.clone()], items: vec![Ty::table(Atom::from(&size), INT)] });
        let packed = Expr::Pack { ty: pack.clone(), sizes: vec![p[0].clone()], items: vec![table] };
        let packed = b.bind(Ty::Pack(pack), packed);
        let (n, items) = (Var::new(INT), Var::new(INT));
        let items = items.with_ty(Ty::table(Atom::from(&n), INT));
        b.emit(vec![n.clone(), items.clone()], Expr::Open(packed));
        let cell = b.bind(
            Ty::Box(crate::ty::BoxTy::new(0)),
            Expr::BoxNew { ty: crate::ty::BoxTy::new(0), args: vec![n.into(), chosen] },
        );
        let held = b.bind_all(&[INT, F64], Expr::Unbox(cell));
        let text = b.bind(STR, Expr::Show { fmt: Arc::new(Fmt::Leaf), args: vec![items.into()] });
        vec![held[0].clone(), held[1].clone(), text]
    });
    same(&run(f, vec![Value::Int(3)]), &[Value::Int(3), Value::F64(2.5), Value::Str("[0, 1, 2]".into())]);
}

#[test]
fn accumulators_collect_by_index_and_view() {
    let (n, xs) = sized();
    let f = func("f", &[n, xs], |b, p| {
        let matrix = Ty::table(Atom::int(2), p[1].ty());
        let acc = b.bind(Ty::Acc(Box::new(matrix.clone())), Expr::AccNew(matrix.clone()));
        let var = Var::new(INT);
        let body = b.block(|b| {
            let x = b.index(&p[1], &[Atom::from(&var)], false);
            let row = Expr::AccView { acc: acc.clone(), index: vec![Atom::int(1)], check: true };
            let row = b.bind(Ty::Acc(Box::new(p[1].ty())), row);
            b.emit(vec![], Expr::AccAdd { acc: row, index: vec![Atom::int(0)], value: x, check: true });
            let index = vec![Atom::int(0)];
            b.emit(vec![], Expr::AccAdd { acc: acc.clone(), index, value: p[1].clone(), check: true });
            vec![]
        });
        b.emit(vec![], Expr::For { ix: Ix::Fin(p[0].clone()), var, body });
        let total = b.bind(matrix, Expr::AccFreeze(acc));
        let start = b.bind(Ty::Acc(Box::new(F64)), Expr::AccFrom(Atom::f64(1.5)));
        b.emit(
            vec![],
            Expr::AccAdd { acc: start.clone(), index: vec![], value: Atom::f64(2.0), check: false },
        );
        vec![total, b.bind(F64, Expr::AccFreeze(start))]
    });
    let want = Table::new(&[2, 2], Leaves::F64(vec![2.0, 4.0, 3.0, 0.0]));
    same(&run(f, vec![Value::Int(2), floats(&[1.0, 2.0])]), &[want.into(), Value::F64(3.5)]);
}

#[test]
fn tangent_sums_merge_and_disagree() {
    let sum = Ty::Sum(vec![vec![], vec![F64], vec![F64]]);
    let add = |first: u32, second: u32| {
        let sum = sum.clone();
        func("f", &[], move |b, _| {
            let mut make = |tag: u32| {
                let args = if tag == 0 { vec![] } else { vec![Atom::f64(2.0)] };
                b.bind(sum.clone(), Expr::Inject { ty: sum.clone(), tag, args })
            };
            let (x, y) = (make(first), make(second));
            let zero = b.bind(sum.clone(), Expr::Zero(sum.clone()));
            let total = b.bind(sum.clone(), Expr::AddCt(x, y));
            vec![b.bind(sum, Expr::AddCt(zero, total))]
        })
    };
    let payload = |f: Func| {
        let Value::Sum(sum) = run(f, vec![]).remove(0) else { panic!("a sum") };
        (sum.tag, sum.payload.len())
    };
    assert_eq!([payload(add(1, 1)), payload(add(0, 2)), payload(add(0, 0))], [(1, 1), (2, 1), (0, 0)]);
    assert_eq!(fails(add(1, 2), vec![]), Code::E0711);
}

#[test]
fn a_contraction_is_a_matrix_product() {
    let (a, c) = (Var::new(Ty::table(Atom::int(2), Ty::table(Atom::int(3), F64))), Var::new(BOOL));
    let f = func("f", &[a, c], |b, p| {
        let spec = Axes { a: vec![0, 1], b: vec![2, 1], out: vec![2, 0] };
        let ty = Ty::table(Atom::int(2), Ty::table(Atom::int(2), F64));
        vec![b.bind(ty, Expr::Contract { a: p[0].clone(), b: p[0].clone(), spec })]
    });
    let a = Table::new(&[2, 3], Leaves::F64(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let want = Table::new(&[2, 2], Leaves::F64(vec![14.0, 32.0, 32.0, 77.0]));
    same(&run(f, vec![a.into(), Value::Bool(true)]), &[want.into()]);
}

#[test]
fn the_counter_counts_costs_and_elements() {
    let (n, xs) = sized();
    let f = func("f", &[n, xs], |b, p| {
        b.build(&p[0], |b, i| {
            let x = b.index(&p[1], &[i], false);
            vec![b.prim(&prim::ADD, &[x.clone(), x])]
        })
    });
    let ops = |n: usize| {
        let args = vec![Value::Int(n as i64), floats(&vec![1.0; n])];
        run_all(vec![f.clone()], args, &Limits::default()).unwrap().1.ops
    };
    // An element read, an addition, an element written.
    assert_eq!((ops(10), ops(1000)), (30, 3000));
}

#[test]
fn a_dead_value_is_given_back_at_once() {
    let n = Var::new(INT);
    let f = func("f", &[n], |b, p| {
        let mut total = Atom::int(0);
        for _ in 0..10 {
            let table = b.build(&p[0], |_, i| vec![i]).remove(0);
            let x = b.index(&table, &[Atom::int(1)], false);
            dies(b, &table);
            total = b.prim(&prim::ADD, &[total, x]);
        }
        vec![total]
    });
    let (values, counts, _) = run_all(vec![f], vec![Value::Int(1000)], &Limits::default()).unwrap();
    same(&values, &[Value::Int(10)]);
    assert_eq!((counts.peak, counts.allocations), (8000, 10));
}

#[test]
fn statements_keep_their_places() {
    let span = Span { start: 3, end: 9, ..Span::default() };
    let body = Block {
        stmts: vec![Stmt {
            vars: vec![],
            expr: Expr::Effect(Effect::CheckNonNegative(Atom::int(-1))),
            span,
            dies: vec![],
        }],
        results: vec![],
    };
    let f = Func { name: "f".into(), tparams: vec![], params: vec![], body, span: Span::default() };
    let error = run_all(vec![f], vec![], &Limits::default()).unwrap_err();
    assert_eq!(error.span, span);
}
