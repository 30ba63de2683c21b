//! Sums, bundles, cells, tangents and accumulators.

use adl_core::value::{Leaves, Table, Value};
use adl_diag::Code;

use super::{both, check, floats, ints, matrix};

#[test]
fn sums_choose_and_carry_tables() {
    let text = "core 1
        fn f(%k: Int, %n: Int, %xs: [%n]F64) {
          %big: Bool = lt 2, %k
          %s: <| Int, [%n]F64 | F64> = case %big () {
            %a: <| Int, [%n]F64 | F64> = inject 1 (%k, %xs) : <| Int, [%n]F64 | F64>
            yield %a
          } () {
            %zero: Bool = eq %k, 3
            %b: <| Int, [%n]F64 | F64> = case %zero () {
              %c: <| Int, [%n]F64 | F64> = inject 0 () : <| Int, [%n]F64 | F64>
              yield %c
            } () {
              %d: <| Int, [%n]F64 | F64> = inject 2 (2.5) : <| Int, [%n]F64 | F64>
              yield %d
            }
            yield %b
          }
          %r: F64, %t: [%n]F64 = case %s () {
            yield 0.0, %xs
          } (%i: Int, %ys: [%n]F64) {
            %zs: [%n]F64 = update? %ys[0] = 1.5
            %y: F64 = index? %ys[0]
            yield %y, %zs
          } (%x: F64) {
            %ys2: [%n]F64 = for %j < %n { yield %x }
            yield %x, %ys2
          }
          yield %r, %t, %s
        }";
    for k in [1, 3, 4] {
        both(text, &[Value::Int(k), Value::Int(2), floats(&[5.0, 6.0])]).unwrap();
    }
}

#[test]
fn tables_of_sums_with_tables_in_them() {
    let text = "core 1
        fn f(%n: Int) {
          %ts: [%n]<| Int, [2]F64> = for %i < %n {
            %odd: Int = bit_and %i, 1
            %b: Bool = eq %odd, 1
            %s: <| Int, [2]F64> = case %b () {
              %a: <| Int, [2]F64> = inject 0 () : <| Int, [2]F64>
              yield %a
            } () {
              %x: F64 = to_f64 %i
              %xs: [2]F64 = for %j < 2 { yield %x }
              %c: <| Int, [2]F64> = inject 1 (%i, %xs) : <| Int, [2]F64>
              yield %c
            }
            yield %s
          }
          %sum: F64 = reduce sum %m < %n {
            %sa: <| Int, [2]F64> = index %ts[%m]
            %v: F64 = case %sa () { yield 1.0 } (%k: Int, %ys: [2]F64) {
              %y: F64 = index %ys[1]
              yield %y
            }
            yield %v
          }
          %last: <| Int, [2]F64> = index? %ts[1]
          %us: [%n]<| Int, [2]F64> = update? %ts[0] = %last
          yield %ts, %sum, %us, %last
        }";
    both(text, &[Value::Int(5)]).unwrap();
    assert_eq!(both(text, &[Value::Int(0)]).unwrap_err().code, Code::E0701);
}

#[test]
fn bundles_bring_their_sizes() {
    let text = "core 1
        fn f(%n: Int) {
          %ps: [%n]exists %m . ([%m]Int) = for %i < %n {
            %xs: [%i]Int = for %j < %i { yield %j }
            %p: exists %k . ([%k]Int) = pack (%i) (%xs) : exists %k2 . ([%k2]Int)
            yield %p
          }
          %q: exists %m2 . ([%m2]Int) = index? %ps[2]
          %s: Int, %t: [%s]Int = open(%q)
          %u: [%s]Int = update? %t[0] = 9
          %text: Str = show _ (%t)
          yield %s, %t, %u, %text, %ps
        }";
    let got = both(text, &[Value::Int(4)]).unwrap();
    assert!(got[1].same(&ints(&[0, 1])) && got[2].same(&ints(&[9, 1])));
    assert!(got[3].same(&Value::Str("[0, 1]".into())));
}

/// A list of numbers and tables, built and consumed; the type of cells is added by hand.
#[test]
fn cells_make_lists() {
    let text = "core 1
        fn f(%n: Int) {
          %l: Box#0 = call build(%n)
          %s: F64 = call total(%l)
          %t: F64 = call total(%l)
          yield %s, %t, %l
        }
        fn build(%n: Int) {
          %end: Bool = le %n, 0
          %r: Box#0 = case %end () {
            %m: Int = sub %n, 1
            %tail: Box#0 = call build(%m)
            %x: F64 = to_f64 %n
            %row: [2]F64 = for %i < 2 { yield %x }
            %c: <| F64, [2]F64, Box#0> = inject 1 (%x, %row, %tail) : <| F64, [2]F64, Box#0>
            %b: Box#0 = box#0(%c)
            yield %b
          } () {
            %ca: <| F64, [2]F64, Box#0> = inject 0 () : <| F64, [2]F64, Box#0>
            %ba: Box#0 = box#0(%ca)
            yield %ba
          }
          yield %r
        }
        fn total(%l: Box#0) {
          %c: <| F64, [2]F64, Box#0> = unbox(%l)
          %r: F64 = case %c () { yield 0.0 } (%x: F64, %row: [2]F64, %tail: Box#0) {
            %rest: F64 = call total(%tail)
            %y: F64 = index? %row[1]
            %z: F64 = add %x, %y
            %s: F64 = add %z, %rest
            yield %s
          }
          yield %r
        }";
    let mut program = adl_core::parse::program(text).expect("Core text");
    let list = program.funcs[2].body.stmts[0].vars[0].ty().clone();
    program.boxes = vec![vec![list]];
    let compiled = crate::compile(&program).unwrap();
    let (mut host, limits) = (adl_core::host::Closed::default(), adl_core::run::Limits::default());
    let id = adl_core::ir::FuncId(0);
    let want =
        adl_core::interp::Interp::new(&program).run(id, vec![Value::Int(50)], &mut host, &limits).unwrap();
    let got = compiled.run(id, vec![Value::Int(50)], &mut host, &limits).unwrap();
    assert!(got.values.iter().zip(&want.values).all(|(x, y)| x.same(y)), "{}", compiled.loops());
    assert_eq!(compiled.leaks(), 0);
    // A list from outside goes in.
    let total = adl_core::ir::FuncId(2);
    let list = got.values[2].clone();
    let again = compiled.run(total, vec![list], &mut host, &limits).unwrap();
    assert!(again.values[0].same(&got.values[0]));
}

#[test]
fn tangents_add_by_alternative() {
    let text = "core 1
        fn f(%s: Int, %t: Int, %n: Int, %xs: [%n]F64) {
          %a: <| F64, [%n]F64 | F64> = call make(%s, %n, %xs)
          %b: <| F64, [%n]F64 | F64> = call make(%t, %n, %xs)
          %c: <| F64, [%n]F64 | F64> = addct(%a, %b)
          %z: <| F64, [%n]F64 | F64> = zero(<| F64, [%n]F64 | F64>)
          %d: <| F64, [%n]F64 | F64> = addct(%z, %c)
          %ts: [2]<| F64, [%n]F64 | F64> = table <| F64, [%n]F64 | F64> (%a, %d)
          %us: [2]<| F64, [%n]F64 | F64> = addct(%ts, %ts)
          %zs: [2]<| F64, [%n]F64 | F64> = zero([2]<| F64, [%n]F64 | F64>)
          %ys: [%n]F64 = addct(%xs, %xs)
          yield %d, %us, %zs, %ys
        }
        fn make(%k: Int, %n: Int, %xs: [%n]F64) {
          %r: <| F64, [%n]F64 | F64> = case %k () {
            %a: <| F64, [%n]F64 | F64> = inject 0 () : <| F64, [%n]F64 | F64>
            yield %a
          } () {
            %aa: <| F64, [%n]F64 | F64> = inject 1 (2.0, %xs) : <| F64, [%n]F64 | F64>
            yield %aa
          } () {
            %ab: <| F64, [%n]F64 | F64> = inject 2 (3.0) : <| F64, [%n]F64 | F64>
            yield %ab
          }
          yield %r
        }";
    let run =
        |s: i64, t: i64| both(text, &[Value::Int(s), Value::Int(t), Value::Int(2), floats(&[1.0, 2.0])]);
    for (s, t) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)] {
        run(s, t).unwrap();
    }
    assert_eq!(run(1, 2).unwrap_err().code, Code::E0711);
}

#[test]
fn accumulators_collect() {
    let text = "core 1
        fn f(%n: Int, %xs: [%n]F64) {
          %acc: Acc([2][%n]F64) = acc_new([2][%n]F64)
          for %i < %n {
            %x: F64 = index %xs[%i]
            %row: Acc([%n]F64) = acc_view? %acc[1]
            acc_add? %row[%i] += %x
            acc_add? %row[0] += %x
            acc_add? %acc[0] += %xs
            call into(%n, %row, %x)
            yield
          }
          %t: [2][%n]F64 = acc_freeze(%acc)
          %one: Acc(F64) = acc_new(F64)
          acc_add %one[] += 2.5
          acc_add %one[] += 3.0
          %s: F64 = acc_freeze(%one)
          %from: Acc([%n]F64) = acc_from(%xs)
          acc_add? %from[0] += 1.0
          %u: [%n]F64 = acc_freeze(%from)
          yield %t, %s, %u, %xs
        }
        fn into(%n: Int, %acc: Acc([%n]F64), %x: F64) {
          %k: Int = sub %n, 1
          acc_add? %acc[%k] += %x
          yield
        }";
    let want =
        [matrix(2, 2, &[2.0, 4.0, 4.0, 5.0]), Value::F64(5.5), floats(&[2.0, 2.0]), floats(&[1.0, 2.0])];
    check(text, &[Value::Int(2), floats(&[1.0, 2.0])], &want);
}

#[test]
fn accumulators_of_sums() {
    let text = "core 1
        fn f(%k: Int, %n: Int, %xs: [%n]F64) {
          %acc: Acc(<| F64, [%n]F64 | F64>) = acc_new(<| F64, [%n]F64 | F64>)
          %v: <| F64, [%n]F64 | F64> = inject 1 (2.0, %xs) : <| F64, [%n]F64 | F64>
          acc_add %acc[] += %v
          acc_add %acc[] += %v
          %p: Acc(F64), %q: Acc([%n]F64) = acc_payload 1 %acc
          acc_add %p[] += 0.5
          acc_add? %q[0] += 10.0
          %other: Bool = eq %k, 1
          case %other () { yield } () {
            %w: <| F64, [%n]F64 | F64> = inject 2 (3.0) : <| F64, [%n]F64 | F64>
            acc_add %acc[] += %w
            yield
          }
          %r: <| F64, [%n]F64 | F64> = acc_freeze(%acc)
          %x: Acc(F64) = acc_new(F64)
          %i: Acc(<| F64 | F64>) = acc_inj 2 (%x) : <| F64 | F64>
          %y: <| F64 | F64> = inject 2 (4.0) : <| F64 | F64>
          acc_add %i[] += %y
          %z: F64 = acc_freeze(%x)
          %us: Acc([2]<| F64, [%n]F64>) = acc_new([2]<| F64, [%n]F64>)
          %e: <| F64, [%n]F64> = inject 1 (1.0, %xs) : <| F64, [%n]F64>
          acc_add? %us[1] += %e
          acc_add? %us[1] += %e
          %ws: [2]<| F64, [%n]F64> = acc_freeze(%us)
          yield %r, %z, %ws
        }";
    let args = |k: i64| [Value::Int(k), Value::Int(2), floats(&[1.0, 2.0])];
    both(text, &args(0)).unwrap();
    assert_eq!(both(text, &args(1)).unwrap_err().code, Code::E0711);
}

#[test]
fn structures_go_in_and_out() {
    let text = "core 1
        fn f(%n: Int, %ts: [%n]<Int | [2]F64>, %b: [%n]Bool) {
          %us: [%n]<Int | [2]F64> = for %i < %n {
            %t: <Int | [2]F64> = index %ts[%i]
            yield %t
          }
          yield %us, %ts, %b
        }";
    let tagged = |tag: u32, payload: Vec<Value>| {
        Value::Sum(std::sync::Arc::new(adl_core::value::Tagged { tag, payload }))
    };
    let sums = vec![tagged(1, vec![floats(&[1.0, 2.0])]), tagged(0, vec![Value::Int(7)])];
    let table = Table::new(&[2], Leaves::Value(sums));
    let bools = Table::new(&[2], Leaves::Bool(vec![true, false]));
    check(
        text,
        &[Value::Int(2), table.clone().into(), bools.clone().into()],
        &[table.clone().into(), table.into(), bools.into()],
    );
}

#[test]
fn bundles_add_and_accumulate() {
    let text = "core 1
        fn f(%n: Int, %m: Int) {
          %a: exists %k . ([%k]F64) = call make(%n)
          %b: exists %k2 . ([%k2]F64) = call make(%m)
          %z: exists %k3 . ([%k3]F64) = zero(exists %k4 . ([%k4]F64))
          %c: exists %k5 . ([%k5]F64) = addct(%a, %z)
          %d: exists %k6 . ([%k6]F64) = addct(%z, %c)
          %e: exists %k7 . ([%k7]F64) = addct(%d, %a)
          %acc: Acc(exists %k8 . ([%k8]F64)) = acc_new(exists %k9 . ([%k9]F64))
          acc_add %acc[] += %z
          acc_add %acc[] += %a
          acc_add %acc[] += %e
          %r: exists %k10 . ([%k10]F64) = acc_freeze(%acc)
          %ts: Acc([2]exists %k11 . ([%k11]F64)) = acc_new([2]exists %k12 . ([%k12]F64))
          acc_add? %ts[1] += %b
          acc_add? %ts[1] += %b
          %us: [2]exists %k13 . ([%k13]F64) = acc_freeze(%ts)
          %u: exists %k14 . ([%k14]F64) = index? %us[1]
          %sum: Acc(<| exists %k15 . ([%k15]F64)>) = acc_new(<| exists %k16 . ([%k16]F64)>)
          %v: <| exists %k17 . ([%k17]F64)> = inject 1 (%b) : <| exists %k18 . ([%k18]F64)>
          acc_add %sum[] += %v
          %w: <| exists %k19 . ([%k19]F64)> = acc_freeze(%sum)
          yield %e, %r, %u, %w
        }
        fn make(%n: Int) {
          %xs: [%n]F64 = for %i < %n {
            %x: F64 = to_f64 %i
            yield %x
          }
          %p: exists %k . ([%k]F64) = pack (%n) (%xs) : exists %k2 . ([%k2]F64)
          yield %p
        }";
    for (n, m) in [(3, 2), (1, 4), (2, 0)] {
        both(text, &[Value::Int(n), Value::Int(m)]).unwrap();
    }
}

#[test]
fn a_list_is_handed_on_however_deep_it_is() {
    let text = "core 1
        fn f(%n: Int) {
          %c0: <| Box#0> = inject 0 () : <| Box#0>
          %b0: Box#0 = box#0(%c0)
          %l: Box#0 = loop %s: Box#0 = %b0 for %i < %n do {
            %c: <| Box#0> = inject 1 (%s) : <| Box#0>
            %b: Box#0 = box#0(%c)
            yield %b
          }
          yield %l
        }";
    let mut program = adl_core::parse::program(text).expect("Core text");
    let list = program.funcs[0].body.stmts[0].vars[0].ty().clone();
    program.boxes = vec![vec![list]];
    let compiled = crate::compile(&program).unwrap();
    let id = adl_core::ir::FuncId(0);
    let run = |n: i64| {
        let (mut host, limits) = (adl_core::host::Closed::default(), adl_core::run::Limits::default());
        compiled.run(id, vec![Value::Int(n)], &mut host, &limits).map(drop).map_err(|error| error.code)
    };
    assert_eq!((run(100), run(300_000)), (Ok(()), Ok(())));
}
