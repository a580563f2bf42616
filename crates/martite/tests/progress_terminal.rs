//! The bars of `martite ycsb`, `martite pe` and `martite import-tsv` at a terminal. tmux is the terminal; without it there is nothing to test.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use martite_testkit::Server;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_martite");
/// What does not appear within this time does not appear.
const PATIENCE: Duration = Duration::from_secs(60);
const COLUMNS: usize = 100;

struct Terminal {
    socket: String,
}

impl Terminal {
    fn open() -> Terminal {
        let terminal = Terminal { socket: format!("martite-bars-{}", std::process::id()) };
        let (columns, shell) = (COLUMNS.to_string(), "PS1='$ ' exec sh");
        terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", "40", shell]);
        terminal
    }

    fn tmux(&self, args: &[&str]) -> String {
        let output = Command::new("tmux").args(["-L", &self.socket]).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Types a command on an empty screen.
    fn run(&self, command: &str) {
        self.tmux(&["send-keys", &format!("clear; {command}"), "Enter"]);
    }

    /// Waits until a line of the screen is such a one; that line.
    fn expect(&self, what: &str, is_it: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if let Some(line) = screen.lines().map(str::trim_end).find(|line| is_it(line)) {
                return line.to_owned();
            }
            assert!(start.elapsed() < PATIENCE, "{what} is not on the screen:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// `00:00:02 ██░░ 261/5,000 141/s, 33s left`
fn is_bar(line: &str) -> bool {
    line.starts_with("00:0") && line.contains('░') && line.contains("/s, ") && line.ends_with(" left")
}

#[test]
fn bars_move_and_leave_no_trace() {
    if Command::new("tmux").arg("-V").output().is_err() {
        eprintln!("skipped: there is no tmux here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Path::new(BINARY), &folder.path().join("data"), &[]).unwrap();
    let define = format!("hbase.zookeeper.quorum={}", server.zookeeper);
    let workload = folder.path().join("workload");
    // A second's work, by its target: a bar is seen in it.
    std::fs::write(&workload, "workload=site.ycsb.workloads.CoreWorkload\nrecordcount=3000\n").unwrap();
    let made = Command::new(BINARY)
        .args(["pe", &format!("-D{define}"), "--rows=1", "--table=usertable", "sequentialWrite", "1"])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let terminal = Terminal::open();
    let file = workload.display();
    terminal.run(&format!("{BINARY} ycsb load -P {file} -p columnfamily=info0 -p {define} -target 1000 && echo over"));
    let bar = terminal.expect("a bar", |line| is_bar(line) && line.contains("/3,000 "));
    assert!(bar.chars().count() < COLUMNS, "{bar}");
    terminal.expect("the end", |line| line == "over");
    let screen = terminal.screen();
    assert!(screen.contains("[INSERT], Return=OK, 3000") && !screen.lines().any(is_bar), "{screen}");
    assert!(screen.lines().any(|line| line == "Starting test."), "{screen}");

    // Lines of the log stand above the bar, whole.
    let pe = "pe --rows=1000000 --table=usertable --autoFlush=true --period=100 randomWrite 1";
    terminal.run(&format!("{BINARY} {} 2>&1", pe.replacen("pe", &format!("pe -D{define}"), 1)));
    terminal
        .expect("a line of the log", |line| line.contains("latency [mean=") || line.contains("row [start=0, current="));
    terminal.expect("a bar", |line| is_bar(line) && line.contains("/1,000,000 "));
    terminal.tmux(&["send-keys", "C-c"]);
    terminal.expect("the end", |line| line.contains("interrupted"));
}
