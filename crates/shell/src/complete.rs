//! [`Completion`]: what a half-typed word may become: commands, constants, variables; within quotes, tables and families.

use crate::commands;
use crate::language::{Interpreter, Value, constants, kernel};
use crate::session::Session;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Names of tables are asked for anew after this time.
const FRESH: Duration = Duration::from_secs(5);
/// A person who pressed a key does not wait longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the cluster was last seen to have.
#[derive(Debug, Default)]
pub struct Completion {
    tables: Vec<String>,
    asked: Option<Instant>,
    families: HashMap<String, (Instant, Vec<String>)>,
}

/// Where the cursor is.
#[derive(Debug, PartialEq, Eq)]
enum Place<'a> {
    /// In a bare word.
    Word(&'a str),
    /// Behind `variable.`
    Method { of: &'a str, word: &'a str },
    /// Within quotes; the strings that are closed before it on the line, and the first word.
    Text { text: &'a str, before: Vec<&'a str>, command: &'a str },
}

impl Completion {
    /// Where the word begins, and what it may become.
    pub fn candidates(&mut self, interpreter: &mut Interpreter<Session>, line: &str) -> (usize, Vec<String>) {
        let (typed, names) = match place(line) {
            Place::Word(word) => (word, words(interpreter)),
            Place::Method { of, word } => {
                let is_table = matches!(interpreter.local(of), Some(Value::Table(_)));
                let names =
                    if is_table { commands::OF_TABLES.iter().map(|n| (*n).to_owned()).collect() } else { Vec::new() };
                (word, names)
            }
            Place::Text { text, before, command } => {
                let topic = matches!(command, "help");
                let table = match interpreter.local(command.trim_end_matches('.')) {
                    Some(Value::Table(name)) => Some(name.to_string()),
                    _ => before.first().map(|t| (*t).to_owned()),
                };
                let names = match (topic, table) {
                    (true, _) => topics(),
                    (false, None) => self.tables(&mut interpreter.host),
                    (false, Some(table)) => {
                        let mut names = self.families(&mut interpreter.host, &table);
                        names.extend(self.tables(&mut interpreter.host));
                        names
                    }
                };
                (text, names)
            }
        };
        let mut found: Vec<String> = names.into_iter().filter(|name| name.starts_with(typed)).collect();
        found.sort();
        found.dedup();
        (line.len() - typed.len(), found)
    }

    fn tables(&mut self, session: &mut Session) -> Vec<String> {
        if self.asked.is_none_or(|at| at.elapsed() > FRESH) {
            self.asked = Some(Instant::now());
            let names = session.admin().and_then(|admin| {
                let names = async { Ok(tokio::time::timeout(PATIENCE, admin.table_names()).await) };
                session.wait(names)
            });
            // No answer, no candidates: this is no place for an error.
            if let Ok(Ok(Ok(names))) = names {
                self.tables = names.iter().map(ToString::to_string).collect();
            }
        }
        self.tables.clone()
    }

    /// `family:` of a table.
    fn families(&mut self, session: &mut Session, table: &str) -> Vec<String> {
        if let Some((at, families)) = self.families.get(table)
            && at.elapsed() < FRESH
        {
            return families.clone();
        }
        if !self.tables(session).iter().any(|known| known == table) {
            return Vec::new();
        }
        let families = session.families_of(table).unwrap_or_default();
        let families: Vec<String> = families.iter().map(|family| format!("{family}:")).collect();
        self.families.insert(table.to_owned(), (Instant::now(), families.clone()));
        families
    }
}

fn topics() -> Vec<String> {
    let groups = commands::GROUPS.iter().map(|group| group.name.to_owned());
    groups.chain(commands::names().map(str::to_owned)).collect()
}

fn words(interpreter: &Interpreter<Session>) -> Vec<String> {
    let mut names: Vec<String> = interpreter.locals().into_iter().collect();
    names.extend(commands::names().map(str::to_owned));
    names.extend(constants::all().map(str::to_owned));
    names.extend(kernel::NAMES.iter().map(|name| (*name).to_owned()));
    names.push("help".to_owned());
    names
}

fn place(line: &str) -> Place<'_> {
    let mut before = Vec::new();
    let mut open: Option<(char, usize)> = None;
    let mut escaped = false;
    let mut statement = 0;
    for (at, c) in line.char_indices() {
        match (open, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some((quote, from)), c) if c == quote => {
                before.push(&line[from..at]);
                open = None;
            }
            (None, '\'' | '"') => open = Some((c, at + 1)),
            (None, ';' | '\n' | '|') => {
                statement = at + 1;
                before.clear();
            }
            _ => {}
        }
    }
    if let Some((_, from)) = open {
        let command = line[statement..].split_whitespace().next().unwrap_or_default();
        let command = command.split(['(', '.']).next().unwrap_or_default();
        return Place::Text { text: &line[from..], before, command };
    }
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '?' | '!');
    let from = line.char_indices().rev().take_while(|(_, c)| is_word(*c)).last().map_or(line.len(), |(at, _)| at);
    let word = &line[from..];
    if let Some(head) = line[..from].strip_suffix('.') {
        let start = head.char_indices().rev().take_while(|(_, c)| is_word(*c)).last().map_or(head.len(), |(at, _)| at);
        return Place::Method { of: &head[start..], word };
    }
    Place::Word(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_cursor_is() {
        assert_eq!(place("sc"), Place::Word("sc"));
        assert_eq!(place("create 't', {NA"), Place::Word("NA"));
        assert_eq!(place("t.sc"), Place::Method { of: "t", word: "sc" });
        let text = |line| match place(line) {
            Place::Text { text, before, command } => (text, before, command),
            other => panic!("{other:?}"),
        };
        assert_eq!(text("scan 't"), ("t", vec![], "scan"));
        assert_eq!(text("list; put \"t1\", 'r1', 'f"), ("f", vec!["t1", "r1"], "put"));
        assert_eq!(text("t.get 'it\\'s"), ("it\\'s", vec![], "t"));
    }
}
