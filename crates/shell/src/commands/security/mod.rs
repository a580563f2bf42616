//! The group security.

mod access;
mod grant;
mod list_security_capabilities;
mod revoke;
mod user_permission;

use super::Command;

pub const COMMANDS: &[&Command] =
    &[&list_security_capabilities::COMMAND, &grant::COMMAND, &revoke::COMMAND, &user_permission::COMMAND];
