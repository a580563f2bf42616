//! What `alter` and `alter_async` do: one change of a table from all arguments.

use super::{family, settings, table};
use crate::commands::arguments::texts;
use crate::commands::{Arguments, Options};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_catalog::{TableDescriptor, TableName};
use std::time::Duration;

/// Between two questions how far the regions are.
const POLL: Duration = Duration::from_secs(1);
/// The first time, what is in transition is looked at so often within that time.
const SETTLING: u32 = 20;

/// The name of a table that is there to be changed.
pub fn altered(session: &mut Session, text: &str) -> Run<TableName> {
    if !table::exists(session, text)? {
        return Err(Failure::argument(format!("Can't find a table: {text}")));
    }
    Ok(TableName::parse(text)?)
}

pub fn alter(session: &mut Session, arguments: &Arguments, wait: bool) -> Run<()> {
    let text = arguments.string(0, "Table name")?;
    let name = altered(session, &text)?;
    if arguments.len() < 2 {
        return Err(Failure::argument("There should be at least one argument but the table name"));
    }
    let admin = session.admin()?;
    let mut table = session.wait(async { admin.table_descriptor(&name).await })?;
    let mut reopen = true;
    for value in arguments.flattened(1) {
        change(session, &mut table, &value, &mut reopen)?;
    }
    let pending = session.wait(async { admin.modify_table_async(&table, reopen).await })?;
    if !reopen {
        session.print.puts(
            "WARNING: You are using REOPEN_REGIONS => 'false' to modify a table, which will
          result in inconsistencies in the configuration of online regions and other risks. If you
          encounter any issues, use the original 'alter' command to make the modification again!",
        );
    }
    if wait {
        if reopen {
            session.print.puts("Updating all regions with the new schema...");
            session.print.flush();
        }
        session.wait(async { pending.wait().await })?;
        if reopen {
            wait_for_regions(session, &name)?;
        }
    }
    Ok(())
}

/// Says how many regions have the new schema, until all have.
pub fn wait_for_regions(session: &mut Session, name: &TableName) -> Run<()> {
    let admin = session.admin()?;
    let mut settling = SETTLING;
    loop {
        let counts = session.wait(async { admin.region_states(name).await })?.unwrap_or_default();
        let in_transition = counts.regions_in_transition;
        // The change is made: what is being opened is open in a moment.
        if in_transition > 0 && settling > 0 {
            settling -= 1;
            pause(session, POLL / SETTLING)?;
            continue;
        }
        if counts.total_regions == 0 {
            session.print.puts("All regions updated.");
        } else {
            let updated = counts.total_regions.saturating_sub(in_transition + counts.closed_regions);
            session.print.puts(format!("{updated}/{} regions updated.", counts.total_regions));
        }
        if in_transition == 0 {
            session.print.puts("Done.");
            return Ok(());
        }
        session.print.flush();
        pause(session, POLL)?;
    }
}

fn pause(session: &mut Session, duration: Duration) -> Run<()> {
    session.wait(async {
        tokio::time::sleep(duration).await;
        Ok(())
    })
}

/// One argument: a family, a method, or settings of the table.
fn change(session: &mut Session, table: &mut TableDescriptor, value: &Value, reopen: &mut bool) -> Run<()> {
    if let Value::Text(_) = value {
        table.set_family(family::of(session, value, table)?);
        return Ok(());
    }
    let mut options = Options::of(value)?;
    if let Some(name) = options.take("delete") {
        table.remove_family(&name.to_bytes());
        return Ok(());
    }
    if let Some(value) = options.take_any("REOPEN_REGIONS") {
        *reopen = match value.to_text().to_lowercase().as_str() {
            "true" => true,
            "false" => false,
            _ => return Err(Failure::argument("Invalid 'REOPEN_REGIONS' for non-boolean value.")),
        };
    }
    let method = options.take_text("METHOD");
    match method.as_deref() {
        None if options.has("NAME") => {
            let spec = Value::hash(options.pairs().to_vec());
            table.set_family(family::of(session, &spec, table)?);
            return Ok(());
        }
        None | Some("table_att") => {
            options.take("NAME");
            settings::apply(session, table, &mut options)?;
            coprocessors(table, &mut options)?;
        }
        Some(method) => self::method(table, &mut options, method)?,
    }
    for key in options.keys() {
        session.print.puts(format!("Unknown argument ignored: {key}"));
    }
    Ok(())
}

fn method(table: &mut TableDescriptor, options: &mut Options, method: &str) -> Run<()> {
    let name = options.take("NAME");
    let needed =
        || name.clone().ok_or_else(|| Failure::argument(format!("NAME parameter missing for {method} method")));
    match method {
        "delete" => {
            table.remove_family(&needed()?.to_bytes());
        }
        "table_att_unset" | "table_conf_unset" => {
            let what = if method == "table_att_unset" { "attribute" } else { "configuration" };
            for key in texts(&needed()?) {
                if table.attributes.remove(&key).is_none() {
                    return Err(Failure::argument(format!("Could not find {what}: {key}")));
                }
            }
        }
        "table_remove_coprocessor" => {
            let classes = options
                .take_texts("CLASSNAME")
                .ok_or_else(|| Failure::argument("CLASSNAME parameter missing for table_remove_coprocessor method"))?;
            for class in classes {
                let found = table.coprocessors().into_iter().find(|(_, value, _)| class_of(value) == Some(&class));
                let (key, ..) = found.ok_or_else(|| {
                    let name = table.name();
                    Failure::argument(format!("coprocessor with class name {class} was not found in {name}"))
                })?;
                table.attributes.remove(&key);
            }
        }
        other => return Err(Failure::argument(format!("Unknown method: {other}"))),
    }
    Ok(())
}

/// The class of `path|class|priority|arguments`.
fn class_of(spec: &str) -> Option<&str> {
    spec.split('|').nth(1).map(str::trim).filter(|class| !class.is_empty())
}

/// `'coprocessor' => 'path|class|priority|arguments'`, under the next number.
fn coprocessors(table: &mut TableDescriptor, options: &mut Options) -> Run<()> {
    let keys: Vec<String> =
        options.keys().into_iter().filter(|key| key.to_lowercase().contains("coprocessor")).collect();
    for key in keys {
        let Some(spec) = options.take_text(&key) else { continue };
        let spec = spec.trim().to_owned();
        if class_of(&spec).is_none() {
            return Err(Failure::argument(format!("{spec} does not match path|class|priority|arguments")));
        }
        let used = table.coprocessors();
        let number = |key: &str| key.rsplit('$').next().and_then(|n| n.parse::<u32>().ok());
        let next = used.iter().filter_map(|(key, ..)| number(key)).max().unwrap_or(0) + 1;
        table.attributes.set(&format!("coprocessor${next}"), spec.into_bytes());
    }
    Ok(())
}
