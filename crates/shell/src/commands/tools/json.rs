//! JSON as Gson prints it for people: what the logs of servers are shown as.

use crate::commands::arguments::texts as names;
use crate::commands::{Arguments, target};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_client::admin::{LogFilter, LogKind};
use martite_client::pb;
use std::fmt::Write;

/// A string with what JSON escapes.
pub fn text(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// An array of strings, one a line, within an object.
pub fn texts(items: &[String]) -> String {
    if items.is_empty() {
        return "[]".to_owned();
    }
    let lines: Vec<String> = items.iter().map(|item| format!("    {}", text(item))).collect();
    format!("[\n{}\n  ]", lines.join(",\n"))
}

/// An object of names and values that are JSON already.
pub fn object(pairs: &[(&str, String)]) -> String {
    let lines: Vec<String> = pairs.iter().map(|(name, value)| format!("  \"{name}\": {value}")).collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}

/// Ruby's `puts` of an array: of an empty one an empty line.
pub fn puts(session: &mut Session, texts: impl Iterator<Item = String>) {
    let texts: Vec<String> = texts.collect();
    if texts.is_empty() {
        session.print.puts("");
    }
    texts.iter().for_each(|text| session.print.puts(text));
}

/// Slow or large calls of the servers that the arguments name.
pub fn print_log(session: &mut Session, arguments: &Arguments, kind: LogKind, title: &str) -> Run {
    let given = &arguments.values()[0];
    let servers = match given {
        Value::Text(name) if name == "*" => target::servers(session, &[], true)?,
        Value::Text(_) | Value::Array(_) => target::servers(session, &names(given), false)?,
        other => {
            let (class, text) = (other.class(), other.inspect());
            return Err(Failure::argument(format!("{class} of {text} is not of Array/String type")));
        }
    };
    let mut options = match arguments.get(1) {
        None | Some(Value::Hash(_)) => arguments.options(1)?,
        Some(_) => return Err(Failure::runtime("Filter parameters are not Hash")),
    };
    let limit = options.take_integer("LIMIT")?.unwrap_or(10);
    let filter = LogFilter {
        region: options.take_text("REGION_NAME"),
        table: options.take_text("TABLE_NAME"),
        client: options.take_text("CLIENT_IP"),
        user: options.take_text("USER"),
        all_of_them: options.take_text("FILTER_BY_OP").as_deref() == Some("AND"),
        limit: u32::try_from(limit).map_err(|_| Failure::argument(format!("LIMIT is {limit}")))?,
    };
    let admin = session.admin()?;
    let mut calls = Vec::new();
    for server in &servers {
        calls.extend(session.wait(admin.slow_log(server, kind, &filter))?);
    }
    session.print.puts(title);
    puts(session, calls.iter().map(call));
    Ok(Value::Nil)
}

fn call(call: &pb::SlowLogPayload) -> String {
    let mut pairs = vec![
        ("startTime", call.start_time.to_string()),
        ("processingTime", call.processing_time.to_string()),
        ("queueTime", call.queue_time.to_string()),
        ("responseSize", call.response_size.to_string()),
        ("blockBytesScanned", call.block_bytes_scanned().to_string()),
        ("fsReadTime", call.fs_read_time().to_string()),
        ("clientAddress", text(&call.client_address)),
        ("serverClass", text(&call.server_class)),
        ("methodName", text(&call.method_name)),
        ("callDetails", text(&call.call_details)),
        ("param", text(call.param())),
        ("userName", text(&call.user_name)),
    ];
    let counts = [
        ("multiGetsCount", call.multi_gets()),
        ("multiMutationsCount", call.multi_mutations()),
        ("multiServiceCalls", call.multi_service_calls()),
    ];
    pairs.extend(counts.into_iter().filter(|(_, count)| *count != 0).map(|(name, count)| (name, count.to_string())));
    object(&pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_gson_prints_it() {
        let shown = object(&[("a", text("x\"\n\u{1}")), ("b", texts(&["y".to_owned(), "z".to_owned()]))]);
        assert_eq!(shown, "{\n  \"a\": \"x\\\"\\n\\u0001\",\n  \"b\": [\n    \"y\",\n    \"z\"\n  ]\n}");
        assert_eq!(texts(&[]), "[]");
    }
}
