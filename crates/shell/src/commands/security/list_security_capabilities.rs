//! `list_security_capabilities`: what the cluster can do for security.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;
use martite_client::admin::Capability;

pub const COMMAND: Command = Command {
    name: "list_security_capabilities",
    aliases: &[],
    summary: "what the cluster can do for security",
    help: "\
Lists what the cluster can do for security.

  hbase> list_security_capabilities
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let admin = session.admin()?;
    let names: Vec<&str> = match session.wait(admin.security_capabilities()) {
        Ok(capabilities) => capabilities.iter().map(Capability::as_str_name).collect(),
        Err(failure) if failure.java_text().contains("UnsupportedOperationException") => {
            session.print.puts("ERROR: Master does not support getSecurityCapabilities");
            Vec::new()
        }
        Err(failure) => return Err(failure),
    };
    names.iter().for_each(|name| session.print.puts(name));
    Ok(Value::texts(names))
}
