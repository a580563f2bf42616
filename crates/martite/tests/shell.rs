//! `martite shell` by golden scripts: `crates/shell/tests/golden/**/*.txt`, each in a process of its own on one server.
//!
//! ```text
//! # what the script shows
//! > put 't', 'r', 'f:q', 'v'      what is typed; `* ` before lines that go on, `< ` before answers to questions
//! Took # seconds                  what is printed, without what changes from run to run
//! % HBase: why                    what HBase prints instead, where that is not the same
//! Took # seconds
//! ```
//! `MARTITE_UPDATE=1` writes the scripts anew. `MARTITE_TEST_ZOOKEEPER=host:port` runs them against that cluster, a fresh HBase 2.6
//! with quotas (`QUOTAS=true bench/hbase.sh start DIR`); docs/shell.md has the differences.
#![allow(clippy::unwrap_used)]

use martite_testkit::Server;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_martite");

/// Ends the output of a case.
const MARK: &str = "\u{1}";

fn shell(zookeeper: &str, args: &[&str], input: &str) -> (i32, String) {
    let mut child = Command::new(BINARY)
        .args(["shell", "--zk", zookeeper])
        .args(args)
        .env("TZ", "UTC")
        .env("HADOOP_USER_NAME", "tester")
        .env_remove("HBASE_CONF_DIR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || {
        // A shell that ended early does not read the rest.
        let _ = stdin.write_all(input.as_bytes());
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

/// Begins what HBase prints.
const OF_HBASE: &str = "% HBase: ";

/// Lines of prose, or what is typed and what is printed then.
#[derive(Default)]
struct Case<'a> {
    typed: Vec<&'a str>,
    printed: String,
    /// Why HBase prints something else, and what.
    by_hbase: Option<(String, String)>,
}

impl Case<'_> {
    fn is_prose(&self) -> bool {
        self.typed.first().is_some_and(|line| line.starts_with("# "))
    }

    fn text(&self) -> String {
        let mut text: String = self.typed.iter().map(|line| format!("{line}\n")).collect();
        text.push_str(&self.printed);
        if let Some((why, printed)) = &self.by_hbase {
            text.push_str(&format!("{OF_HBASE}{why}\n{printed}"));
        }
        text + "\n"
    }
}

fn cases(script: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for line in script.lines() {
        if ["# ", "> ", "* ", "< "].iter().any(|prefix| line.starts_with(prefix)) {
            let is_prose = line.starts_with("# ");
            if line.starts_with("> ") || cases.last().is_none_or(|case| case.is_prose() != is_prose) {
                cases.push(Case::default());
            }
            cases.last_mut().unwrap().typed.push(line);
        } else if let Some(case) = cases.last_mut() {
            match (line.strip_prefix(OF_HBASE), &mut case.by_hbase) {
                (Some(why), by_hbase) => *by_hbase = Some((why.to_owned(), String::new())),
                (None, Some((_, printed))) => printed.push_str(&format!("{line}\n")),
                (None, None) => case.printed.push_str(&format!("{line}\n")),
            }
        }
    }
    // An empty line is between cases.
    for case in &mut cases {
        let last = case.by_hbase.as_mut().map_or(&mut case.printed, |(_, printed)| printed);
        last.pop();
    }
    cases
}

/// A script's text with its outputs as they are now.
fn regenerate(script: &str, zookeeper: &str, is_hbase: bool) -> String {
    let mut cases = cases(script);
    let mut input = String::new();
    for case in cases.iter().filter(|case| !case.is_prose()) {
        case.typed.iter().for_each(|line| input.push_str(&format!("{}\n", &line[2..])));
        input.push_str("puts \"\\u0001\"\n");
    }
    let (_, output) = shell(zookeeper, &[], &input);
    let mark = format!("{MARK}\n");
    let mut outputs = output.split(&mark).map(|part| answer(part, is_hbase));
    for case in cases.iter_mut().filter(|case| !case.is_prose()) {
        let printed = outputs.next().unwrap_or_else(|| "no output: the shell has ended\n".to_owned());
        match &mut case.by_hbase {
            _ if !is_hbase => case.printed = printed,
            by_hbase if printed == case.printed => *by_hbase = None,
            Some((_, before)) => *before = printed,
            by_hbase @ None => *by_hbase = Some(("this is not explained".to_owned(), printed)),
        }
    }
    cases.iter().map(Case::text).collect()
}

/// What was printed, without banner and echo.
fn answer(part: &str, is_hbase: bool) -> String {
    let part = part
        .split_once("Version ")
        .filter(|_| part.starts_with("HBase Shell"))
        .map_or(part, |(_, rest)| rest.split_once("\n\n").map_or(rest, |(_, rest)| rest));
    let lines = part.lines().filter(|line| !(is_echo(line) || is_hbase && is_of_the_moment(line)));
    let mut lines: Vec<String> = lines.map(masked).collect();
    // Of the regions of a server one is shown, whichever there are.
    let regions = lines.windows(4).position(|four| four[0].trim() == REGION && four[..2] == four[2..]);
    if let Some(first) = regions {
        while lines.len() >= first + 4 && lines[first..first + 2] == lines[first + 2..first + 4] {
            lines.drain(first..first + 2);
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// What HBase prints now and then: servers tell the master of their regions every three seconds, and what they are doing.
fn is_of_the_moment(line: &str) -> bool {
    line.starts_with("Can not find all details for region: ")
        || (line.contains(": status=") && line.contains(", startTime="))
}

/// `hbase:001:0> …`
fn is_echo(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("hbase:") else { return false };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits >= 3 && rest[digits..].starts_with(":0")
}

/// Times, names of servers and regions differ from run to run.
fn masked(line: &str) -> String {
    if line.starts_with("Took ") && line.ends_with(" seconds") {
        return "Took # seconds".to_owned();
    }
    if line.starts_with("        \"") && line.ends_with('"') {
        return format!("        {REGION}");
    }
    if let Some((before, _)) = line.split_once(" tasks as of: ") {
        return format!("{before} tasks as of: NOW");
    }
    if let Some((before, _)) = line.rsplit_once(", ").filter(|_| line.ends_with(" average load")) {
        return format!("{before}, # average load");
    }
    if ["requestsPerSecond=", "numberOfStores=", "Aggregate load:"].iter().any(|it| line.contains(it)) {
        return without_figures(line);
    }
    if line.ends_with(" |") {
        return without_times(line);
    }
    let mut out = String::new();
    let mut rest = line;
    while !rest.is_empty() {
        if let Some(tail) = time_of_creation(rest) {
            out.push_str("NOW");
            rest = tail;
            continue;
        }
        let word = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':')))
            .unwrap_or(rest.len());
        if word == 0 {
            let c = rest.chars().next().unwrap();
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let (text, tail) = rest.split_at(word);
        match server_name(text, tail) {
            Some(tail) => {
                out.push_str("SERVER");
                rest = tail;
            }
            None => {
                out.push_str(&masked_word(text));
                rest = tail;
            }
        }
    }
    out
}

/// What follows `2026-11-30 13:05:59 +0000`, as snapshots are listed.
fn time_of_creation(text: &str) -> Option<&str> {
    const SHAPE: &[u8] = b"0000-00-00 00:00:00 +0000";
    let head = text.as_bytes().get(..SHAPE.len())?;
    let fits = |(byte, shape): (&u8, &u8)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
    head.iter().zip(SHAPE).all(fits).then(|| &text[SHAPE.len()..])
}

/// A region's name in `status 'detailed'`.
const REGION: &str = "\"REGION\"";

/// Of `name=1.5, other=NaN` the names; the ratio of compression is there only if there is data.
fn without_figures(line: &str) -> String {
    let parts = line.split(", ").filter(|part| !part.starts_with("compressionRatio="));
    let part = |part: &str| -> String {
        let is_figure = |word: &str| word == "NaN" || word.parse::<f64>().is_ok();
        let words = part.split_inclusive([' ', '=']);
        let word =
            |word: &str| if is_figure(word.trim_end()) { word.replace(word.trim_end(), "#") } else { word.into() };
        words.map(word).collect()
    };
    parts.map(part).collect::<Vec<_>>().join(", ")
}

/// Of a table's cells those that are times.
fn without_times(line: &str) -> String {
    let is_time = |cell: &str| {
        let time = cell.trim().split_once(' ').filter(|(_, unit)| ["µs", "ms", "s"].contains(unit));
        time.is_some_and(|(number, _)| number.parse::<f64>().is_ok())
    };
    let cell =
        |cell: &str| if is_time(cell) { format!("{:>1$} ", "#", cell.chars().count() - 1) } else { cell.to_owned() };
    line.split('|').map(cell).collect::<Vec<_>>().join("|")
}

/// What follows `host,port,startcode`.
fn server_name<'a>(host: &str, tail: &'a str) -> Option<&'a str> {
    if !host.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let mut parts = tail.strip_prefix(',')?.splitn(2, ',');
    let (port, rest) = (parts.next()?, parts.next()?);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    (port.parse::<u16>().is_ok() && digits == 13).then(|| &rest[digits..])
}

fn masked_word(word: &str) -> String {
    let is_hex = |text: &str| text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
    if word.len() >= 16 && word.as_bytes()[4] == b'-' && word.as_bytes()[10] == b'T' && word.starts_with("20") {
        return "NOW".to_owned();
    }
    if let Some((host, port)) = word.rsplit_once(':')
        && port.parse::<u16>().is_ok_and(|port| port >= 1024)
        && host.starts_with(|c: char| c.is_ascii_alphabetic())
    {
        return "HOST:PORT".to_owned();
    }
    let parts: Vec<String> = word
        .split('.')
        .map(|part| match part {
            part if is_hex(part) => "ENCODED".to_owned(),
            part if part.len() == 13 && part.starts_with('1') && part.bytes().all(|b| b.is_ascii_digit()) => {
                "ID".to_owned()
            }
            part => part.to_owned(),
        })
        .collect();
    parts.join(".")
}

fn scripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(scripts(&path));
        } else if path.extension().is_some_and(|e| e == "txt") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn golden_scripts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shell/tests/golden");
    let data = tempfile::tempdir().unwrap();
    let given = std::env::var("MARTITE_TEST_ZOOKEEPER").ok();
    let is_hbase = given.is_some();
    let server = given.is_none().then(|| Server::start(Path::new(BINARY), &data.path().join("data"), &[]).unwrap());
    let zookeeper = given.unwrap_or_else(|| server.as_ref().unwrap().zookeeper.to_string());
    let files = scripts(&folder);
    let mut cases = 0;
    let mut wrong = Vec::new();
    for file in &files {
        let want = std::fs::read_to_string(file).unwrap();
        cases += want.lines().filter(|line| line.starts_with("> ")).count();
        let got = regenerate(&want, &zookeeper, is_hbase);
        if std::env::var_os("MARTITE_UPDATE").is_some() {
            std::fs::write(file, &got).unwrap();
        } else if got != want {
            wrong.push(difference(file, &want, &got));
        }
    }
    assert!(wrong.is_empty(), "{} of {} scripts\n{}", wrong.len(), files.len(), wrong.join("\n"));
    assert!(cases >= 250, "{cases} cases");
}

/// The lines from the first that differs on.
fn difference(file: &Path, want: &str, got: &str) -> String {
    let same = want.lines().zip(got.lines()).take_while(|(want, got)| want == got).count();
    let some = |text: &str| text.lines().skip(same.saturating_sub(3)).take(12).collect::<Vec<_>>().join("\n    ");
    format!("{}, line {}\n  expected\n    {}\n  is\n    {}", file.display(), same + 1, some(want), some(got))
}

#[test]
fn exit_codes_and_arguments() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(Path::new(BINARY), &data.path().join("data"), &[]).unwrap();
    let zookeeper = server.zookeeper.to_string();
    let script = data.path().join("script.rb");
    let script_name = script.to_str().unwrap();
    let run = |args: &[&str], text: &str, input: &str| {
        std::fs::write(&script, text).unwrap();
        shell(&zookeeper, args, input)
    };
    let (code, out) = run(&["-n", script_name, "a", "-b"], "puts ARGV.inspect\ncreate 't', 'f'\n", "");
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("[\"a\", \"-b\"]\n") && out.contains("Created table t\n"), "{out}");
    let (code, out) = run(&["-n", script_name], "get 'nosuch', 'r'\nputs 'not reached'\n", "");
    assert_eq!(code, 1, "{out}");
    assert!(out.ends_with("ERROR RuntimeError: Unknown table nosuch!\n"), "{out}");
    let (code, out) = run(&["-n"], "", "put 't', )\n");
    assert!(code == 1 && out.ends_with("ERROR SyntaxError: line 1, column 10: `)` is not expected here\n"), "{out}");
    let (code, out) = run(&["-n"], "", "put 't',\n");
    assert!(code == 1 && out.contains("ERROR SyntaxError: from line 1: the input ends before `*` is closed"), "{out}");
    let (code, out) = run(&[], "", "nosuch 'x'\nputs 'goes on'\n");
    assert!(
        code == 0 && out.contains("NoMethodError: undefined method `nosuch'\n") && out.contains("goes on\n"),
        "{out}"
    );
    assert_eq!(run(&["-n", script_name], "exit 3\n", "").0, 3);
    let (code, out) = run(&[script_name], "puts 'script'\n", "puts 'then the input'\nexit 4\n");
    assert!(code == 4 && out.contains("script\n") && out.contains("then the input\n"), "{out}");
    let (code, _) = shell("127.0.0.1:1", &["-n", "-Dhbase.client.retries.number=0"], "list\n");
    assert_eq!(code, 1, "no cluster there");
}
