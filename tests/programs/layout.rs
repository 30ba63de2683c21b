//! All programs of the project are laid out by `adl fmt`, but for those that are no programs.

use std::path::Path;

use crate::{bless, files};

/// Checks the files of the project, or lays them out.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let mut wrong = vec![];
    let mut count = 0;
    for folder in ["examples", "stdlib", "tests"] {
        for path in files(&root.join(folder), "adl") {
            let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            let Ok(laid_out) = adl::format(&mut adl::SourceMap::default(), &name, &text) else { continue };
            count += 1;
            if laid_out == text {
                continue;
            }
            if bless() {
                std::fs::write(&path, laid_out).map_err(|e| format!("{name}: {e}"))?;
            } else {
                wrong.push(format!("{name}: run `adl fmt {name}`"));
            }
        }
    }
    if count < 100 {
        wrong.push(format!("only {count} programs were found"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}
