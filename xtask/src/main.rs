//! Tasks of the house: ci, quick, tidy, bless.
fn main() {}
