//! `martite shell` at a terminal: completion, lines that go on, history. tmux is the terminal; without it there is nothing to test.
#![allow(clippy::unwrap_used)]

use martite_testkit::Server;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_martite");
/// What does not appear within this time does not appear.
const PATIENCE: Duration = Duration::from_secs(60);

struct Terminal {
    socket: String,
}

impl Terminal {
    fn open(folder: &Path, zookeeper: &str) -> Terminal {
        let terminal = Terminal { socket: format!("martite-{}", std::process::id()) };
        let command = format!("HOME={} TZ=UTC exec {BINARY} shell --zk {zookeeper}", folder.display());
        terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", &command]);
        terminal
    }

    fn tmux(&self, args: &[&str]) -> String {
        let output = Command::new("tmux").args(["-L", &self.socket]).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn keys(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// Waits until a line of the screen is this.
    fn expect(&self, line: &str) {
        let start = Instant::now();
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if screen.lines().any(|shown| shown.trim_end() == line) {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "{line:?} is not on the screen:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn completion_and_history() {
    if Command::new("tmux").arg("-V").output().is_err() {
        eprintln!("skipped: there is no tmux here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Path::new(BINARY), &folder.path().join("data"), &[]).unwrap();
    let zookeeper = server.zookeeper.to_string();
    let terminal = Terminal::open(folder.path(), &zookeeper);
    terminal.expect("hbase:001:0>");
    terminal.keys(&["create 'tours', 'info', 'stats'", "Enter"]);
    terminal.expect("=> Hbase::Table - tours");
    terminal.expect("hbase:002:0>");
    // A command, a table, a family, a constant.
    terminal.keys(&["pu", "Tab"]);
    terminal.expect("hbase:002:0> put");
    terminal.keys(&[" 'to", "Tab"]);
    terminal.expect("hbase:002:0> put 'tours");
    terminal.keys(&["', 'r1', 'in", "Tab"]);
    terminal.expect("hbase:002:0> put 'tours', 'r1', 'info:");
    terminal.keys(&["name', 'Paris', 1", "Enter"]);
    terminal.expect("hbase:003:0>");
    terminal.keys(&["scan 'tours', {LIM", "Tab"]);
    terminal.expect("hbase:003:0> scan 'tours', {LIMIT");
    // The line goes on until the brace is closed.
    terminal.keys(&[" => 1,", "Enter"]);
    terminal.keys(&["MAXLENGTH => 20}", "Enter"]);
    terminal.expect("1 row(s)");
    terminal.expect("hbase:005:0>");
    // The last statement but one.
    // Once within the last one, which has two lines.
    terminal.keys(&["Up", "Up", "Up"]);
    terminal.expect("hbase:005:0> put 'tours', 'r1', 'info:name', 'Paris', 1");
    terminal.keys(&["C-c"]);
    terminal.expect("hbase:005:0>");
    // The history is there although the session goes on.
    let history = folder.path().join(".martite_history");
    let kept = std::fs::read_to_string(&history).unwrap();
    assert!(kept.contains("create 'tours', 'info', 'stats'\n") && kept.contains("'Paris', 1\n"), "{kept}");
    terminal.keys(&["exit", "Enter"]);
    let start = Instant::now();
    while !std::fs::read_to_string(&history).unwrap().ends_with("exit\n") {
        assert!(start.elapsed() < PATIENCE, "the end is not in {}", history.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}
