//! Each form of Core.

use adl_core::value::{Leaves, Table, Value};
use adl_diag::Code;

use super::{both, check, floats, ints, machine, matrix, noise};

#[test]
fn tables_are_built_in_place_at_any_depth() {
    let text = "core 1
        fn f(%n: Int, %xs: [%n]F64) {
          %t: [%n][3][2]F64 = for %i < %n {
            %u: [3][2]F64 = for %j < 3 {
              %v: [2]F64 = for %k < 2 {
                %x: F64 = index? %xs[%i]
                %jk: Int = add %j, %k
                %y: F64 = to_f64 %jk
                %z: F64 = mul %x, %y
                yield %z
              }
              yield %v
            }
            yield %u
          }
          yield %t
        }";
    let want = [0.0, 2.0, 2.0, 4.0, 4.0, 6.0, 0.0, 3.0, 3.0, 6.0, 6.0, 9.0];
    let table = Table::new(&[2, 3, 2], Leaves::F64(want.to_vec()));
    check(text, &[Value::Int(2), floats(&[2.0, 3.0])], &[table.into()]);
    check(text, &[Value::Int(0), floats(&[])], &[Table::new(&[0, 3, 2], Leaves::F64(vec![])).into()]);
    assert_eq!(machine(text).loops().matches("alloc").count(), 1, "{}", machine(text).loops());
}

#[test]
fn rows_are_views_that_outlive_their_block() {
    let text = "core 1
        fn f(%n: Int, %a: [%n][2]F64, %c: Bool) {
          %row: [2]F64 = case %c () {
            %r: [2]F64 = index? %a[0]
            yield %r
          } () {
            %b: [2]F64 = for %i < 2 { yield 7.0 }
            %t: [1][2]F64 = for %j < 1 { yield %b }
            %ra: [2]F64 = index %t[0]
            yield %ra
          }
          yield %row, %row
        }";
    let a = matrix(2, 2, &[1.0, 2.0, 3.0, 4.0]);
    let row = |x: &[f64]| [floats(x), floats(x)];
    check(text, &[Value::Int(2), a.clone(), Value::Bool(false)], &row(&[1.0, 2.0]));
    check(text, &[Value::Int(2), a, Value::Bool(true)], &row(&[7.0, 7.0]));
}

#[test]
fn reductions_follow_the_fixed_order() {
    let text = "core 1
        fn f(%n: Int, %xs: [%n]F64) {
          %s: F64, %p: F64 = reduce sum %i < %n {
            %x: F64 = index %xs[%i]
            %y: F64 = mul %x, %x
            yield %x, %y
          }
          %q: F64 = reduce prod %ia < %n {
            %xa: F64 = index %xs[%ia]
            %ya: F64 = mul %xa, 0.001
            %z: F64 = add %ya, 1.0
            yield %z
          }
          %lo: F64 = reduce min %ib < %n {
            %xb: F64 = index %xs[%ib]
            yield %xb
          }
          %hi: Int = reduce max %ic < %n { yield %ic }
          %all: Bool = reduce and %id < %n {
            %xc: F64 = index %xs[%id]
            %b: Bool = lt %xc, 13.0
            yield %b
          }
          yield %s, %p, %q, %lo, %hi, %all
        }";
    for n in [1, 7, 8, 9, 100, 4095, 4096, 4097, 8192, 12288, 20_000] {
        let got = both(text, &[Value::Int(n as i64), floats(&noise(n))]).unwrap();
        assert!(got[0].same(&Value::F64(adl_math::order::sum(&noise(n)))));
    }
    assert_eq!(both(text, &[Value::Int(0), floats(&[])]).unwrap_err().code, Code::E0708);
}

#[test]
fn singles_have_more_lanes() {
    let text = "core 1
        fn f(%n: Int) {
          %s: F32 = reduce sum %i < %n {
            %x: F32 = to_f32 %i
            %y: F32 = sin %x
            yield %y
          }
          %k: Int = reduce sum %i2 < %n { yield %i2 }
          yield %s, %k
        }";
    for n in [0, 15, 17, 5000, 10_000] {
        both(text, &[Value::Int(n)]).unwrap();
    }
}

#[test]
fn custom_reductions_and_prefixes_run_in_order() {
    let text = "core 1
        fn f(%n: Int) {
          %d: Int = reduce custom (0) (%l: Int; %r: Int) {
            %t: Int = mul %l, 10
            %u: Int = add %t, %r
            yield %u
          } %i < %n { yield %i }
          %p: [%n]Int = prefix custom (0) (%l2: Int; %r2: Int) {
            %t2: Int = mul %l2, 10
            %u2: Int = add %t2, %r2
            yield %u2
          } %i2 < %n { yield %i2 }
          %s: [%n]Int = prefix sum %i3 < %n { yield %i3 }
          %m: [%n]F64 = prefix max %i4 < %n {
            %x: F64 = to_f64 %i4
            %y: F64 = sin %x
            yield %y
          }
          yield %d, %p, %s, %m
        }";
    let got = both(text, &[Value::Int(4)]).unwrap();
    assert!(got[0].same(&Value::Int(123)) && got[2].same(&ints(&[0, 1, 3, 6])));
    both(text, &[Value::Int(0)]).unwrap();
}

#[test]
fn loops_carry_state_and_collect_both_ways() {
    for word in ["for", "downfor"] {
        let text = format!(
            "core 1
            fn f(%n: Int, %x0: F64) {{
              %x: F64, %k: Int, %xs: [%n]F64, %rows: [%n][2]F64 =
              loop %s: F64, %c: Int = %x0, 0 {word} %i < %n do {{
                %y: F64 = mul %s, 1.5
                %f: F64 = to_f64 %i
                %z: F64 = add %y, %f
                %c2: Int = add %c, %i
                %row: [2]F64 = for %j < 2 {{ yield %z }}
                yield %z, %c2, %s, %row
              }}
              yield %x, %k, %xs, %rows
            }}"
        );
        for n in [0, 1, 5] {
            both(&text, &[Value::Int(n), Value::F64(1.25)]).unwrap();
        }
    }
}

#[test]
fn while_counts_and_collects_more_than_it_has_room_for() {
    let text = "core 1
        fn f(%limit: Int) {
          %x: Int, %n: Int, %xs: [%n]Int, %rows: [%n][2]Int = loop %s: Int = 1 while (%c: Int) {
            %go: Bool = lt %c, %limit
            yield %go
          } do {
            %y: Int = add %s, 1
            %row: [2]Int = for %j < 2 { yield %y }
            yield %y, %s, %row
          }
          yield %x, %n, %xs, %rows
        }";
    for limit in [0, 2, 16, 17, 18, 100] {
        both(text, &[Value::Int(limit)]).unwrap();
    }
}

const FILL: &str = "core 1
    fn f(%n: Int, %xs: [%n]F64) {
      %ys: [%n]F64 = loop %s: [%n]F64 = %xs for %i < %n do {
        %x: F64 = to_f64 %i
        %even: Int = bit_and %i, 1
        %b: Bool = eq %even, 0
        %t: [%n]F64 = case %b () { yield %s } () {
          %u: [%n]F64 = update? %s[%i] = %x
          yield %u
        }
        yield %t
      }
      yield %ys
    }";

#[test]
fn updates_in_a_loop_are_in_place_through_branches() {
    let args = [Value::Int(100), floats(&noise(100))];
    both(FILL, &args).unwrap();
    let mut host = adl_core::host::Closed::default();
    let limits = adl_core::run::Limits::default();
    let outcome = machine(FILL).run(adl_core::ir::FuncId(0), args.to_vec(), &mut host, &limits).unwrap();
    assert_eq!(outcome.counts.copied, 0);
}

#[test]
fn an_update_leaves_other_holders_alone() {
    let text = "core 1
        fn f(%n: Int, %xs: [%n]F64) {
          %row: [1][%n]F64 = table [%n]F64 (%xs)
          %ys: [%n]F64 = update? %xs[0] = 9.0
          %zs: [%n]F64 = update? %ys[1] = 8.0
          %r: [%n]F64 = index %row[0]
          %r2: [%n]F64 = update %r[0] = 7.0
          %row2: [1][%n]F64 = update %row[0] = %r2
          yield %ys, %zs, %r, %row2, %row
        }";
    both(text, &[Value::Int(3), floats(&[1.0, 2.0, 3.0])]).unwrap();
    assert_eq!(both(text, &[Value::Int(1), floats(&[1.0])]).unwrap_err().code, Code::E0701);
}

#[test]
fn states_may_change_places() {
    let text = "core 1
        fn f(%n: Int, %a: [%n]F64, %b: [%n]F64) {
          %x: [%n]F64, %y: [%n]F64 = loop %s: [%n]F64, %t: [%n]F64 = %a, %b for %i < 5 do {
            %v: F64 = to_f64 %i
            %u: [%n]F64 = update? %s[0] = %v
            yield %t, %u
          }
          yield %x, %y, %a
        }";
    both(text, &[Value::Int(2), floats(&[1.0, 2.0]), floats(&[3.0, 4.0])]).unwrap();
}

#[test]
fn calls_pass_and_return_tables() {
    let text = "core 1
        fn f(%n: Int, %xs: [%n]F64, %d: Int) {
          %ys: [%n]F64 = call go(%n, %xs, %d)
          %m: Int, %zs: [%m]F64 = call twice(%n, %ys)
          yield %ys, %zs, %xs, %m
        }
        fn go(%n: Int, %xs: [%n]F64, %d: Int) {
          %end: Bool = le %d, 0
          %r: [%n]F64 = case %end () {
            %e: Int = sub %d, 1
            %x: F64 = to_f64 %d
            %ys: [%n]F64 = update %xs[0] = %x
            %zs: [%n]F64 = call go(%n, %ys, %e)
            yield %zs
          } () { yield %xs }
          yield %r
        }
        fn twice(%n: Int, %xs: [%n]F64) {
          %m: Int = mul %n, 2
          %ys: [%m]F64 = for %i < %m {
            %k: Int = imod %i, %n
            %x: F64 = index %xs[%k]
            yield %x
          }
          yield %m, %ys
        }";
    let got = both(text, &[Value::Int(2), floats(&[5.0, 6.0]), Value::Int(10)]).unwrap();
    assert!(got[1].same(&floats(&[1.0, 6.0, 1.0, 6.0])) && got[2].same(&floats(&[5.0, 6.0])));
}

#[test]
fn unbounded_recursion_is_an_error() {
    let text = "core 1
        fn f(%k: Int) {
          %e: Int = add %k, 1
          %r: Int = call f(%e)
          %s: Int = add %r, 1
          yield %s
        }";
    let limits = adl_core::run::Limits::default();
    let mut host = adl_core::host::Closed::default();
    let error =
        machine(text).run(adl_core::ir::FuncId(0), vec![Value::Int(0)], &mut host, &limits).unwrap_err();
    assert_eq!(error.code, Code::E0707);
}

#[test]
fn a_million_calls_fit_on_a_large_stack() {
    let text = "core 1
        fn f(%k: Int) {
          %end: Bool = le %k, 0
          %r: Int = case %end () {
            %e: Int = sub %k, 1
            %x: Int = call f(%e)
            %y: Int = add %x, 1
            yield %y
          } () { yield 0 }
          yield %r
        }";
    let compiled = machine(text);
    let values = crate::stack::on_stack(1 << 30, || {
        let mut host = adl_core::host::Closed::default();
        let limits = adl_core::run::Limits::default();
        compiled.run(adl_core::ir::FuncId(0), vec![Value::Int(1_000_000)], &mut host, &limits).unwrap().values
    });
    assert!(values.unwrap()[0].same(&Value::Int(1_000_000)));
}

#[test]
fn an_endless_loop_can_be_stopped() {
    let text = "core 1
        fn f() {
          %x: Int, %n: Int = loop %s: Int = 1 while (%c: Int) { yield true } do { yield %s }
          yield %x
        }";
    let limits = adl_core::run::Limits::default();
    let flag = std::sync::Arc::clone(&limits.cancel);
    let compiled = machine(text);
    let error = std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let mut host = adl_core::host::Closed::default();
            compiled.run(adl_core::ir::FuncId(0), vec![], &mut host, &limits).unwrap_err()
        });
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
        run.join().unwrap()
    });
    assert!(error.is_cancelled());
}

#[test]
fn failures_are_the_same() {
    let int = |body: &str| format!("core 1 fn f(%k: Int, %x: F64) {{ {body} }}");
    let cases = [
        ("%r: Int = idiv 1, %k yield %r", Value::Int(0), 0.0, Code::E0703),
        ("%r: Int = irem 1, %k yield %r", Value::Int(0), 0.0, Code::E0703),
        ("%r: Int = ipow %k, -1 yield %r", Value::Int(0), 0.0, Code::E0703),
        ("%r: Int = to_int %x yield %r", Value::Int(0), f64::NAN, Code::E0709),
        ("%r: Int = to_int %x yield %r", Value::Int(0), 1e19, Code::E0709),
        ("%r: [%k]Int = for %i < %k { yield %i } yield %r", Value::Int(-3), 0.0, Code::E0710),
        ("%r: [%k]Int = for %i < %k { yield %i } yield %r", Value::Int(1 << 40), 0.0, Code::E0706),
        ("%r: [%k]Int = for %i < %k { yield %i } yield %r", Value::Int(i64::MAX), 0.0, Code::E0706),
        ("error(\"no\") yield %k", Value::Int(0), 0.0, Code::E0704),
        ("%b: Bool = lt %k, 0 assert(%b, \"not below\") yield %k", Value::Int(0), 0.0, Code::E0705),
        ("check_size(%k, 2) \"rows\" yield %k", Value::Int(0), 0.0, Code::E0702),
        ("check_non_negative(%k) yield %k", Value::Int(-1), 0.0, Code::E0710),
        ("%n: Int, %t: [%n]F64 = load_npy(\"x.npy\") 1 F64 yield %n", Value::Int(0), 0.0, Code::E0801),
    ];
    for (body, k, x, code) in cases {
        let error = both(&int(body), &[k, Value::F64(x)]).unwrap_err();
        assert_eq!(error.code, code, "{body}");
    }
}

#[test]
fn texts_and_effects() {
    let text = "core 1
        fn f(%n: Int, %xs: [%n]F64, %s: Str) {
          %a: Str = show (_, _) (%xs, %n)
          %b: Str = str_cat %a, %s
          print(%b)
          trace(%s)
          %lt: Bool = lt %a, %s
          %eq: Bool = eq %s, \"é\"
          %t: [2]Str = table Str (%s, %b)
          %u: Str = index? %t[1]
          yield %b, %lt, %eq, %u, %t
        }";
    let got = both(text, &[Value::Int(2), floats(&[1.0, f64::NAN]), Value::Str("é".into())]);
    let got = got.unwrap();
    assert!(got[0].same(&Value::Str("([1.0, nan], 2)é".into())) && got[2].same(&Value::Bool(true)));
}

#[test]
fn scalars_agree_bit_for_bit() {
    let ops = ["add", "sub", "mul", "div", "min", "max", "pow", "atan2", "hypot", "rem"];
    for op in ops {
        let text = format!("core 1 fn f(%x: F64, %y: F64) {{ %r: F64 = {op} %x, %y yield %r }}");
        let compiled = text.as_str();
        for x in [0.0, -0.0, 1.5, -2.5, 1e300, f64::INFINITY, f64::NAN] {
            for y in [0.0, -0.0, 2.0, -3.0, f64::NEG_INFINITY] {
                both(compiled, &[Value::F64(x), Value::F64(y)]).unwrap();
            }
        }
    }
    for op in ["idiv", "imod", "iquot", "irem"] {
        let text = format!("core 1 fn f(%x: Int, %y: Int) {{ %r: Int = {op} %x, %y yield %r }}");
        for x in [0, 1, -7, 7, i64::MIN, i64::MAX] {
            for y in [1, -1, 2, -3, 0, i64::MIN] {
                let _ = both(&text, &[Value::Int(x), Value::Int(y)]);
            }
        }
    }
}

#[test]
fn every_row_agrees_on_every_type() {
    use adl_core::ty::Scalar;
    let name = |s: &Scalar| match s {
        Scalar::F64 => "F64",
        Scalar::F32 => "F32",
        Scalar::Int => "Int",
        Scalar::Bool => "Bool",
        Scalar::Str => "Str",
        Scalar::Key => "Key",
    };
    let samples = |s: &Scalar| -> Vec<Value> {
        match s {
            Scalar::F64 => [0.3, -1.7, 4.0, f64::NAN].map(Value::F64).to_vec(),
            Scalar::F32 => [0.3, -1.7, 4.0, f32::INFINITY].map(Value::F32).to_vec(),
            Scalar::Int => [0, 5, -3, i64::MIN, 70].map(Value::Int).to_vec(),
            Scalar::Bool => [false, true].map(Value::Bool).to_vec(),
            Scalar::Str => vec![Value::Str("a".into()), Value::Str("b".into())],
            Scalar::Key => vec![Value::Key(42)],
        }
    };
    for prim in adl_core::prim::table() {
        for tys in prim.0.instances() {
            let result = prim.0.result(&tys).unwrap();
            let params: Vec<String> =
                tys.iter().enumerate().map(|(i, s)| format!("%a{i}: {}", name(s))).collect();
            let args: Vec<String> = (0..tys.len()).map(|i| format!("%a{i}")).collect();
            let text = format!(
                "core 1 fn f({}) {{ %r: {} = {} {} yield %r }}",
                params.join(", "),
                name(&result),
                prim.0.name,
                args.join(", ")
            );
            for k in 0..6 {
                let pick = |(i, s): (usize, &Scalar)| {
                    let from = samples(s);
                    from[(k * (i + 1) + i) % from.len()].clone()
                };
                let values: Vec<Value> = tys.iter().enumerate().map(pick).collect();
                let _ = both(&text, &values);
            }
        }
    }
}

#[test]
fn a_contraction_is_the_same_everywhere() {
    let text = "core 1
        fn f(%n: Int, %m: Int, %a: [%n][%m]F64, %b: [%m][%n]F64) {
          %c: [%n][%n]F64 = contract ab,bc->ac %a, %b
          %t: [%m][%m]F64 = contract ab,ca->bc %a, %b
          %s: F64 = contract ab,ba-> %a, %b
          %u: [2][%n][%n]F64 = for %i < 2 {
            %e: [%n][%n]F64 = contract ab,bc->ac %a, %b
            yield %e
          }
          yield %c, %t, %s, %u
        }";
    let (n, m) = (3, 70);
    let args = [Value::Int(3), Value::Int(70), matrix(n, m, &noise(n * m)), matrix(m, n, &noise(n * m))];
    both(text, &args).unwrap();
}

#[test]
fn a_repeated_call_asks_the_system_for_nothing() {
    let text = "core 1
        fn f(%n: Int) {
          %xs: [%n]Int = for %i < %n { yield %i }
          %ys: [%n]Int = for %j < %n {
            %x: Int = index %xs[%j]
            yield %x
          }
          yield %ys
        }";
    let compiled = machine(text);
    let (mut host, limits) = (adl_core::host::Closed::default(), adl_core::run::Limits::default());
    for _ in 0..3 {
        let outcome =
            compiled.run(adl_core::ir::FuncId(0), vec![Value::Int(1000)], &mut host, &limits).unwrap();
        assert!(outcome.values[0].as_table().is_some());
    }
    assert_eq!(compiled.leaks(), 0);
}

#[test]
fn custom_reductions_may_combine_tables() {
    let text = "core 1
        fn f(%n: Int, %zero: [2]F64) {
          %t: [2]F64, %s: <| Int> = reduce custom (%zero, %none) (%a: [2]F64, %p: <| Int>; %b: [2]F64, %q: <| Int>) {
            %x: F64 = index %b[0]
            %c: [2]F64 = update %a[0] = %x
            %y: F64 = index %a[1]
            %z: F64 = add %x, %y
            %d: [2]F64 = update %c[1] = %z
            yield %d, %q
          } %i < %n {
            %v: F64 = to_f64 %i
            %u: [2]F64 = for %j < 2 { yield %v }
            %w: <| Int> = inject 1 (%i) : <| Int>
            yield %u, %w
          }
          %lo: Str, %hi: Str = call texts(%n)
          yield %t, %s, %zero, %lo, %hi
        }
        fn texts(%n: Int) {
          %lo: Str = reduce min %i < %n {
            %k: Int = imod %i, 3
            %t: Str = show _ (%k)
            yield %t
          }
          %hi: Str = reduce max %i2 < %n {
            %k2: Int = imod %i2, 3
            %t2: Str = show _ (%k2)
            yield %t2
          }
          yield %lo, %hi
        }";
    let text = text.replacen("{\n", "{\n          %none: <| Int> = inject 0 () : <| Int>\n", 1);
    let got = both(&text, &[Value::Int(5), floats(&[0.0, 0.0])]).unwrap();
    assert!(got[0].same(&floats(&[4.0, 10.0])) && got[4].same(&Value::Str("2".into())));
}
