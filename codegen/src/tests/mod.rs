//! Programs in Core text, run by the reference interpreter and by the machine.

mod forms;
mod random;
mod sums;

use adl_core::host::Closed;
use adl_core::ir::{FuncId, Program};
use adl_core::run::{Limits, RuntimeError};
use adl_core::value::{Leaves, Table, Value};

use crate::{Compiled, compile};

/// Compiles the text of a program.
#[track_caller]
fn machine(text: &str) -> Compiled {
    let program = match adl_core::parse::program(text) {
        Ok(program) => program,
        Err(error) => panic!("{} at {:?}", error.message, &text[error.at..]),
    };
    match compile(&program) {
        Ok(compiled) => compiled,
        Err(error) => panic!("{error:?}"),
    }
}

/// Runs the first function of a text by all executors and gives the values or the failure.
#[track_caller]
fn both(text: &str, args: &[Value]) -> Result<Vec<Value>, RuntimeError> {
    compare(&adl_core::parse::program(text).expect("Core text"), args, "")
}

/// Runs the first function by all executors, compares all they do, and gives the values or the failure.
#[track_caller]
fn compare(program: &Program, args: &[Value], what: &str) -> Result<Vec<Value>, RuntimeError> {
    let limits = Limits { memory: 1 << 30, ..Limits::default() };
    let (mut host, mut other) = (Closed::default(), Closed::default());
    let want = adl_core::interp::Interp::new(program).run(FuncId(0), args.to_vec(), &mut host, &limits);
    model(program, args, &want, &limits, what);
    let compiled = match compile(program) {
        Ok(compiled) => compiled,
        Err(error) => panic!("{error:?}"),
    };
    let got = compiled.run(FuncId(0), args.to_vec(), &mut other, &limits);
    assert_eq!((host.output, host.trace), (other.output, other.trace), "{what}");
    assert_eq!(compiled.leaks(), 0, "{what}: buffers are left over\n{}", compiled.loops());
    match (got, want) {
        (Ok(got), Ok(want)) => {
            let same = got.values.len() == want.values.len()
                && got.values.iter().zip(&want.values).all(|(x, y)| x.same(y));
            assert!(same, "{what}: {:?}\nis not\n{:?}\n{}", got.values, want.values, compiled.loops());
            Ok(got.values)
        }
        (Err(got), Err(want)) => {
            assert_eq!((got.code, &got.message), (want.code, &want.message), "{what}");
            Err(got)
        }
        (got, want) => panic!("{what}: {got:?}\nagainst\n{want:?}"),
    }
}

/// Runs the loops on the model of memory and compares with the reference interpreter.
#[track_caller]
fn model(
    program: &Program,
    args: &[Value],
    want: &Result<adl_core::interp::Outcome, RuntimeError>,
    limits: &Limits,
    what: &str,
) {
    let account = adl_core::account::Account::new(limits.memory);
    let loops = crate::interpret(program).expect("a lowering");
    match (loops.run_on(&account, FuncId(0), args, &mut Closed::default(), limits), want) {
        (Ok((got, leaks)), Ok(want)) => {
            assert!(got.values.iter().zip(&want.values).all(|(x, y)| x.same(y)), "{what}: {:?}", got.values);
            assert_eq!(leaks, 0, "{what}: buffers are left over");
        }
        (Err(got), Err(want)) => assert_eq!((got.code, &got.message), (want.code, &want.message), "{what}"),
        (Ok((got, _)), Err(want)) => panic!("{what}: {got:?} against {want:?}"),
        (Err(got), Ok(want)) => panic!("{what}: {got:?} against {want:?}"),
    }
}

/// Runs by both and compares with what is known.
#[track_caller]
fn check(text: &str, args: &[Value], want: &[Value]) {
    let got = both(text, args).expect("the program ends well");
    let same = got.len() == want.len() && got.iter().zip(want).all(|(x, y)| x.same(y));
    assert!(same, "{got:?} is not {want:?}");
}

fn floats(xs: &[f64]) -> Value {
    Table::of_f64(xs).into()
}

fn ints(xs: &[i64]) -> Value {
    Table::of_int(xs).into()
}

fn matrix(rows: usize, columns: usize, xs: &[f64]) -> Value {
    Table::new(&[rows, columns], Leaves::F64(xs.to_vec())).into()
}

/// Numbers of mixed size and sign.
fn noise(n: usize) -> Vec<f64> {
    (0..n).map(|k| ((k * 7919 % 1013) as f64 - 500.0) / 37.0).collect()
}
