//! What programs may ask of this process: files beside the program, stdout, stderr.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The real outside.
pub(crate) struct RealHost {
    /// Relative paths of data files start here: the folder of the program.
    base: PathBuf,
    /// Has the reader of stdout gone away? Then the program ends, and that is no failure.
    pub(crate) closed: bool,
}

impl RealHost {
    /// For the program at `path`.
    pub(crate) fn beside(path: &str) -> RealHost {
        let base = Path::new(path).parent().map_or_else(PathBuf::new, Path::to_path_buf);
        RealHost { base, closed: false }
    }
}

impl adl::Host for RealHost {
    fn read_file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        std::fs::read(self.base.join(path)).map_err(|e| e.to_string())
    }

    fn write_file(&mut self, path: &str, bytes: &[u8]) -> Result<(), String> {
        std::fs::write(self.base.join(path), bytes).map_err(|e| e.to_string())
    }

    fn emit(&mut self, line: &str) -> Result<(), String> {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|e| {
            self.closed |= e.kind() == std::io::ErrorKind::BrokenPipe;
            e.to_string()
        })
    }

    fn trace(&mut self, line: &str) {
        crate::report::line(line);
    }
}

/// The real outside, but for lines of output and trace, which are kept.
pub(crate) struct QuietHost {
    real: RealHost,
    /// The lines so far.
    pub(crate) lines: Vec<String>,
}

impl QuietHost {
    /// For the program at `path`.
    pub(crate) fn beside(path: &str) -> QuietHost {
        QuietHost { real: RealHost::beside(path), lines: vec![] }
    }
}

impl adl::Host for QuietHost {
    fn read_file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        self.real.read_file(path)
    }

    fn write_file(&mut self, path: &str, bytes: &[u8]) -> Result<(), String> {
        self.real.write_file(path, bytes)
    }

    fn emit(&mut self, line: &str) -> Result<(), String> {
        self.trace(line);
        Ok(())
    }

    fn trace(&mut self, line: &str) {
        self.lines.push(line.to_string());
    }
}

/// The default limit on what a program may hold: 80 % of the machine's memory, or of its control group's.
fn memory_limit() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let total = read("/proc/meminfo").and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("MemTotal:"))?.to_string();
        line.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
    });
    let group = read("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse::<u64>().ok());
    let least = [total, group].into_iter().flatten().min()?;
    Some(least / 5 * 4)
}

/// The folders of `ADL_PATH`, in which modules are looked for.
pub(crate) fn module_path() -> Vec<String> {
    let folders = std::env::var_os("ADL_PATH").unwrap_or_default();
    let whole = |folder: PathBuf| std::path::absolute(&folder).unwrap_or(folder);
    let named = std::env::split_paths(&folders).filter(|folder| !folder.as_os_str().is_empty());
    named.map(|folder| whole(folder).to_string_lossy().into_owned()).collect()
}

/// Limits of a run, with a flag that Ctrl-C sets.
pub(crate) fn limits() -> adl::Limits {
    let mut limits = adl::Limits::default();
    if let Some(bytes) = memory_limit() {
        limits.memory = bytes;
    }
    cancel_on_ctrl_c(&limits.cancel);
    limits
}

/// Sets the flag when the user presses Ctrl-C; a second press ends the process.
fn cancel_on_ctrl_c(flag: &Arc<AtomicBool>) {
    let flag = flag.clone();
    let set = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            #[expect(clippy::disallowed_methods, reason = "the user insists")]
            std::process::exit(crate::Exit::Interrupted as i32);
        }
    });
    if let Err(error) = set {
        crate::report::line(&format!("Ctrl-C cannot be caught: {error}"));
    }
}
