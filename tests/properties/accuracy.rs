//! The scalar functions against values at 60 digits (`tests/golden/scalars.py`), in units in the last place.

use std::collections::BTreeMap;

use adl_core::prim::{self, S};
use adl_core::ty::Scalar;

/// What is allowed where it is more than two units: sums of many terms that are rounded each.
const LOOSER: &[(&str, f64)] = &[("lbeta", 4.0), ("polygamma", 4.0), ("trigamma", 4.0)];

/// The distance between two floats, in units in the last place of the second.
fn ulps(x: f64, want: f64) -> f64 {
    let next = f64::from_bits(want.abs().to_bits() + 1) - want.abs();
    (x - want).abs() / next
}

fn float(bits: &str) -> f64 {
    f64::from_bits(u64::from_str_radix(bits, 16).expect("the bits of a float"))
}

#[test]
fn scalar_functions_are_right_to_two_units_in_the_last_place() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/scalars.txt");
    let text = std::fs::read_to_string(path).expect("it is in the project");
    let mut worst: BTreeMap<&str, (f64, String)> = BTreeMap::new();
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, args @ .., want] = words.as_slice() else {
            panic!("a name, operands and a value: {line}")
        };
        let row = prim::by_name(name).unwrap_or_else(|| panic!("no primitive `{name}`"));
        let args: Vec<f64> = args.iter().map(|bits| float(bits)).collect();
        let scalars = row.0.instances().into_iter().find(|s| s[0] == Scalar::F64).expect("it takes F64");
        let operands: Vec<S> = scalars
            .iter()
            .zip(&args)
            .map(|(s, x)| if *s == Scalar::Int { S::Int(*x as i64) } else { S::F64(*x) })
            .collect();
        let Ok(S::F64(got)) = row.0.apply(&operands) else { panic!("{name} gives a float") };
        let off = ulps(got, float(want));
        let entry = worst.entry(name).or_default();
        if entry.0 < off || off.is_nan() {
            *entry = (off, format!("{name}{args:?} = {got:e}, not {:e}", float(want)));
        }
    }
    assert!(30 < worst.len(), "only {} functions", worst.len());
    for (name, (off, _)) in &worst {
        println!("{name:>10} {off:.2}");
    }
    let allowed = |name: &str| LOOSER.iter().find(|(n, _)| *n == name).map_or(2.0, |(_, ulps)| *ulps);
    let wrong: Vec<&String> = worst
        .iter()
        .filter(|(name, (off, _))| allowed(name) < *off || off.is_nan())
        .map(|(_, (_, text))| text)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
