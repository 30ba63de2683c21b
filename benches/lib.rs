//! Benchmarks: `cargo bench -p adl-benches`. Each prints its figures; none of them is a test.
