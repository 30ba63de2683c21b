//! The text files of the project: each with its path from the root, in order.

use std::fs;
use std::path::Path;

/// A file that is UTF-8 text.
pub(crate) struct Text {
    /// The path from the root, with `/` on every platform.
    pub(crate) path: String,
    /// What the file holds.
    pub(crate) text: String,
}

/// All text files below the root, without build outputs and hidden folders other than `.ci` and `.cargo`.
pub(crate) fn texts(root: &Path) -> Result<Vec<Text>, String> {
    let mut found = vec![];
    walk(root, "", &mut found)?;
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// The names of files and folders that stand at the root.
pub(crate) fn root_names(root: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(root).map_err(|error| format!("{}: {error}", root.display()))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

fn walk(folder: &Path, prefix: &str, found: &mut Vec<Text>) -> Result<(), String> {
    for name in root_names(folder)? {
        let (full, path) = (folder.join(&name), format!("{prefix}{name}"));
        let hidden = name.starts_with('.') && name != ".ci" && name != ".cargo";
        let output = prefix.is_empty() && name.starts_with("target");
        if hidden || output {
            continue;
        }
        if full.is_dir() {
            walk(&full, &format!("{path}/"), found)?;
        } else if let Ok(text) = fs::read_to_string(&full) {
            found.push(Text { path, text });
        }
    }
    Ok(())
}
