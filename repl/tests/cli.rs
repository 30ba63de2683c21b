//! The command from outside: output, exit codes, bad input.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder of this test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("adl-cli-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }
    fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).expect("a temporary file");
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn adl(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_adl")).args(args).env("NO_COLOR", "1").output().expect("adl starts")
}

fn adl_with_input(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_adl"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("adl starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

#[track_caller]
fn expect(out: &Output, code: i32, stdout: &str, in_stderr: &[&str]) {
    let err = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(code), "{err}");
    assert_eq!(String::from_utf8_lossy(&out.stdout), stdout, "{err}");
    for part in in_stderr {
        assert!(err.contains(part), "`{part}` is not in:\n{err}");
    }
    assert!(!err.contains("panicked"), "{err}");
}

#[test]
fn runs_a_program_in_both_executors() {
    let folder = Folder::new("run");
    let file = folder.file("a.adl", b"param k: Int = 2\nlet x = [1.0, 2.0]\nsum(x) * float(k)\n");
    expect(&adl(&["run", &file]), 0, "6.0\n", &[]);
    expect(&adl(&["run", "--interp", &file]), 0, "6.0\n", &[]);
    expect(&adl(&["run", &file, "--k", "5"]), 0, "15.0\n", &[]);
    expect(&adl(&["check", &file]), 0, "", &[]);
}

// S-programs-10 S-programs-11 S-programs-12
#[test]
fn parameters_are_given_on_the_command_line() {
    let folder = Folder::new("params");
    let text = b"/// Trains.\ndef f(x: Float) -> Float = x\n\n/// How many\n/// steps.\nparam steps: Int = 5 * 100\n\
        param rate: Float = 0.1\nparam fast: Bool = false\nparam name: String = \"a\"\n(steps, rate, fast, name)\n";
    let file = folder.file("p.adl", text);
    let run = |more: &[&str]| adl(&[&["run", &file], more].concat());
    expect(&run(&[]), 0, "(500, 0.1, false, \"a\")\n", &[]);
    let all = ["--steps", "1_000", "--rate=-1e-3", "--fast", "--name", "b c"];
    expect(&run(&all), 0, "(1000, -0.001, true, \"b c\")\n", &[]);
    expect(&run(&["--fast=false", "--steps=0x10", "--steps", "7"]), 0, "(7, 0.1, false, \"a\")\n", &[]);
    let help = format!(
        "Trains.\n\nUsage: adl run {file} [--name value]…\n\n  \
         --steps Int    How many steps. (default: 5 * 100)\n  --rate Float   (default: 0.1)\n  \
         --fast Bool    (default: false)\n  --name String  (default: \"a\")\n"
    );
    expect(&run(&["--help"]), 0, &help, &[]);
    expect(&run(&["--stesp", "7"]), 2, "", &["E0901", "`--stesp`", "did you mean `--steps`?"]);
    expect(&run(&["--other", "7"]), 2, "", &["E0901", "--steps, --rate, --fast, --name"]);
    expect(&run(&["--steps", "1.5"]), 2, "", &["E0901", "whole number", "`1.5`"]);
    expect(&run(&["--rate"]), 2, "", &["E0901", "`--rate` takes a number", "nothing is given"]);
    expect(&run(&["--fast", "yes"]), 2, "", &["E0901", "`true` or `false`"]);
    expect(&run(&["7"]), 2, "", &["E0901", "`7` is not a parameter"]);
    // What stands behind the file is the program's.
    expect(&run(&["--interp"]), 2, "", &["E0901", "`--interp`"]);
}

// S-programs-4
#[test]
fn a_failure_ends_the_run_after_what_was_printed() {
    let folder = Folder::new("fail");
    let file = folder.file("a.adl", b"1 + 1\nlet k = 7\n[1, 2][k]\n3\n");
    expect(&adl(&["run", &file]), 1, "2\n", &["E0701", "a.adl:3"]);
}

// S-programs-7 S-programs-8
#[test]
fn failures_say_what_and_where() {
    let folder = Folder::new("messages");
    let close = folder.file("c.adl", b"trace(\"x\", 1.5)\nassert_close([1.0, 2.0], [1.0, 2.5])\n");
    let said =
        ["x: 1.5", "E0705", "[1.0, 2.0] and [1.0, 2.5] are not close: they differ by 0.5", "c.adl:2:1"];
    expect(&adl(&["run", &close]), 1, "1.5\n", &said);
    let error = folder.file("e.adl", b"error(\"no \" ++ show([1]))\n");
    expect(&adl(&["run", &error]), 1, "", &["E0704", "no [1]", "e.adl:1:1"]);
}

/// The output of `adl test` without times.
fn tested(args: &[&str]) -> (i32, String, String) {
    let out = adl(&[&["test"], args].concat());
    let text = String::from_utf8_lossy(&out.stdout);
    let lines = text.lines().map(|l| l.rsplit_once(" (").map_or(l, |(line, _)| line).to_string() + "\n");
    let err = String::from_utf8_lossy(&out.stderr).into_owned();
    (out.status.code().expect("it ends"), lines.collect(), err)
}

const TESTS: &[u8] = b"let x = trace(\"once\", 2.0)\ndef f(y: Float) -> Float = x * y\n\
    test \"twice\" { assert_close(f(3.0), 6.0) }\n\
    x\n\
    test \"thrice\" {\n  trace(\"f\", f(1.0))\n  assert_close(f(3.0), 9.0)\n}\n\
    test \"slope\" { assert_close(grad(f)(3.0), 2.0) }\n";

// S-programs-14 S-programs-15
#[test]
fn tests_run_in_the_order_of_the_source_on_any_number_of_threads() {
    let folder = Folder::new("tests");
    let file = folder.file("a.adl", TESTS);
    let lines = format!(
        "ok      {file}: twice\nFAILED  {file}: thrice\nok      {file}: slope\n2 passed, 1 failed in 1 file\n"
    );
    for threads in ["1", "2", "7"] {
        let (code, out, err) = tested(&["--threads", threads, &file]);
        assert_eq!((code, out), (1, lines.clone()), "{err}");
        assert!(
            err.contains("f: 2.0") && err.contains("6.0 and 9.0 are not close") && err.contains("a.adl:7:3")
        );
    }
    let (code, out, _) = tested(&["--filter", "slo", "--interp", &file]);
    assert_eq!((code, out), (0, format!("ok      {file}: slope\n1 passed, 0 failed in 1 file\n")));
    let (code, out, _) = tested(&["--filter", "nothing", &file]);
    assert_eq!((code, out.contains("no test has `nothing`")), (0, true), "{out}");
    // A run is not a test.
    expect(&adl(&["run", &file]), 0, "2.0\n", &["once: 2.0"]);
}

#[test]
fn a_folder_is_tested_with_all_below_it() {
    let folder = Folder::new("folder");
    std::fs::create_dir_all(folder.0.join("sub")).expect("a folder");
    folder.file("b.adl", b"test \"b\" { assert(true, \"\") }\n");
    folder.file("notes.txt", b"test");
    let broken = b"test \"before\" { () }\nlet y = [1][3]\ntest \"one\" { assert(y > 0, \"\") }\ntest \"two\" { assert(y > 0, \"\") }\n";
    folder.file("sub/a.adl", broken);
    let dir = folder.0.display().to_string();
    let (code, out, err) = tested(&[&dir, "--threads", "1"]);
    let lines = format!(
        "ok      {dir}/b.adl: b\nok      {dir}/sub/a.adl: before\nNOT RUN {dir}/sub/a.adl: one\n\
         NOT RUN {dir}/sub/a.adl: two\n2 passed, 2 failed in 2 files\n"
    );
    assert_eq!((code, out), (1, lines), "{err}");
    assert_eq!(err.matches("E0701").count(), 1, "the reason is said once: {err}");

    folder.file("wrong.adl", b"test \"w\" { 1 == 1 }\n");
    let (code, out, err) = tested(&[&dir]);
    assert!(code == 2 && out.contains("1 file does not check") && out.contains("ok      "), "{out}");
    assert!(err.contains("E0201") && err.contains("assert"), "{err}");
    assert_eq!(tested(&[&folder.0.join("none").display().to_string()]).0, 2);
}

// S-programs-15
#[test]
fn results_of_tests_are_json_on_demand() {
    let folder = Folder::new("testjson");
    let file = folder.file("a.adl", TESTS);
    let out = adl(&["test", "--json", &file]);
    let lines: Vec<serde_json::Value> = String::from_utf8_lossy(&out.stdout)
        .lines()
        .map(|l| serde_json::from_str(l).expect("an object a line"))
        .collect();
    assert_eq!(out.status.code(), Some(1));
    assert_eq!(lines.len(), 4);
    assert_eq!((&lines[0]["test"], &lines[0]["outcome"]), (&"twice".into(), &"ok".into()));
    assert_eq!((&lines[1]["diagnostic"]["code"], &lines[1]["trace"][0]), (&"E0705".into(), &"f: 2.0".into()));
    assert_eq!((&lines[3]["passed"], &lines[3]["failed"]), (&2.into(), &1.into()));
}

// S-programs-27
#[test]
fn wrong_programs_do_not_run() {
    let folder = Folder::new("wrong");
    let file = folder.file("a.adl", b"1 + 1\n1.0 + true\n");
    expect(&adl(&["run", &file]), 2, "", &["Error", "a.adl:2"]);
    expect(&adl(&["check", "--json", &file]), 2, "", &["{\"code\":\"E0203\""]);
    let open = folder.file("b.adl", b"let x = (1 + 2\n");
    expect(&adl(&["run", &open]), 2, "", &["E01"]);
}

#[test]
fn every_diagnostic_is_json_on_demand() {
    let folder = Folder::new("json");
    let file = folder.file("a.adl", b"let k = 5\n[1.0][k]\n");
    let missing = folder.0.join("none.adl").display().to_string();
    // S-errors-7
    for (args, code) in [
        (vec!["run", "--json", &file], "E0701"),
        (vec!["run", "--json", &missing], "E0801"),
        (vec!["check", "--json", &missing], "E0801"),
        (vec!["test", "--json", &missing], "E0801"),
        (vec!["run", "--json", &file, "x"], "E0901"),
        (vec!["run", "--json", &file, "--k", "1"], "E0901"),
    ] {
        let out = adl(&args);
        let lines = String::from_utf8_lossy(&out.stderr).into_owned();
        let d: serde_json::Value = serde_json::from_str(&lines).expect("one object");
        let fields: Vec<&String> = d.as_object().expect("an object").keys().collect();
        assert_eq!(fields, ["code", "help", "labels", "message", "notes", "severity"], "{lines}");
        assert_eq!(d["code"], code, "{lines}");
    }
}

// S-lexical-1
#[test]
fn bad_files_are_diagnostics() {
    let folder = Folder::new("bad");
    let missing = folder.0.join("none.adl").display().to_string();
    expect(&adl(&["run", &missing]), 2, "", &["E0801"]);
    let latin = folder.file("latin.adl", b"let x = \"\xe9\"\n");
    expect(&adl(&["run", &latin]), 2, "", &["E0801", "UTF-8"]);
    let empty = folder.file("empty.adl", b"");
    expect(&adl(&["run", &empty]), 0, "", &[]);
    let no_data = folder.file("n.adl", b"let x: n=>Float = load_npy(\"none.npy\")\nsum(x)\n");
    expect(&adl(&["run", &no_data]), 1, "", &["E0801", "none.npy"]);
    folder.file("broken.npy", b"\x93NUMPY\x01\x00garbage");
    let broken = folder.file("b.adl", b"let x: n=>Float = load_npy(\"broken.npy\")\nsum(x)\n");
    expect(&adl(&["run", &broken]), 1, "", &["E0802"]);
}

/// A file of the format's version 1 with these 64-bit floats.
fn npy(xs: &[f64]) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}", xs.len());
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend(u16::try_from(header.len()).expect("short").to_le_bytes());
    out.extend(header.as_bytes());
    xs.iter().for_each(|x| out.extend(x.to_le_bytes()));
    out
}

#[test]
fn sizes_of_files_have_to_agree() {
    let folder = Folder::new("sizes");
    folder.file("x.npy", &npy(&[1.0, 2.0, 3.0]));
    folder.file("y.npy", &npy(&[1.0, 2.0]));
    let text =
        b"let x: n=>Float = load_npy(\"x.npy\")\nsum(x)\nlet y: n=>Float = load_npy(\"y.npy\")\nsum(y)\n";
    let file = folder.file("a.adl", text);
    expect(&adl(&["run", &file]), 1, "6.0\n", &["E0702", "3", "2"]);
}

// S-errors-6
#[test]
fn says_what_it_is_and_explains_codes() {
    let version = adl(&["--version"]);
    expect(&version, 0, &format!("adl {}\n", env!("CARGO_PKG_VERSION")), &[]);
    assert_eq!(adl(&["--help"]).status.code(), Some(0));
    for code in adl::Code::ALL {
        expect(&adl(&["explain", code.name()]), 0, code.explain(), &[]);
    }
    expect(&adl(&["explain", "E9999"]), 2, "", &["E9999"]);
    assert_eq!(adl(&["frobnicate"]).status.code(), Some(2));
}

#[test]
fn dumps_every_stage() {
    let folder = Folder::new("dump");
    let file = folder.file("a.adl", b"grad(\\x. x^3)(2.0)\n");
    let list = adl(&["dump", "--after", "list", &file]);
    let stages = String::from_utf8(list.stdout).expect("text");
    for stage in stages.lines() {
        let out = adl(&["dump", "--after", stage, &file]);
        assert_eq!(out.status.code(), Some(0), "{stage}: {}", String::from_utf8_lossy(&out.stderr));
        assert!(!out.stdout.is_empty(), "{stage}");
    }
    expect(&adl(&["dump", "--after", "nothing", &file]), 2, "", &["no stage"]);
}

#[test]
fn the_repl_keeps_definitions_and_goes_on_after_errors() {
    let session = "let x = 3.0\nx * 2.0\ndef f(y: Float) -> Float =\n  y + x\nf(1.0)\n:type \\y. y + 1\nx + true\n:t f\n\
                   grad(\\y. y * f(y))(1.0)\nlet x = 5.0\nx\n:nonsense\n:quit\n7\n";
    let out = adl_with_input(&["repl"], session);
    let text = String::from_utf8_lossy(&out.stdout);
    let err = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{err}");
    for line in ["x : Float", "6.0", "f : Float -> Float", "4.0", "5.0"] {
        assert!(text.lines().any(|l| l == line), "`{line}` is not in:\n{text}\n{err}");
    }
    assert!(err.contains("Error") && err.contains(":nonsense"), "{err}");
    assert!(!text.lines().any(|l| l == "7"), "`:quit` ends the session");
}

#[test]
fn what_a_failed_input_defined_is_forgotten() {
    let recursive = |name: &str, end: &str| {
        format!("def {name}(x: Int) -> Int = if x == 0 then {end} else {name}(x - 1)")
    };
    let (g, h) = (recursive("g", "1"), recursive("h", "7"));
    let out = adl_with_input(
        &["repl"],
        &format!("{{ {g}; assert(g(3) == 2, \"no\") }}\n{g}; assert(g(3) == 2, \"no\")\n{h}\nh(3)\n:quit\n"),
    );
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.lines().any(|l| l == "7"), "{text}\n{}", String::from_utf8_lossy(&out.stderr));
}

#[track_caller]
fn repl(session: &str) -> (String, String) {
    let out = adl_with_input(&["repl"], session);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    (text(&out.stdout), text(&out.stderr))
}

// S-programs-25
#[test]
fn a_redefinition_reaches_the_functions_that_use_the_name() {
    let (out, err) = repl("/// Twice f.\ndef g(x: Float) -> Float = f(x) * 2.0\n:quit\n");
    assert!(out.is_empty() && err.contains("E0301"), "{out}{err}");
    let (out, err) = repl(
        "def f(x: Float) -> Float = x + 1.0\n/// Twice f.\ndef g(x: Float) -> Float = f(x) * 2.0\n\
         let h = \\x. g(x) + 0.5\nlet y = g(1.0)\nlet z = 1.0\ndef f(x: Float) -> Float = x + 2.0\n\
         (g(1.0), h(1.0), y)\n:doc g\nlet c = 3.0\ndef reads(x: Float) -> Float = x + c\nlet c = 4.0\nreads(1.0)\n\
         struct P { a: Float }\ndef mk(a: Float) -> P = P { a = a }\ndef ps(p: P) -> Float = 1.0\n\
         struct P { a: Float, b: Float }\ndef f(x: Int) -> Int = x\ng(1.0)\n",
    );
    for line in [
        "built again: `g`, `h`",
        "computed with the old definition: `y`",
        "(6.0, 6.5, 4.0)",
        "Twice f.",
        "built again: `reads`",
        "5.0",
        "6.0",
    ] {
        assert!(out.lines().any(|l| l == line), "`{line}` is not in:\n{out}\n{err}");
    }
    assert!(err.contains("E0217") && err.contains("still with the old definition: `mk`, `ps`"), "{err}");
    assert!(err.contains("still with the old definition: `g`, `h`"), "{err}");
}

#[test]
fn an_entry_that_failed_leaves_nothing_that_a_later_one_meets() {
    let (out, _) = repl(
        "def h(x: Float) -> Float = x + 1.0; checkpoint(h)(1.0); error(\"a\")\n\
         def k(x: Float) -> Float = x * 10.0\ncheckpoint(k)(1.0)\n:core checkpoint(\\x. x + 1.0)(2.0)\nh(1.0)\n",
    );
    assert_eq!(out.lines().take(3).collect::<Vec<_>>(), ["2.0", "k : Float -> Float", "10.0"]);
}

#[test]
fn names_of_modules_have_documentation_and_no_type_of_their_own() {
    let (out, err) = repl("import complex\n:doc complex\n:doc complex.Complex\n:doc complex.complx\n");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "(no documentation)", "{out}{err}");
    assert!(1 < lines.len() && !lines[1].contains('_'), "{out}{err}");
    assert!(err.contains("there is no `complex.complx`"), "{err}");
}

// S-programs-26
#[test]
fn the_repl_shows_documentation() {
    let (out, err) = repl(
        "/// Adds one.\ndef f(x: Float) -> Float = x + 1.0\n:doc f\n:doc sin\n:doc grda\n:doc\n\
                           def f(x: Float) -> Float = x\n:doc f\n",
    );
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[1..3], ["f : Float -> Float", "Adds one."]);
    assert!(lines[3].starts_with("sin : ") && lines[4].starts_with("Sine"), "{out}");
    assert_eq!(lines[6..], ["f : Float -> Float", "(no documentation)"]);
    assert!(err.contains("there is no `grda`") && err.contains("did you mean `grad`?"), "{err}");
    assert!(err.contains("`:doc` takes a name"), "{err}");
}

// S-programs-28
#[test]
fn programs_are_laid_out() {
    let text = "def f(x:Float)->Float={\nlet y=x  *  2.0 // twice\n\n\n\n      y+1.0\n}\nf( 1.0 )\n";
    let laid_out = "def f(x: Float) -> Float = {\n  let y = x * 2.0 // twice\n\n  y+1.0\n}\nf(1.0)\n";
    let file = std::env::temp_dir().join(format!("adl-fmt-{}.adl", std::process::id()));
    let name = file.display().to_string();
    std::fs::write(&file, text).expect("a folder for temporary files");
    let run = |args: &[&str]| Command::new(env!("CARGO_BIN_EXE_adl")).args(args).output().expect("it starts");
    let check = run(&["fmt", "--check", &name]);
    assert_eq!(check.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&check.stderr).contains("laid out otherwise"));
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), text, "`--check` writes nothing");
    assert_eq!(run(&["fmt", &name]).status.code(), Some(0));
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), laid_out);
    assert_eq!(run(&["fmt", "--check", &name]).status.code(), Some(0));
    std::fs::write(&file, "let = 1\n").expect("a file");
    assert_eq!(run(&["fmt", &name]).status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "let = 1\n", "what is no program stays");
    std::fs::remove_file(&file).expect("a file");
}
