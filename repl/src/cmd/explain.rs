//! `adl explain CODE`: what a diagnostic means.

use crate::{Exit, report};

/// Options of `adl explain`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A code, such as `E0203`.
    code: String,
}

/// Says it.
pub(crate) fn run(args: &Args) -> Exit {
    match adl::Code::from_name(&args.code) {
        Some(code) => {
            report::out(code.explain());
            Exit::Ok
        }
        None => {
            report::one(
                adl::Code::E0901,
                format!("there is no code `{}`", args.code),
                "codes stand in brackets at the start of a diagnostic",
            );
            Exit::Usage
        }
    }
}
