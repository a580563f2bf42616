//! `recommission_regionserver`: a server gets regions again.

use crate::commands::arguments::texts;
use crate::commands::target;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "recommission_regionserver",
    aliases: &[],
    summary: "a server gets regions again",
    help: "\
A server gets regions again; those of the encoded names that are given go to it.

  hbase> recommission_regionserver 'server'
  hbase> recommission_regionserver 'server,port'
  hbase> recommission_regionserver 'server,port,starttime', ['encoded_region_name1', 'encoded_region_name1']
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = &arguments.values()[0];
    if name.as_text().is_none() {
        let (class, text) = (name.class(), name.inspect());
        return Err(Failure::argument(format!("{class} of {text} is not of String type")));
    }
    let regions = match arguments.get(1) {
        None => Vec::new(),
        Some(value @ Value::Array(_)) => texts(value),
        Some(other) => {
            let (class, text) = (other.class(), other.inspect());
            return Err(Failure::argument(format!("{class} of {text} is not of Array type")));
        }
    };
    let name = name.to_text();
    let found = target::servers(session, std::slice::from_ref(&name), false)?;
    let server =
        found.first().ok_or_else(|| Failure::argument(format!("Could not find any server with name {name}")))?;
    let admin = session.admin()?;
    session.wait(admin.recommission_server(server, &regions))?;
    Ok(Value::Nil)
}
