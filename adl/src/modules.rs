//! Where modules are found: beside the file that imports them, in the folders of the search path, in the library.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use adl_core::host::Host;
use adl_diag::{FileId, SourceMap};
use adl_typecheck::{Loader, Source};

/// The modules that a session has seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Modules {
    /// The latest text by path, or by name in the library.
    files: BTreeMap<String, FileId>,
    /// The folders of files that are not in the folder of the program.
    folders: HashMap<FileId, String>,
    /// The files of the library.
    pub(crate) library: BTreeSet<FileId>,
}

/// Looks for modules while one text is checked.
pub(crate) struct Finder<'a> {
    pub(crate) modules: &'a mut Modules,
    pub(crate) sources: &'a mut SourceMap,
    pub(crate) host: &'a mut dyn Host,
    /// The search path.
    pub(crate) path: &'a [String],
    /// What the program is called, to name files beside it.
    pub(crate) program: String,
}

impl Loader for Finder<'_> {
    fn load(&mut self, path: &[String], from: FileId) -> Option<Source> {
        let file = format!("{}.adl", path.join("/"));
        let beside = self.modules.folders.get(&from).cloned().unwrap_or_default();
        // The library sees itself only, whatever lies in the folders of the user.
        let folders = if self.modules.library.contains(&from) {
            vec![]
        } else {
            std::iter::once(beside).chain(self.path.iter().cloned()).collect::<Vec<String>>()
        };
        for folder in folders {
            let place = join(&folder, &file);
            if let Some(text) = self.read(&place) {
                let shown = join(&folder_of(&self.program), &place);
                return Some(self.source(&place, &shown, text, folder_of(&place)));
            }
        }
        let name = path.join(".");
        let text = adl_stdlib::module(&name)?;
        let source = self.source(&name, &file, text.to_string(), String::new());
        self.modules.library.insert(source.file);
        Some(source)
    }

    fn known(&mut self) -> Vec<String> {
        adl_stdlib::MODULES.iter().map(|(name, _)| (*name).to_string()).collect()
    }
}

impl Finder<'_> {
    /// The text of a file, if there is one.
    fn read(&mut self, path: &str) -> Option<String> {
        let bytes = self.host.read_file(path).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The same file while its text is the same, so that a module is not run twice; a new one when it has changed.
    fn source(&mut self, key: &str, shown: &str, text: String, folder: String) -> Source {
        let known = self.modules.files.get(key).copied().filter(|f| self.sources.file(*f).text == text);
        let file = known.unwrap_or_else(|| self.sources.add(shown, text.clone()));
        self.modules.files.insert(key.to_string(), file);
        self.modules.folders.insert(file, folder);
        Source { file, text }
    }
}

/// The path of a file in a folder; the empty folder is the one of the program.
fn join(folder: &str, file: &str) -> String {
    if folder.is_empty() || file.starts_with('/') { file.to_string() } else { format!("{folder}/{file}") }
}

fn folder_of(path: &str) -> String {
    path.rsplit_once('/').map(|(folder, _)| folder.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host with these files.
    struct Files(BTreeMap<String, String>);

    impl Host for Files {
        fn read_file(&mut self, path: &str) -> Result<Vec<u8>, String> {
            self.0.get(path).map(|t| t.clone().into_bytes()).ok_or("no such file".to_string())
        }

        fn write_file(&mut self, _path: &str, _bytes: &[u8]) -> Result<(), String> {
            Err("this host writes nothing".to_string())
        }

        fn emit(&mut self, _line: &str) -> Result<(), String> {
            Ok(())
        }

        fn trace(&mut self, _line: &str) {}
    }

    fn files(list: &[(&str, &str)]) -> Files {
        Files(list.iter().map(|(path, text)| ((*path).to_string(), (*text).to_string())).collect())
    }

    /// The names and texts that these imports find, each from the file found before (the first from the program).
    fn find(host: &mut Files, modules: &mut Modules, imports: &[&str]) -> Vec<(FileId, String, String)> {
        let mut sources = SourceMap::new();
        let mut from = sources.add("dir/main.adl", "");
        let path = ["/path".to_string()];
        let program = "dir/main.adl".to_string();
        let mut finder = Finder { modules, sources: &mut sources, host, path: &path, program };
        let mut out = vec![];
        for import in imports {
            let parts: Vec<String> = import.split('.').map(str::to_string).collect();
            let Some(source) = finder.load(&parts, from) else {
                out.push((FileId::default(), String::new(), String::new()));
                continue;
            };
            from = source.file;
            out.push((source.file, finder.sources.file(source.file).name.clone(), source.text));
        }
        out
    }

    #[test]
    fn a_module_is_beside_its_importer_then_on_the_path_then_in_the_library() {
        let mut host = files(&[
            ("a.adl", "beside"),
            ("sub/b.adl", "in a folder"),
            ("sub/a.adl", "beside b"),
            ("/path/a.adl", "hidden"),
            ("/path/c.adl", "on the path"),
        ]);
        let found = find(&mut host, &mut Modules::default(), &["a", "sub.b", "a", "c", "complex", "c"]);
        let shown: Vec<(&str, &str)> =
            found.iter().map(|(_, name, text)| (name.as_str(), text.get(..11).unwrap_or(text))).collect();
        assert_eq!(
            shown,
            [
                ("dir/a.adl", "beside"),
                ("dir/sub/b.adl", "in a folder"),
                ("dir/sub/a.adl", "beside b"),
                ("/path/c.adl", "on the path"),
                ("complex.adl", "// Complex "),
                // The library does not see the folders of the user.
                ("", ""),
            ]
        );
    }

    #[test]
    fn a_module_is_another_one_when_its_text_changed() {
        let mut modules = Modules::default();
        let mut host = files(&[("a.adl", "old")]);
        let mut sources = SourceMap::new();
        let mut load = |host: &mut Files| {
            let program = String::new();
            let mut finder =
                Finder { modules: &mut modules, sources: &mut sources, host, path: &[], program };
            finder.load(&["a".to_string()], FileId::default()).map(|s| s.file)
        };
        let first = load(&mut host);
        assert_eq!(load(&mut host), first);
        host.0.insert("a.adl".to_string(), "new".to_string());
        assert_ne!(load(&mut host), first);
    }
}
