//! `adl fmt FILE…`: lays programs out.

use std::io::Write;
use std::path::Path;

use crate::{Exit, report};

/// Options of `adl fmt`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write nothing; name the files that are laid out otherwise, and fail if there are any.
    #[arg(long)]
    check: bool,
    /// The programs (`-` for standard input, which goes to standard output).
    #[arg(required = true)]
    files: Vec<String>,
}

/// Lays them out.
pub(crate) fn run(args: &Args) -> Exit {
    let mut exit = Exit::Ok;
    for file in &args.files {
        let own = one(file, args.check);
        if exit == Exit::Ok || own == Exit::Usage {
            exit = own;
        }
    }
    exit
}

fn one(file: &str, check: bool) -> Exit {
    let text = match report::source(file) {
        Ok(text) => text,
        Err(d) => return report::refuse(d, false),
    };
    let mut sources = adl::SourceMap::default();
    let laid_out = match adl::format(&mut sources, file, &text) {
        Ok(laid_out) => laid_out,
        Err(diagnostics) => {
            report::all(&diagnostics, &sources, false);
            return Exit::Usage;
        }
    };
    let same = laid_out == text;
    if check {
        if !same {
            report::line(&format!("{file} is laid out otherwise"));
        }
        return if same { Exit::Ok } else { Exit::Failed };
    }
    let written = if file == "-" {
        std::io::stdout().lock().write_all(laid_out.as_bytes())
    } else if same {
        Ok(())
    } else {
        replace(Path::new(file), &laid_out)
    };
    match written {
        Ok(()) => Exit::Ok,
        Err(why) => {
            report::line(&format!("cannot write {file}: {why}"));
            Exit::Usage
        }
    }
}

/// Writes beside the file first, so that it is never half written.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".fmt-new");
    let beside = path.with_file_name(name);
    std::fs::write(&beside, text)?;
    std::fs::set_permissions(&beside, std::fs::metadata(path)?.permissions())?;
    std::fs::rename(&beside, path)
}
