//! Where the time between text and result goes.

use std::time::{Duration, Instant};

/// Time spent by stage, added up over all items.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    /// Text to AST, the prelude included.
    pub parse: Duration,
    /// AST to higher-order Core, the prelude included.
    pub check: Duration,
    /// To first-order Core, without derivatives.
    pub specialise: Duration,
    /// Derivatives.
    pub expand: Duration,
    /// The passes.
    pub optimise: Duration,
    /// To loops.
    pub lower: Duration,
    /// To machine code.
    pub compile: Duration,
    /// Running.
    pub run: Duration,
}

/// Runs `work` and adds its time.
pub(crate) fn timed<T>(slot: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let out = work();
    *slot += start.elapsed();
    out
}

impl std::fmt::Display for Timing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        write!(
            f,
            "parse {:.1} ms, check {:.1} ms, specialise {:.1} ms, expand {:.1} ms, optimise {:.1} ms, \
             lower {:.1} ms, compile {:.1} ms, run {:.1} ms",
            ms(self.parse),
            ms(self.check),
            ms(self.specialise),
            ms(self.expand),
            ms(self.optimise),
            ms(self.lower),
            ms(self.compile),
            ms(self.run)
        )
    }
}
