//! The `adl` command. One subcommand a file in `cmd`.

mod cmd;
mod host;
mod report;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// adl, a differentiable functional array language.
#[derive(Parser)]
#[command(name = "adl", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a program. What follows FILE belongs to the program (`--steps 1000`).
    Run(cmd::run::Args),
    /// Check a program without running it.
    Check(cmd::check::Args),
    /// Lay programs out.
    Fmt(cmd::fmt::Args),
    /// Run the tests of programs.
    Test(cmd::test::Args),
    /// Print a program after a stage of the compiler.
    Dump(cmd::dump::Args),
    /// Explore: evaluate line by line.
    Repl(cmd::repl::Args),
    /// Say what a diagnostic code means.
    Explain(cmd::explain::Args),
}

/// What is said after a panic.
pub(crate) const OWN_MISTAKE: &str =
    "This is a mistake of adl itself. Please report it with the program that caused it.";

/// What the process reports to the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All went well.
    Ok = 0,
    /// The program failed.
    Failed = 1,
    /// Usage, unreadable or ill-formed source, check errors.
    Usage = 2,
    /// A mistake of adl itself.
    Internal = 101,
    /// Ctrl-C.
    Interrupted = 130,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let work = || match cli.command {
        Command::Run(args) => cmd::run::run(&args),
        Command::Check(args) => cmd::check::run(&args),
        Command::Fmt(args) => cmd::fmt::run(&args),
        Command::Test(args) => cmd::test::run(&args),
        Command::Dump(args) => cmd::dump::run(&args),
        Command::Repl(args) => cmd::repl::run(&args),
        Command::Explain(args) => cmd::explain::run(&args),
    };
    let guarded = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    let exit = match adl::on_large_stack(guarded) {
        Ok(Ok(exit)) => exit,
        Ok(Err(_)) => {
            report::line(OWN_MISTAKE);
            Exit::Internal
        }
        Err(error) => {
            report::line(&format!("cannot start a thread: {error}"));
            Exit::Internal
        }
    };
    ExitCode::from(exit as u8)
}
