//! The library of adl, written in adl.

/// What every program has without an import.
pub const PRELUDE: &str = concat!(
    include_str!("../adl/prelude.adl"),
    "\n",
    include_str!("../adl/linear-algebra.adl"),
    "\n",
    include_str!("../adl/random.adl"),
);

/// The modules that can be imported, with their texts.
pub const MODULES: &[(&str, &str)] = &[
    ("complex", include_str!("../adl/complex.adl")),
    ("dual", include_str!("../adl/dual.adl")),
    ("quaternion", include_str!("../adl/quaternion.adl")),
];

/// The text of a module.
pub fn module(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}
