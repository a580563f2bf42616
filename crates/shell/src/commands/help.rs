//! `help`, `help 'group'`, `help 'command'`.

use super::{Command, GROUPS, find};
use crate::formatter::Formatter;

const INTRODUCTION: &str = "\
Type 'help \"COMMAND\"', (e.g. 'help \"get\"' -- the quotes are necessary) for help on a specific command.
Commands are grouped. Type 'help \"COMMAND_GROUP\"', (e.g. 'help \"general\"') for help on a command group.";

const USAGE: &str = "\
SHELL USAGE:
Names of tables, rows and columns are quoted, commas stand between arguments, <RETURN> runs the line; a line that
ends with a comma or an open bracket goes on in the next one.

Settings of tables and families, and options of commands, are hashes:

  {NAME => 'f', VERSIONS => 3, 'hbase.some.setting' => 'value'}

Their keys are mostly constants such as NAME, VERSIONS, COMPRESSION, which are not quoted; <TAB> completes them.

Bytes that are no text are written in double quotes, hexadecimal, octal or as Unicode:

  hbase> get 't1', \"key\\x03\\x3f\\xcd\"
  hbase> get 't1', \"key\\003\\023\\011\"
  hbase> put 't1', \"test\\xef\\xff\", 'f1:', \"\\u00e9\"

The language is the part of Ruby that scripts of HBase's shell use: variables, strings with #{...}, arithmetic, arrays,
hashes, ranges, blocks, if, while, for, def. See docs/shell.md.
";

/// What `help` prints; None: everything there is.
pub fn print(print: &mut Formatter, topic: Option<&str>) {
    if let Some(topic) = topic {
        if let Some(command) = find(topic) {
            return print.print(command.help);
        }
        if let Some(group) = GROUPS.iter().find(|group| group.name == topic) {
            let mut commands: Vec<&Command> = group.commands.to_vec();
            commands.sort_by_key(|command| command.name);
            for command in commands {
                print.puts(format!("Command: {}\n{}", command.name, command.help));
            }
            if let Some(comment) = group.comment {
                print.puts(format!("{}\n\n{comment}\n", "-".repeat(80)));
            }
            return;
        }
        print.puts(format!("ERROR: Invalid command or command group name: {topic}\n"));
    }
    print.puts(format!("HBase Shell of Martite, version {}\n{INTRODUCTION}\n", env!("CARGO_PKG_VERSION")));
    print.puts("COMMAND GROUPS:");
    for group in GROUPS {
        let mut names: Vec<&str> = group.commands.iter().map(|command| command.name).collect();
        names.sort_unstable();
        print.puts(format!("  Group name: {}\n  Commands: {}\n", group.name, names.join(", ")));
    }
    if topic.is_none() {
        print.print(USAGE);
    }
}
