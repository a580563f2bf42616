//! Tables whose names match a pattern, and what is done to all of them.

use crate::failure::{Failure, Run};
use crate::session::Session;
use fancy_regex::Regex;
use martite_catalog::TableName;
use std::future::Future;

/// A Java regular expression that a whole name must match.
pub fn whole(pattern: &str) -> Run<Regex> {
    let anchored = format!("^(?:{pattern})$");
    Regex::new(&anchored).map_err(|error| Failure::argument(format!("{pattern} is no regular expression: {error}")))
}

/// The tables of users that match; the server compares.
pub fn matching(session: &mut Session, pattern: &str) -> Run<Vec<TableName>> {
    whole(pattern)?;
    let admin = session.admin()?;
    session.wait(async { admin.table_names_matching(pattern, false).await })
}

pub struct Words {
    pub verb: &'static str,
    pub past: &'static str,
}

/// Asks, then does something to every table that matches; what fails is printed and counted.
pub fn for_all<F: Future<Output = Result<(), martite_client::Error>>>(
    session: &mut Session,
    pattern: &str,
    words: &Words,
    act: impl Fn(TableName) -> F,
) -> Run<()> {
    let names = matching(session, pattern)?;
    for name in &names {
        session.print.row(&[name.to_string()]);
    }
    if names.is_empty() {
        session.print.puts(format!("No tables matched the regex {pattern}"));
        return Ok(());
    }
    session.print.puts(format!("\n{} the above {} tables (y/n)?", words.verb, names.len()));
    let answer = session.read_line().unwrap_or_default();
    if !answer.to_lowercase().contains('y') {
        return Ok(());
    }
    let mut failed = Vec::new();
    for name in &names {
        if let Err(failure) = session.wait(act(name.clone())) {
            session.print.puts(format!("table:{name}, error:{}", failure.java_text()));
            failed.push(name.to_string());
        }
    }
    session.print.puts(format!("{} tables successfully {}", names.len() - failed.len(), words.past));
    if !failed.is_empty() {
        let list = failed.join(",");
        session.print.puts(format!("{} tables not {} due to an exception: {list}", failed.len(), words.past));
    }
    Ok(())
}
