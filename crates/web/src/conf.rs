//! `/conf[?name=KEY][&format=xml|json|html]`: the settings in force, as HBase's servlet writes them.

use crate::server::Page;
use crate::view::{Body, Cell, Link, Table, View};
use crate::{Asked, html};
use serde_json::json;
use std::fmt::Write;

/// A setting in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    pub key: String,
    pub value: String,
    /// Where it was set.
    pub source: String,
    /// Whether later files could not change it.
    pub is_final: bool,
}

/// Keys with one of these in their names are secrets: their values are not told.
const SECRET: [&str; 5] = ["password", "secret", "credential", "token", "keystore.pass"];
const REDACTED: &str = "<redacted>";

impl Setting {
    fn told(self) -> Setting {
        let key = self.key.to_ascii_lowercase();
        if SECRET.iter().any(|part| key.contains(part)) { Setting { value: REDACTED.to_owned(), ..self } } else { self }
    }
}

pub(crate) fn answer(asked: &Asked, settings: Vec<Setting>, tabs: Vec<Link>) -> Page {
    if let Some(unknown) = asked.unknown(&["name", "format"]) {
        return Page::refused(format!("{unknown}: there is no such parameter; there are name and format"));
    }
    let mut settings: Vec<Setting> = settings.into_iter().map(Setting::told).collect();
    let name = asked.get("name").filter(|name| !name.is_empty());
    if let Some(name) = name {
        settings.retain(|setting| setting.key == *name);
        if settings.is_empty() {
            return Page::absent(format!("Property {name} not found"));
        }
    }
    match asked.get("format").unwrap_or("xml") {
        "xml" => Page::xml(xml(&settings)),
        "json" => Page::json(json(&settings, name.is_some())),
        "html" => Page::html(html::page(&view(settings, tabs), "/conf")),
        other => Page::refused(format!("format: {other} is none of xml, json, html")),
    }
}

fn xml(settings: &[Setting]) -> String {
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n<configuration>\n".to_owned();
    for Setting { key, value, source, is_final } in settings {
        let [key, value, source] = [key, value, source].map(|text| escaped(text));
        // Writing into a string does not fail.
        let _ = writeln!(
            out,
            "<property><name>{key}</name><value>{value}</value><final>{is_final}</final><source>{source}</source></property>"
        );
    }
    out + "</configuration>\n"
}

/// XML has no way to write most control characters: they become the mark for what cannot be shown.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\t' | '\n' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn json(settings: &[Setting], is_one: bool) -> String {
    let property = |s: &Setting| json!({ "key": s.key, "value": s.value, "isFinal": s.is_final, "resource": s.source });
    let all: Vec<_> = settings.iter().map(property).collect();
    match all.first() {
        Some(one) if is_one => json!({ "property": one }),
        _ => json!({ "properties": all }),
    }
    .to_string()
}

fn view(settings: Vec<Setting>, tabs: Vec<Link>) -> View {
    let mut view = View::new("Configuration", "Settings in force, those of clients and other programs among them");
    view.tabs = tabs;
    let mut table = Table::new("", &["Setting", "Value", "From"]);
    table.rows =
        settings.into_iter().map(|s| vec![Cell::Code(s.key), Cell::Code(s.value), Cell::Text(s.source)]).collect();
    view.add("Settings", Body::Table(table));
    view
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(query: &str) -> Page {
        let setting = |key: &str, value: &str| Setting {
            key: key.to_owned(),
            value: value.to_owned(),
            source: "hbase-site.xml".to_owned(),
            is_final: false,
        };
        let all = vec![setting("a.b", "1 < 2 & \u{1}"), setting("x.keystore.Password", "hush")];
        answer(&Asked::parse(query).unwrap(), all, Vec::new())
    }

    #[test]
    fn settings_in_three_forms_without_secrets() {
        let xml = ask("").body;
        let first = "<property><name>a.b</name><value>1 &lt; 2 &amp; \u{fffd}</value><final>false</final><source>hbase-site.xml</source></property>";
        assert!(xml.contains(first) && xml.contains("<value>&lt;redacted&gt;</value>"), "{xml}");
        let one = ask("format=json&name=a.b").body;
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&one).unwrap(),
            json!({ "property": { "key": "a.b", "value": "1 < 2 & \u{1}", "isFinal": false, "resource": "hbase-site.xml" } })
        );
        for form in ["", "format=json", "format=html"] {
            let body = ask(form).body;
            assert!(body.contains("a.b") && body.contains("redacted") && !body.contains("hush"), "{form}: {body}");
        }
    }

    #[test]
    fn what_is_not_there_is_said() {
        let nothing = ask("name=c");
        assert_eq!((nothing.status, &*nothing.body), (404, "Property c not found\n"));
        assert_eq!((ask("format=yaml").status, ask("nmae=a").status), (400, 400));
    }
}
