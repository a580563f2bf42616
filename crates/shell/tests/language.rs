//! The language by golden scripts: `tests/language/*.txt`, run without a server. `MARTITE_UPDATE=1` writes them anew.
//!
//! ```text
//! > x = 5          what is typed; `* ` before lines that go on
//! => 5             what is printed
//! ```

use martite_shell::language::{Flow, Host, Interpreter, Syntax, Value, parser};
use std::path::Path;
use std::rc::Rc;

/// Commands that only show what they were given.
#[derive(Default)]
struct Echo {
    out: Vec<u8>,
}

impl Host for Echo {
    fn command(&mut self, name: &str, arguments: Vec<Value>) -> Option<Result<Value, Flow>> {
        if !["put", "scan", "list", "create", "deleteall"].contains(&name) {
            return None;
        }
        self.out.extend_from_slice(format!("{name} {}\n", Value::array(arguments).inspect()).as_bytes());
        Some(Ok(Value::Nil))
    }
    fn table_method(&mut self, table: &Rc<str>, name: &str, arguments: Vec<Value>) -> Option<Result<Value, Flow>> {
        let mut all = vec![Value::text(table.as_bytes())];
        all.extend(arguments);
        self.command(name, all)
    }
    fn write(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }
    fn read_line(&mut self) -> Option<String> {
        None
    }
}

fn run(script: &str) -> String {
    let mut interpreter = Interpreter::new(Echo::default(), &["first".to_owned(), "second".to_owned()]);
    interpreter.set_local("t", Value::Table("t1".into()));
    let mut out = String::new();
    let mut lines = script.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(typed) = line.strip_prefix("> ") else {
            // Prose; what was printed is written anew.
            if line.is_empty() || line.starts_with("# ") {
                out.push_str(&format!("{line}\n"));
            }
            continue;
        };
        let mut text = typed.to_owned();
        out.push_str(&format!("> {typed}\n"));
        while let Some(more) = lines.next_if(|l| l.starts_with("* ")) {
            text.push_str(&format!("\n{}", &more[2..]));
            out.push_str(&format!("{more}\n"));
        }
        let mut locals = interpreter.locals();
        let shown = match parser::parse(&text, 1, &mut locals) {
            Err(Syntax::Unfinished { open }) => format!("unfinished {open}\n"),
            Err(error) => format!("SyntaxError: {error}\n"),
            Ok(node) => match interpreter.evaluate(&node) {
                Ok(Value::Nil) => String::new(),
                Ok(value) => format!("=> {}\n", value.inspect()),
                Err(Flow::Raise(raise)) => format!("{}: {}\n", raise.class, raise.message),
                Err(other) => format!("{other:?}\n"),
            },
        };
        out.push_str(&String::from_utf8_lossy(&std::mem::take(&mut interpreter.host.out)));
        out.push_str(&shown);
    }
    out
}

#[test]
fn golden_scripts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/language");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 5, "{files:?}");
    let mut wrong = Vec::new();
    for file in files {
        let want = std::fs::read_to_string(&file).unwrap();
        let got = run(&want);
        if std::env::var_os("MARTITE_UPDATE").is_some() {
            std::fs::write(&file, &got).unwrap();
        } else if got != want {
            wrong.push(format!("{}\n--- is\n{got}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
