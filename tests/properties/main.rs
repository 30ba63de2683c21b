//! Properties of derivatives and passes, over programs.

mod cost;
mod derivative;
mod digits;
mod mistakes;
mod random;
mod rows;
