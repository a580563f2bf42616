//! `alter_rsgroup_config`: changes the settings of a group.

use super::members;
use crate::commands::Options;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "alter_rsgroup_config",
    aliases: &[],
    summary: "changes the settings of a group",
    help: "\
Sets settings of a group, or removes one.

  hbase> alter_rsgroup_config 'my_group', {METHOD => 'set', 'PROPERTY_NAME' => 'PROPERTY_VALUE'}
  hbase> alter_rsgroup_config 'my_group', {METHOD => 'unset', NAME=>'PROPERTY_NAME'}
",
    arity: Arity::at_least(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let name = arguments.string(0, "RSGroup name")?;
    let group = members::group(session, &name)?;
    let mut settings: Vec<(String, String)> = group.configuration.into_iter().map(|p| (p.name, p.value)).collect();
    for value in arguments.flattened(1) {
        let mut options = Options::of(&value)?;
        match options.take_text("METHOD").as_deref() {
            Some("unset") => {
                let unset = options.take_text("NAME").unwrap_or_default();
                settings.retain(|(name, _)| *name != unset);
            }
            Some("set") => {
                for (key, value) in options.pairs() {
                    let key = key.to_text();
                    settings.retain(|(name, _)| *name != key);
                    settings.push((key, value.to_text()));
                }
            }
            other => {
                return Err(Failure::argument(format!("Unknown method {}", other.unwrap_or_default())));
            }
        }
    }
    let admin = session.admin()?;
    session.wait(admin.update_rsgroup_config(&name, &settings))?;
    Ok(Value::Nil)
}
