//! `adl dump --after STAGE FILE`: the program as the compiler sees it.

use adl::{Config, Session};

use crate::host::{RealHost, module_path};
use crate::{Exit, report};

/// Options of `adl dump`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A stage or pass; `adl dump --after list -` names them all.
    #[arg(long, default_value = "last-use")]
    after: String,
    /// The program (`-` for standard input).
    file: String,
}

/// Prints it.
pub(crate) fn run(args: &Args) -> Exit {
    let stages = adl::stages();
    if args.after == "list" {
        report::out(&format!("{}\n", stages.join("\n")));
        return Exit::Ok;
    }
    if !stages.contains(&args.after.as_str()) {
        let help = format!("the stages are: {}", stages.join(", "));
        report::one(adl::Code::E0901, format!("there is no stage `{}`", args.after), &help);
        return Exit::Usage;
    }
    let text = match report::source(&args.file) {
        Ok(text) => text,
        Err(d) => return report::refuse(d, false),
    };
    let mut session = Session::new(Config { module_path: module_path(), ..Config::default() });
    match session.dump(&args.file, &text, &args.after, &mut RealHost::beside(&args.file)) {
        Ok(text) => {
            report::out(&text);
            Exit::Ok
        }
        Err(diagnostics) => {
            report::all(&diagnostics, &session.sources, false);
            Exit::Usage
        }
    }
}
