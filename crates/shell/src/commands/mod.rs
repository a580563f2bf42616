//! The commands: a flat table of groups, each a list of [`Command`]s, **one file a command**.
//!
//! To add one: a file `commands/<group>/<name>.rs` with a `pub const COMMAND: Command`, and its line in the group's `mod.rs`.
//! What a command prints goes through [`Session::print`]; what it returns is shown at the prompt behind `=>`.

pub mod arguments;
pub mod configuration;
pub mod ddl;
pub mod dml;
pub mod general;
pub mod help;
pub mod namespace;
pub mod pattern;
pub mod procedures;
pub mod quotas;
pub mod replication;
pub mod rsgroup;
pub mod security;
pub mod snapshots;
pub mod storefiletracker;
pub mod target;
pub mod time;
pub mod tools;
pub mod visibility_labels;

pub use arguments::{Arguments, Options};

use crate::failure::Run;
use crate::language::Raise;
use crate::session::Session;

/// A command of the shell.
pub struct Command {
    pub name: &'static str,
    /// Other names of it.
    pub aliases: &'static [&'static str],
    /// One line, for lists of commands.
    pub summary: &'static str,
    /// What `help 'name'` prints.
    pub help: &'static str,
    pub arity: Arity,
    pub run: fn(&mut Session, Arguments) -> Run,
}

/// How many arguments a command takes.
#[derive(Debug, Clone, Copy)]
pub struct Arity {
    pub least: usize,
    /// None: any number.
    pub most: Option<usize>,
}

impl Arity {
    pub const NONE: Arity = Arity::exactly(0);

    pub const fn exactly(count: usize) -> Arity {
        Arity { least: count, most: Some(count) }
    }
    pub const fn between(least: usize, most: usize) -> Arity {
        Arity { least, most: Some(most) }
    }
    pub const fn at_least(least: usize) -> Arity {
        Arity { least, most: None }
    }

    pub fn check(&self, given: usize) -> Result<(), Raise> {
        let expected = match self.most {
            Some(most) if (self.least..=most).contains(&given) => return Ok(()),
            None if given >= self.least => return Ok(()),
            Some(most) if most == self.least => most.to_string(),
            Some(most) => format!("{}..{most}", self.least),
            None => format!("{}+", self.least),
        };
        Err(Raise::arity(given, &expected))
    }
}

/// Commands that belong together.
pub struct Group {
    pub name: &'static str,
    pub full_name: &'static str,
    /// Printed below the group's help.
    pub comment: Option<&'static str>,
    pub commands: &'static [&'static Command],
}

/// All groups, in the order of HBase's `help`.
pub const GROUPS: &[Group] = &[
    Group { name: "general", full_name: "GENERAL HBASE SHELL COMMANDS", comment: None, commands: general::COMMANDS },
    Group { name: "ddl", full_name: "TABLES MANAGEMENT COMMANDS", comment: None, commands: ddl::COMMANDS },
    Group {
        name: "namespace",
        full_name: "NAMESPACE MANAGEMENT COMMANDS",
        comment: None,
        commands: namespace::COMMANDS,
    },
    Group { name: "dml", full_name: "DATA MANIPULATION COMMANDS", comment: None, commands: dml::COMMANDS },
    Group {
        name: "tools",
        full_name: "HBASE SURGERY TOOLS",
        comment: Some("WARNING: these commands are for experts: misuse can damage a cluster"),
        commands: tools::COMMANDS,
    },
    Group {
        name: "replication",
        full_name: "CLUSTER REPLICATION TOOLS",
        comment: None,
        commands: replication::COMMANDS,
    },
    Group { name: "snapshots", full_name: "CLUSTER SNAPSHOT TOOLS", comment: None, commands: snapshots::COMMANDS },
    Group {
        name: "configuration",
        full_name: "ONLINE CONFIGURATION TOOLS",
        comment: None,
        commands: configuration::COMMANDS,
    },
    Group { name: "quotas", full_name: "CLUSTER QUOTAS TOOLS", comment: None, commands: quotas::COMMANDS },
    Group {
        name: "security",
        full_name: "SECURITY TOOLS",
        comment: Some("NOTE: these commands need a cluster with the AccessController"),
        commands: security::COMMANDS,
    },
    Group {
        name: "procedures",
        full_name: "PROCEDURES & LOCKS MANAGEMENT",
        comment: None,
        commands: procedures::COMMANDS,
    },
    Group {
        name: "visibility labels",
        full_name: "VISIBILITY LABEL TOOLS",
        comment: Some("NOTE: these commands need a cluster with the VisibilityController"),
        commands: visibility_labels::COMMANDS,
    },
    Group {
        name: "rsgroup",
        full_name: "RSGroups",
        comment: Some("NOTE: these commands need a master with the endpoint RSGroupAdminService"),
        commands: rsgroup::COMMANDS,
    },
    Group {
        name: "storefiletracker",
        full_name: "StoreFileTracker",
        comment: None,
        commands: storefiletracker::COMMANDS,
    },
];

/// Commands that a reference to a table has as methods.
pub const OF_TABLES: &[&str] = &[
    "append",
    "count",
    "delete",
    "deleteall",
    "describe",
    "disable",
    "drop",
    "enable",
    "flush",
    "get",
    "get_counter",
    "get_splits",
    "incr",
    "put",
    "scan",
    "snapshot",
];

/// The command of a name or an alias.
pub fn find(name: &str) -> Option<&'static Command> {
    let all = GROUPS.iter().flat_map(|group| group.commands.iter().copied());
    all.into_iter().find(|command| command.name == name || command.aliases.contains(&name))
}

/// Every name that can be called, aliases too.
pub fn names() -> impl Iterator<Item = &'static str> {
    let all = GROUPS.iter().flat_map(|group| group.commands.iter().copied());
    all.flat_map(|command| std::iter::once(command.name).chain(command.aliases.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_command_has_help() {
        let mut seen = std::collections::HashSet::new();
        for name in names() {
            assert!(seen.insert(name), "{name} is there twice");
            let command = find(name).unwrap();
            assert!(!command.summary.is_empty() && !command.summary.contains('\n'), "{name}");
            assert!(command.help.ends_with('\n'), "{name}: its help is lines");
            assert!(command.help.contains("hbase>") || command.arity.most == Some(0), "{name}: its help has examples");
        }
        for name in OF_TABLES {
            assert!(find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn arity_is_told_as_ruby_tells_it() {
        assert!(Arity::between(1, 2).check(2).is_ok());
        let text = |arity: Arity, given| arity.check(given).unwrap_err().message;
        assert_eq!(text(Arity::NONE, 1), "wrong number of arguments (given 1, expected 0)");
        assert_eq!(text(Arity::between(1, 2), 3), "wrong number of arguments (given 3, expected 1..2)");
        assert_eq!(text(Arity::at_least(1), 0), "wrong number of arguments (given 0, expected 1+)");
    }
}
