//! Prints a random program of the surface language: `cargo run -p adl-tests --example random SEED`.

use std::io::Write;

use adl_tests::surface::program;

fn main() -> std::io::Result<()> {
    let seed: u64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1);
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    let choices: Vec<u8> = (0..400).map(|_| next()).collect();
    writeln!(std::io::stdout(), "{}", program(&choices).text)
}
