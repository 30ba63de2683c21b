//! Properties of derivatives and passes, over programs.

mod derivative;
