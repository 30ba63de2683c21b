//! A host with the files of one folder, which keeps what is printed.

use std::path::{Path, PathBuf};

use adl::Host;

/// Files beside a program; output and trace are kept.
#[derive(Clone, Debug)]
pub struct Beside {
    folder: PathBuf,
    /// The lines of the output.
    pub output: Vec<String>,
    /// The lines of the trace.
    pub trace: Vec<String>,
}

impl Beside {
    /// The files of this folder.
    pub fn new(folder: &Path) -> Beside {
        Beside { folder: folder.to_path_buf(), output: vec![], trace: vec![] }
    }
}

impl Host for Beside {
    fn read_file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        std::fs::read(self.folder.join(path)).map_err(|e| e.to_string())
    }

    fn write_file(&mut self, _path: &str, _bytes: &[u8]) -> Result<(), String> {
        Err("tests write nothing".into())
    }

    fn emit(&mut self, line: &str) -> Result<(), String> {
        self.output.push(line.into());
        Ok(())
    }

    fn trace(&mut self, line: &str) {
        self.trace.push(line.into());
    }
}
