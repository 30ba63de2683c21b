//! Properties of derivatives and passes, over programs.

mod accuracy;
mod cost;
mod derivative;
mod digits;
mod layout;
mod mistakes;
mod oracle;
mod random;
mod robust;
mod rows;
mod surface;
