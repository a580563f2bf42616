//! The repository's Rust files, and how long they and their functions are.

use crate::{Outcome, at, root};
use std::path::Path;

/// Made by a program.
const GENERATED: &[&str] = &["crates/proto/src/pb.rs"];

pub struct Source {
    /// From the top of the repository, with slashes.
    pub path: String,
    pub text: String,
}

/// A function: its name as far as it tells it from others in the file, and its lines.
pub struct Function<'a> {
    pub name: &'a str,
    pub lines: usize,
}

pub fn read_all() -> Outcome<Vec<Source>> {
    let mut files = Vec::new();
    let root = root();
    read_folder(&root.join("crates"), "crates", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn read_folder(folder: &Path, path: &str, files: &mut Vec<Source>) -> Outcome {
    for entry in std::fs::read_dir(folder).map_err(at(folder))? {
        let entry = entry.map_err(at(folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let (inner, file) = (format!("{path}/{name}"), entry.path());
        if file.is_dir() {
            if name != "target" {
                read_folder(&file, &inner, files)?;
            }
        } else if name.ends_with(".rs") && !GENERATED.contains(&&inner[..]) {
            let text = std::fs::read_to_string(&file).map_err(at(&file))?;
            files.push(Source { path: inner, text });
        }
    }
    Ok(())
}

impl Source {
    pub fn has_heading(&self) -> bool {
        self.text.starts_with("//!")
    }

    /// Whether the whole file is test code.
    fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs") || self.path.ends_with("_tests.rs")
    }

    /// The lines before the file's own tests; none of a file of tests.
    fn code(&self) -> impl Iterator<Item = &str> {
        let lines: Vec<&str> = if self.is_test() { Vec::new() } else { self.text.lines().collect() };
        let is_tests = |i: usize| {
            lines[i] == "#[cfg(test)]"
                && lines[i + 1..]
                    .iter()
                    .find(|l| !l.starts_with("#["))
                    .is_some_and(|l| l.starts_with("mod ") && l.ends_with('{'))
        };
        let end = (0..lines.len()).find(|&i| is_tests(i)).unwrap_or(lines.len());
        lines.into_iter().take(end)
    }

    pub fn lines(&self) -> usize {
        self.code().count()
    }

    /// Functions with a body, by their indentation: rustfmt puts the closing brace under the `fn`.
    pub fn functions(&self) -> Vec<Function<'_>> {
        let mut open: Vec<(&str, &str, usize)> = Vec::new();
        let mut functions = Vec::new();
        for (i, line) in self.code().enumerate() {
            let indent = &line[..line.len() - line.trim_start().len()];
            if let Some((_, name, start)) =
                open.pop_if(|(outer, ..)| *outer == indent && line.trim_start().starts_with('}'))
            {
                functions.push(Function { name, lines: i + 1 - start });
            } else if let Some(name) = function_name(line.trim_start())
                && !line.ends_with('}')
                && !line.ends_with(';')
            {
                open.push((indent, name, i));
            } else {
                // A signature of several lines that ends without a body.
                open.pop_if(|(outer, ..)| *outer == indent && line.ends_with(';'));
            }
        }
        functions
    }
}

/// Of a line that begins a function.
fn function_name(line: &str) -> Option<&str> {
    let mut rest = line;
    loop {
        if let Some(name) = rest.strip_prefix("fn ") {
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
            return Some(&name[..end]);
        }
        let (word, after) = rest.split_once(' ')?;
        let modifier = word.starts_with("pub") || matches!(word, "const" | "async" | "unsafe" | "extern" | "\"C\"");
        // `pub(in path)` has a blank inside.
        rest = if modifier || word.ends_with(')') { after } else { return None };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    #[test]
    fn functions_and_their_lines() {
        let text = "\
//! A file.
fn one() {
    two(|| {
        3
    })
}

trait T {
    fn declared(&self);
    fn long_declared(
        &self,
    ) -> u8;
    pub(crate) async fn with_body(
        x: u8,
    ) -> u8 {
        fn inner() {
            4
        }
        x
    }
}
fn short() {}
#[cfg(test)]
mod tests {
    fn ignored() {
    }
}
";
        let file = source("crates/x/src/a.rs", text);
        let found: Vec<_> = file.functions().iter().map(|f| (f.name.to_owned(), f.lines)).collect();
        let want = [("one", 5), ("inner", 3), ("with_body", 8)].map(|(n, l)| (n.to_owned(), l));
        assert_eq!(found, want);
        assert_eq!(file.lines(), 22);
        assert!(file.has_heading());
        assert_eq!(source("crates/x/tests/a.rs", text).lines(), 0);
        assert_eq!(source("crates/x/src/a_tests.rs", text).functions().len(), 0);
    }

    #[test]
    fn names_of_functions() {
        let cases = [
            ("fn a<T>() {", Some("a")),
            ("pub const unsafe fn b_2(", Some("b_2")),
            ("pub(in crate::x) fn c()", Some("c")),
            ("let fn_x = 1;", None),
            ("// fn d()", None),
            ("type F = fn (u8);", None),
        ];
        for (line, want) in cases {
            assert_eq!(function_name(line), want, "{line}");
        }
    }
}
