//! What a running program may ask of the outside. Whoever runs a program decides what it gets.

/// The door to the outside. Messages of failures are in plain words, without the path.
pub trait Host {
    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// Says why the file cannot be read.
    fn read_file(&mut self, path: &str) -> Result<Vec<u8>, String>;

    /// Writes a file as a whole.
    ///
    /// # Errors
    ///
    /// Says why the file cannot be written.
    fn write_file(&mut self, path: &str, bytes: &[u8]) -> Result<(), String>;

    /// A line of the output.
    ///
    /// # Errors
    ///
    /// Says why nothing can be written, such as a closed pipe; the program then ends.
    fn emit(&mut self, line: &str) -> Result<(), String>;

    /// A line of the trace, apart from the output.
    fn trace(&mut self, line: &str);
}

/// A host that keeps what is written and has no files. The default of the Rust API, and of tests.
#[derive(Clone, Debug, Default)]
pub struct Closed {
    /// The lines of the output.
    pub output: Vec<String>,
    /// The lines of the trace.
    pub trace: Vec<String>,
}

impl Host for Closed {
    fn read_file(&mut self, _path: &str) -> Result<Vec<u8>, String> {
        Err("this host gives no access to files".to_string())
    }

    fn write_file(&mut self, _path: &str, _bytes: &[u8]) -> Result<(), String> {
        Err("this host gives no access to files".to_string())
    }

    fn emit(&mut self, line: &str) -> Result<(), String> {
        self.output.push(line.to_string());
        Ok(())
    }

    fn trace(&mut self, line: &str) {
        self.trace.push(line.to_string());
    }
}
