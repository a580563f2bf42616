//! The session as the language's [`Host`]: names that are commands, methods of tables, `help`.

use crate::commands::{self, help};
use crate::failure::Failure;
use crate::language::{Flow, Host, Raise, Value};
use crate::session::Session;
use std::rc::Rc;

impl Host for Session {
    fn command(&mut self, name: &str, arguments: Vec<Value>) -> Option<Result<Value, Flow>> {
        match name {
            "help" => {
                let topic = arguments.first().map(Value::to_text);
                help::print(&mut self.print, topic.as_deref());
                return Some(Ok(Value::Nil));
            }
            "tools" => {
                help::print(&mut self.print, Some("tools"));
                return Some(Ok(Value::Nil));
            }
            "debug" | "debug?" => {
                self.setup.debug ^= name == "debug";
                self.print.puts(format!("Debug mode is {}\n", if self.setup.debug { "ON" } else { "OFF" }));
                return Some(Ok(Value::Nil));
            }
            _ => {}
        }
        let command = commands::find(name)?;
        Some(self.run(command, arguments).map_err(flow))
    }

    fn table_method(&mut self, table: &Rc<str>, name: &str, arguments: Vec<Value>) -> Option<Result<Value, Flow>> {
        let of_table = || Value::text(table.as_bytes());
        match name {
            "help" => {
                let topic = arguments.first().map_or_else(|| "table_help".to_owned(), Value::to_text);
                help::print(&mut self.print, Some(&topic));
                Some(Ok(Value::Nil))
            }
            "name" => Some(Ok(of_table())),
            "close" => Some(Ok(Value::Nil)),
            "get_all_columns" => {
                let families = self.families_of(table).unwrap_or_default();
                Some(Ok(Value::texts(families.iter().map(|family| format!("{family}:")))))
            }
            _ if commands::OF_TABLES.contains(&name) => {
                let arguments = std::iter::once(of_table()).chain(arguments).collect();
                self.command(name, arguments)
            }
            _ => None,
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        self.print.write(bytes);
    }

    fn read_line(&mut self) -> Option<String> {
        Session::read_line(self)
    }
}

fn flow(failure: Failure) -> Flow {
    match failure {
        Failure::Raise(raise) => Flow::Raise(raise),
        Failure::Exit(code) => Flow::Exit(code),
        other => Flow::Raise(Raise::runtime(other.message())),
    }
}
