//! `merge_region`: makes one region of two or more.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "merge_region",
    aliases: &[],
    summary: "makes one region of two or more",
    help: "\
Makes one region of two or more neighbours, of full or encoded names; with `true` at the end even if they are none.

  hbase> merge_region 'FULL_REGIONNAME', 'FULL_REGIONNAME'
  hbase> merge_region 'ENCODED_REGIONNAME', 'ENCODED_REGIONNAME', 'ENCODED_REGIONNAME'
  hbase> merge_region ['ENCODED_REGIONNAME', 'ENCODED_REGIONNAME'], true
",
    arity: Arity::at_least(0),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let mut names = arguments.flattened(0);
    if names.len() < 2 {
        return Err(Failure::argument("Must pass at least 2 regions to merge"));
    }
    let mut forcible = false;
    if names.len() > 2
        && let Some(Value::Bool(force)) = names.last()
    {
        forcible = *force;
        names.pop();
    }
    let admin = session.admin()?;
    let mut encoded = Vec::new();
    for name in names {
        if name.as_text().is_none() {
            let (text, class) = (name.inspect(), name.class());
            return Err(Failure::argument(format!("Type of {text} is {class}, but expected String")));
        }
        let region = session.wait(admin.find_region(&name.to_bytes()))?;
        encoded.push(region.info.encoded_name().to_owned());
    }
    session.wait(admin.merge_regions(&encoded, forcible))?;
    Ok(Value::Nil)
}
