//! [`talk`]: the prompt of a terminal: editing, history, completion.

use crate::complete::Completion;
use crate::shell::{Fed, Shell};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

/// Statements that the history keeps.
const HISTORY: usize = 10_000;

/// Reads, evaluates, prints until the end; the exit code.
pub fn talk(shell: Shell) -> u8 {
    let shell = Rc::new(RefCell::new(shell));
    let config = Config::builder().auto_add_history(true).tab_stop(2).completion_type(rustyline::CompletionType::List);
    let config = config.max_history_size(HISTORY).map(rustyline::config::Builder::build);
    let editor = config.and_then(|config| {
        Editor::<Line, FileHistory>::with_history(config.clone(), FileHistory::with_config(&config))
    });
    let mut editor = match editor {
        Ok(editor) => editor,
        Err(error) => {
            eprintln!("martite: no line editing: {error}");
            return 1;
        }
    };
    editor.set_helper(Some(Line { shell: Rc::clone(&shell), completion: RefCell::default() }));
    let history = history_file();
    if let Some(file) = &history {
        // There is none before the first session.
        let _ = editor.load_history(file);
    }
    lines(&mut editor, &shell, history)
}

/// What is typed is in the history before it runs: however the session ends, and beside other sessions.
fn lines(editor: &mut Editor<Line, FileHistory>, shell: &Rc<RefCell<Shell>>, mut history: Option<PathBuf>) -> u8 {
    loop {
        let prompt = shell.borrow().prompt();
        match editor.readline(&prompt) {
            Ok(text) => {
                if let Some(file) = &history
                    && let Err(error) = editor.append_history(file)
                {
                    eprintln!("martite: {}: {error}", file.display());
                    history = None;
                }
                if let Fed::Ended(code) = shell.borrow_mut().feed(&text) {
                    return code;
                }
            }
            // ^C drops the line, ^D ends the session.
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return 0,
            Err(error) => {
                eprintln!("martite: {error}");
                return 1;
            }
        }
    }
}

fn history_file() -> Option<PathBuf> {
    std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".martite_history"))
}

/// What the editor asks about the line.
struct Line {
    shell: Rc<RefCell<Shell>>,
    completion: RefCell<Completion>,
}

impl Helper for Line {}
impl Highlighter for Line {}
impl Hinter for Line {
    type Hint = String;
}

impl Validator for Line {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let finished = self.shell.borrow().is_finished(context.input());
        Ok(if finished { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Completer for Line {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let mut shell = self.shell.borrow_mut();
        Ok(self.completion.borrow_mut().candidates(&mut shell.interpreter, &line[..at]))
    }
}
