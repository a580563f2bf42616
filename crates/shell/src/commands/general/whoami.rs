//! `whoami`: the user that servers see.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "whoami",
    aliases: &[],
    summary: "the user of this session",
    help: "\
Prints the user that servers see, and its groups on this machine.

  hbase> whoami
",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    let user = session.setup.options.user.clone();
    session.print.puts(format!("{user} (auth:SIMPLE)"));
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let groups = groups(&user, &read("/etc/passwd"), &read("/etc/group"));
    if !groups.is_empty() {
        session.print.puts(format!("    groups: {}", groups.join(", ")));
    }
    Ok(Value::Nil)
}

/// The user's own group, then all that name it.
fn groups(user: &str, passwd: &str, group: &str) -> Vec<String> {
    let fields = |line: &str| line.split(':').map(str::to_owned).collect::<Vec<_>>();
    let own = passwd.lines().map(fields).find(|line| line.first().is_some_and(|name| name == user));
    let own = own.and_then(|line| line.get(3).cloned());
    let mut names = Vec::new();
    for line in group.lines().map(fields) {
        let [name, _, id, members] = line.as_slice() else { continue };
        if Some(id) == own.as_ref() {
            names.insert(0, name.clone());
        } else if members.split(',').any(|member| member == user) {
            names.push(name.clone());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::groups;

    #[test]
    fn own_group_first() {
        let passwd = "root:x:0:0::/root:/bin/sh\nann:x:5:7::/:/bin/sh\n";
        let group = "adm:x:4:bob,ann\nusers:x:7:\nother:x:9:bob\n";
        assert_eq!(groups("ann", passwd, group), ["users", "adm"]);
        assert!(groups("nobody", passwd, group).is_empty());
    }
}
