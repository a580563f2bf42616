//! [`Shell`]: takes lines, evaluates what they complete, shows what it gives.
//!
//! ```text
//! hbase:001:0> create 't',      a line that is not finished waits for more:
//! hbase:002:0*   'f'            its prompt ends with `*`, or with the quote that is open
//! Created table t
//! Took 0.1021 seconds
//! => Hbase::Table - t           the value, unless it is nil
//! ```

use crate::language::{Flow, Interpreter, Raise, Syntax, Value, parser};
use crate::session::Session;

pub struct Shell {
    pub interpreter: Interpreter<Session>,
    /// Lines taken so far.
    line: usize,
    /// What is not finished, and the line on which it began.
    pending: String,
    pending_from: usize,
    waits_for: char,
}

/// What a line led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fed {
    Ready,
    /// The statement is not finished.
    More,
    /// The session is over, with this exit code.
    Ended(u8),
}

impl Shell {
    pub fn new(session: Session, arguments: &[String]) -> Shell {
        let interpreter = Interpreter::new(session, arguments);
        Shell { interpreter, line: 0, pending: String::new(), pending_from: 1, waits_for: '>' }
    }

    pub fn session(&mut self) -> &mut Session {
        &mut self.interpreter.host
    }

    /// The prompt of the next line.
    pub fn prompt(&self) -> String {
        let mark = if self.pending.is_empty() { '>' } else { self.waits_for };
        format!("hbase:{:03}:0{mark} ", self.line + 1)
    }

    /// Whether a text is a statement, or wants more lines.
    pub fn is_finished(&self, text: &str) -> bool {
        let mut locals = self.interpreter.locals();
        !matches!(parser::parse(text, 1, &mut locals), Err(Syntax::Unfinished { .. }))
    }

    /// Takes one or more lines.
    pub fn feed(&mut self, text: &str) -> Fed {
        if self.pending.is_empty() {
            self.pending_from = self.line + 1;
        }
        self.line += text.lines().count().max(1);
        self.pending.push_str(text);
        self.pending.push('\n');
        let mut locals = self.interpreter.locals();
        let node = match parser::parse(&self.pending, self.pending_from, &mut locals) {
            Err(Syntax::Unfinished { open }) => {
                self.waits_for = if matches!(open, '\'' | '"') { open } else { '*' };
                return Fed::More;
            }
            Err(error) => {
                self.pending.clear();
                return self.raised(&Raise::new("SyntaxError", error.to_string()));
            }
            Ok(node) => node,
        };
        self.pending.clear();
        let result = self.interpreter.evaluate(&node);
        let fed = match result {
            Ok(value) => {
                self.show(&value);
                self.interpreter.set_local("_", value);
                Fed::Ready
            }
            Err(Flow::Exit(code)) => Fed::Ended(code),
            Err(Flow::Raise(raise)) => self.raised(&raise),
            Err(Flow::Break(_) | Flow::Next(_) | Flow::Return(_)) => {
                self.raised(&Raise::new("LocalJumpError", "break, next or return outside of a block"))
            }
        };
        self.session().print.flush();
        fed
    }

    /// The input has ended. What is pending was never finished.
    pub fn finish(&mut self) -> Fed {
        if self.pending.is_empty() {
            return Fed::Ended(0);
        }
        let error = Syntax::Unfinished { open: self.waits_for };
        let error = format!("from line {}: {error}", self.pending_from);
        self.pending.clear();
        match self.raised(&Raise::new("SyntaxError", error)) {
            Fed::Ended(code) => Fed::Ended(code),
            _ => Fed::Ended(1),
        }
    }

    fn show(&mut self, value: &Value) {
        if !value.is_nil() {
            let line = format!("=> {}", value.inspect());
            self.session().print.puts(line);
        }
    }

    fn raised(&mut self, raise: &Raise) -> Fed {
        let interactive = self.session().setup.interactive;
        let word = if interactive { "" } else { "ERROR " };
        let line = format!("{word}{}: {}", raise.class, raise.message);
        self.session().print.puts(line);
        self.session().print.flush();
        if interactive { Fed::Ready } else { Fed::Ended(1) }
    }
}
