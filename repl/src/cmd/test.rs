//! `adl test`: runs the tests of programs, on all cores; what they gave stands in the order of the source.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use adl::{Backend, Code, Config, Diagnostic, Limits, Session, SourceMap, Verdict};
use serde_json::{Value, json};

use crate::host::{QuietHost, limits, module_path};
use crate::{Exit, report};

/// Options of `adl test`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Programs, and folders whose programs are tested.
    #[arg(default_value = ".")]
    paths: Vec<String>,
    /// Only the tests with this text in their names.
    #[arg(long)]
    filter: Option<String>,
    /// Use the reference interpreter.
    #[arg(long)]
    interp: bool,
    /// Write one JSON object a test.
    #[arg(long)]
    json: bool,
    /// How many tests run at once; as many as there are cores.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// Tests of one program that one thread runs, by their numbers in the program.
struct Task {
    path: String,
    text: String,
    tests: Vec<(usize, String)>,
    /// Is it the first of its program?
    first: bool,
}

/// What a task gave.
struct Report {
    path: String,
    first: bool,
    /// Of the check.
    diagnostics: Vec<Message>,
    rejected: bool,
    tests: Vec<Tested>,
}

struct Tested {
    name: String,
    time: Duration,
    verdict: &'static str,
    /// Lines of its trace.
    trace: Vec<String>,
    failure: Option<Message>,
}

/// A diagnostic, for people or as JSON.
enum Message {
    Text(String),
    Json(Value),
}

/// What runs all tasks alike.
#[derive(Clone)]
struct Settings {
    backend: Backend,
    limits: Limits,
    json: bool,
}

/// Runs them.
pub(crate) fn run(args: &Args) -> Exit {
    let start = Instant::now();
    let files = match files(&args.paths, args.json) {
        Ok(files) => files,
        Err(exit) => return exit,
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = args.threads.map_or(cores, usize::from);
    let mut settings = Settings {
        backend: if args.interp { Backend::Interpreter } else { Backend::Machine },
        limits: limits(),
        json: args.json,
    };
    settings.limits.memory /= threads as u64;
    let tasks = match tasks(&files, args.filter.as_deref(), threads, args.json) {
        Ok(tasks) => tasks,
        Err(exit) => return exit,
    };
    let mut summary = Summary { files: tasks.iter().filter(|t| t.first).count(), ..Summary::default() };
    let pool = match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool,
        Err(error) => {
            report::line(&format!("cannot start threads: {error}"));
            return Exit::Internal;
        }
    };
    in_order(
        &pool,
        tasks,
        |task| guarded(task, &settings),
        |gave| match gave {
            Some(gave) => summary.add(&gave, args.json),
            None => summary.internal = true,
        },
    );
    let interrupted = settings.limits.cancelled();
    summary.end(args, start.elapsed());
    if summary.internal {
        Exit::Internal
    } else if interrupted {
        Exit::Interrupted
    } else {
        summary.exit()
    }
}

/// Does the work on the pool, and gives each result to `each` in the order of the tasks, as soon as those before
/// it are there.
fn in_order<T: Send, R: Send>(
    pool: &rayon::ThreadPool,
    tasks: Vec<T>,
    work: impl Fn(T) -> R + Sync,
    mut each: impl FnMut(R),
) {
    let (send, receive) = mpsc::channel();
    let work = &work;
    pool.in_place_scope(|scope| {
        for (k, task) in tasks.into_iter().enumerate() {
            let send = send.clone();
            // The receiver is there until the scope ends.
            scope.spawn(move |_| drop(send.send((k, work(task)))));
        }
        drop(send);
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for (k, result) in receive {
            waiting.insert(k, result);
            while let Some(result) = waiting.remove(&next) {
                each(result);
                next += 1;
            }
        }
    });
}

/// The programs: files as they are, and all `.adl` files below folders, sorted.
fn files(paths: &[String], json: bool) -> Result<Vec<PathBuf>, Exit> {
    let mut out = vec![];
    for path in paths {
        let wrong = |path: &Path, error: &std::io::Error| {
            let message = format!("cannot read `{}`: {error}", path.display());
            report::refuse(Diagnostic::error(Code::E0801, message).help("check the path"), json)
        };
        let mut todo = vec![PathBuf::from(path)];
        let mut found = vec![];
        while let Some(path) = todo.pop() {
            let is_dir = std::fs::metadata(&path).map_err(|e| wrong(&path, &e))?.is_dir();
            if !is_dir {
                found.push(path);
                continue;
            }
            for entry in std::fs::read_dir(&path).map_err(|e| wrong(&path, &e))? {
                let entry = entry.map_err(|e| wrong(&path, &e))?;
                let kind = entry.file_type().map_err(|e| wrong(&entry.path(), &e))?;
                let hidden = entry.file_name().to_string_lossy().starts_with('.');
                // Links to folders are not followed: they may lead back.
                if !hidden && (kind.is_dir() || is_program(&entry.path())) {
                    todo.push(entry.path());
                }
            }
        }
        found.sort();
        out.extend(found);
    }
    let mut seen = std::collections::HashSet::new();
    out.retain(|path| seen.insert(path.clone()));
    Ok(out)
}

fn is_program(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "adl") && path.is_file()
}

/// What each thread does. The tests of a program are parted where there are more threads than programs; each part
/// then computes the program's `let`s for itself.
fn tasks(files: &[PathBuf], filter: Option<&str>, threads: usize, json: bool) -> Result<Vec<Task>, Exit> {
    let mut out = vec![];
    for file in files {
        let path = file.strip_prefix("./").unwrap_or(file).display().to_string();
        let text = report::source(&file.display().to_string()).map_err(|d| report::refuse(d, json))?;
        let tests = adl::tests_in(&text).into_iter().enumerate();
        let chosen: Vec<(usize, String)> =
            tests.filter(|(_, name)| filter.is_none_or(|f| name.contains(f))).collect();
        if chosen.is_empty() && filter.is_some() {
            continue;
        }
        let parts = threads.div_ceil(files.len().max(1));
        let size = chosen.len().div_ceil(parts).max(1);
        let mut chunks: Vec<Vec<(usize, String)>> = chosen.chunks(size).map(<[_]>::to_vec).collect();
        if chunks.is_empty() {
            chunks.push(vec![]);
        }
        for (k, tests) in chunks.into_iter().enumerate() {
            out.push(Task { path: path.clone(), text: text.clone(), tests, first: k == 0 });
        }
    }
    Ok(out)
}

/// Runs a task on a stack of its own. A mistake of adl itself ends the task only.
fn guarded(task: Task, settings: &Settings) -> Option<Report> {
    let work = || catch_unwind(AssertUnwindSafe(|| perform(task, settings)));
    match adl::on_large_stack(work) {
        Ok(Ok(report)) => Some(report),
        Ok(Err(_)) => {
            report::line(crate::OWN_MISTAKE);
            None
        }
        Err(error) => {
            report::line(&format!("cannot start a thread: {error}"));
            None
        }
    }
}

fn perform(task: Task, settings: &Settings) -> Report {
    let message = |d: &Diagnostic, sources: &SourceMap| {
        if settings.json {
            Message::Json(adl::to_json(d, sources))
        } else {
            Message::Text(report::rendered(d, sources))
        }
    };
    let (backend, limits) = (settings.backend, settings.limits.clone());
    let mut session = Session::new(Config { backend, limits, params: vec![], module_path: module_path() });
    let mut out =
        Report { path: task.path, first: task.first, diagnostics: vec![], rejected: false, tests: vec![] };
    let mut host = QuietHost::beside(&out.path);
    let found = match session.suite(&out.path, &task.text, &mut host) {
        Ok((mut suite, warnings)) => {
            for (number, name) in task.tests {
                if settings.limits.cancelled() {
                    break;
                }
                let start = Instant::now();
                let (verdict, failure) = match suite.run(number, &mut host) {
                    Verdict::Passed => ("ok", None),
                    Verdict::Failed(d) => ("FAILED", Some(d)),
                    Verdict::NotRun(d) => ("NOT RUN", Some(d)),
                };
                let failure = failure.map(|d| message(&d, suite.sources()));
                let trace = std::mem::take(&mut host.lines);
                out.tests.push(Tested { name, time: start.elapsed(), verdict, trace, failure });
            }
            warnings
        }
        Err(errors) => {
            out.rejected = true;
            errors
        }
    };
    if out.first {
        out.diagnostics = found.iter().map(|d| message(d, &session.sources)).collect();
    }
    out
}

/// Counts, and what has been said.
#[derive(Default)]
struct Summary {
    files: usize,
    passed: usize,
    failed: usize,
    rejected: usize,
    internal: bool,
    /// What kept tests of the last program from running, which is said once.
    said: Option<(String, String)>,
}

impl Summary {
    fn add(&mut self, report: &Report, json: bool) {
        self.rejected += usize::from(report.rejected && report.first);
        for d in &report.diagnostics {
            match d {
                Message::Text(text) => report::line(text),
                Message::Json(d) => {
                    report::out(&format!("{}\n", json!({ "file": report.path, "diagnostic": d })));
                }
            }
        }
        for test in &report.tests {
            *(if test.verdict == "ok" { &mut self.passed } else { &mut self.failed }) += 1;
            if json { test.say_json(&report.path) } else { self.say(&report.path, test) }
        }
    }

    /// A line for the test; below a failure what it traced and the diagnostic.
    fn say(&mut self, path: &str, test: &Tested) {
        let ms = test.time.as_secs_f64() * 1e3;
        report::out(&format!("{:7} {path}: {} ({ms:.1} ms)\n", test.verdict, test.name));
        let Some(Message::Text(text)) = &test.failure else { return };
        test.trace.iter().for_each(|line| report::line(line));
        let said = (path.to_string(), text.clone());
        if test.verdict == "FAILED" || self.said.as_ref() != Some(&said) {
            report::line(text);
        }
        self.said = Some(said);
    }

    fn end(&self, args: &Args, time: Duration) {
        let Summary { files, passed, failed, rejected, .. } = self;
        if args.json {
            let line = json!({ "passed": passed, "failed": failed, "files": files, "rejected": rejected });
            report::out(&format!("{line}\n"));
            return;
        }
        let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let mut line = format!("{passed} passed, {failed} failed in {}", plural(*files, "file"));
        match rejected {
            0 => {}
            1 => line += "; 1 file does not check",
            n => line += &format!("; {n} files do not check"),
        }
        if let Some(filter) = args.filter.as_ref().filter(|_| passed + failed == 0) {
            line += &format!("; no test has `{filter}` in its name");
        }
        report::out(&format!("{line} ({:.2} s)\n", time.as_secs_f64()));
    }

    fn exit(&self) -> Exit {
        match (self.rejected, self.failed) {
            (0, 0) => Exit::Ok,
            (0, _) => Exit::Failed,
            _ => Exit::Usage,
        }
    }
}

impl Tested {
    fn say_json(&self, path: &str) {
        let diagnostic = match &self.failure {
            Some(Message::Json(d)) => d.clone(),
            Some(Message::Text(_)) | None => Value::Null,
        };
        let line = json!({
            "file": path, "test": self.name, "outcome": self.verdict.to_lowercase(),
            "ms": self.time.as_secs_f64() * 1e3, "trace": self.trace, "diagnostic": diagnostic,
        });
        report::out(&format!("{line}\n"));
    }
}
