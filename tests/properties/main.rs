//! Properties of derivatives and passes, over programs.

mod derivative;
mod random;
mod rows;
