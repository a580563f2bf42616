//! [`run`]: a whole session: a script, then a terminal or what is piped in.

use crate::args::{Refused, ShellArgs};
use crate::formatter::Formatter;
use crate::session::{Input, Session};
use crate::shell::{Fed, Shell};
use crate::terminal;
use std::cell::RefCell;
use std::io::{self, BufRead, IsTerminal};
use std::rc::Rc;

/// Runs the shell; the process's exit code.
pub fn run(args: &ShellArgs) -> Result<u8, Refused> {
    let setup = args.setup()?;
    let input = Stdin(Rc::new(RefCell::new(io::BufReader::new(io::stdin()))));
    let interactive = setup.interactive;
    let session = Session::new(setup, Formatter::to_stdout(), Box::new(input.clone()));
    let mut shell = Shell::new(session, &args.arguments);
    if let Some(file) = &args.script {
        let script = std::fs::read(file).map_err(|error| Refused::file(file, &error))?;
        let mut lines = Script(io::Cursor::new(script));
        let ended = through(&mut shell, &mut lines);
        // As in HBase's shell: a script that does not say exit leaves an interactive session behind.
        if !interactive || ended.is_some() {
            return Ok(ended.unwrap_or(0));
        }
    }
    if interactive {
        banner(&mut shell);
    }
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        return Ok(terminal::talk(shell));
    }
    let mut lines = input;
    Ok(through(&mut shell, &mut lines).unwrap_or(0))
}

fn banner(shell: &mut Shell) {
    let print = &mut shell.session().print;
    print.puts("HBase Shell of Martite");
    print.puts("Use \"help\" to get list of supported commands.");
    print.puts("Use \"exit\" to quit this interactive shell.");
    print.puts(format!("Version {}", env!("CARGO_PKG_VERSION")));
    print.puts("");
    print.flush();
}

/// Feeds lines, each with its prompt as irb prints them; the exit code if the session ended before the lines did.
fn through(shell: &mut Shell, lines: &mut dyn Lines) -> Option<u8> {
    loop {
        let prompt = shell.prompt();
        shell.session().print.print(&prompt);
        let Some(line) = lines.next_line() else { break };
        shell.session().print.puts(&line);
        if let Fed::Ended(code) = shell.feed(&line) {
            return Some(code);
        }
        // Nobody reads any more.
        if shell.session().print.take_failure().is_some() {
            return Some(1);
        }
    }
    shell.session().print.puts("");
    let ended = shell.finish();
    shell.session().print.flush();
    match ended {
        Fed::Ended(0) | Fed::Ready | Fed::More => None,
        Fed::Ended(code) => Some(code),
    }
}

trait Lines {
    fn next_line(&mut self) -> Option<String>;
}

fn line_of(reader: &mut dyn BufRead) -> Option<String> {
    let mut line = Vec::new();
    // An input that cannot be read has ended.
    match reader.read_until(b'\n', &mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => {
            let text = String::from_utf8_lossy(&line).into_owned();
            Some(text.trim_end_matches(['\n', '\r']).to_owned())
        }
    }
}

struct Script(io::Cursor<Vec<u8>>);

impl Lines for Script {
    fn next_line(&mut self) -> Option<String> {
        line_of(&mut self.0)
    }
}

/// Standard input: statements come from it, and what they ask for.
#[derive(Clone)]
struct Stdin(Rc<RefCell<io::BufReader<io::Stdin>>>);

impl Lines for Stdin {
    fn next_line(&mut self) -> Option<String> {
        line_of(&mut *self.0.borrow_mut())
    }
}

impl Input for Stdin {
    fn read_line(&mut self) -> Option<String> {
        self.next_line()
    }
}
