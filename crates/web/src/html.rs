//! A [`View`] as HTML. Style and script are files of their own, so that a browser runs nothing that stands in a page.

use crate::view::{Body, Cell, Link, Section, Table, Tone, View};
use jiff::Timestamp;
use martite_plot::number::{bytes, duration, percent, short};
use maud::{DOCTYPE, Markup, html};

pub(crate) const STYLE: &str = include_str!("style.css");
pub(crate) const SCRIPT: &str = include_str!("script.js");

/// A page whose path is `here`.
pub(crate) fn page(view: &View, here: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (view.title) " – Martite" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href="/static/martite.css";
                script src="/static/martite.js" defer {}
            }
            body {
                header {
                    b.name { "Martite" }
                    nav { @for tab in &view.tabs { (self::tab(tab, here)) } }
                    label.live hidden { input #live type="checkbox" checked; " live" }
                }
                main {
                    h1 { (view.title) }
                    p.subtitle { (view.subtitle) }
                    @for section in &view.sections { (self::section(section)) }
                }
            }
        }
    };
    page.into_string()
}

fn tab(tab: &Link, here: &str) -> Markup {
    let path = tab.to.split('?').next();
    html! { a href=(tab.to) aria-current=[(path == Some(here)).then_some("page")] { (tab.text) } }
}

fn section(section: &Section) -> Markup {
    html! {
        section id=(slug(&section.title)) {
            h2 { (section.title) }
            @if !section.note.is_empty() { p.note { (section.note) } }
            div.live {
                @match &section.body {
                    Body::Facts(facts) => dl { @for (name, cell) in facts { div { dt { (name) } dd { (self::cell(cell)) } } } },
                    Body::Table(table) => (self::table(table)),
                    Body::Plots(plots) => div.plots { @for plot in plots { (plot.draw()) } },
                }
            }
        }
    }
}

fn table(table: &Table) -> Markup {
    if table.rows.is_empty() {
        return html! { p.empty { (table.empty) } };
    }
    // A column is one of numbers if its first cell with anything in it is; moments read as text.
    let is_number = |column: usize| {
        let cells = table.rows.iter().filter_map(|row| row.get(column));
        let first = cells.into_iter().find(|cell| **cell != Cell::None);
        first.is_some_and(|cell| value(cell).is_some() && !matches!(cell, Cell::Moment(_)))
    };
    let numbers: Vec<bool> = (0..table.columns.len()).map(is_number).collect();
    let class = |column: usize| numbers.get(column).copied().unwrap_or(false).then_some("number");
    html! {
        div.wide {
            table {
                thead { tr { @for (i, column) in table.columns.iter().enumerate() { th class=[class(i)] { (column) } } } }
                tbody {
                    @for row in &table.rows {
                        tr { @for (i, cell) in row.iter().enumerate() { td class=[class(i)] data-v=[value(cell)] { (self::cell(cell)) } } }
                    }
                }
            }
        }
    }
}

/// By what a cell is sorted, if not by its text.
fn value(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Count(n) | Cell::Bytes(n) | Cell::Duration(n) | Cell::Moment(n) => Some(*n as f64),
        Cell::Number(n) => Some(*n),
        Cell::Share(part, whole) => Some(if *whole > 0.0 { part / whole } else { 0.0 }),
        Cell::None | Cell::Text(_) | Cell::Code(_) | Cell::Link(_) | Cell::Tone(..) => None,
    }
}

fn cell(cell: &Cell) -> Markup {
    html! {
        @match cell {
            Cell::None => "–",
            Cell::Text(text) => (text),
            Cell::Code(text) => code { (text) },
            Cell::Link(link) => a href=(link.to) { (link.text) },
            Cell::Tone(tone, text) => span class=(class(*tone)) { (text) },
            Cell::Count(count) => (thousands(*count)),
            Cell::Number(number) => (short(*number)),
            Cell::Bytes(size) => span title=(format!("{} bytes", thousands(*size))) { (bytes(*size as f64)) },
            Cell::Duration(ns) => (duration(*ns as f64)),
            Cell::Moment(ms) => (moment(*ms)),
            Cell::Share(part, whole) => (share(*part, *whole)),
        }
    }
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "tone good",
        Tone::Busy => "tone busy",
        Tone::Bad => "tone bad",
    }
}

fn share(part: f64, whole: f64) -> Markup {
    if whole <= 0.0 {
        return html! { "–" };
    }
    let share = (part / whole).clamp(0.0, 1.0);
    html! { meter value=(format!("{share:.4}")) {} " " (percent(part / whole)) }
}

fn moment(ms: u64) -> String {
    let at = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    at.map_or_else(|| format!("{ms} ms"), |at| at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}

/// `1,234,567`.
fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What a title is called in an address.
fn slug(title: &str) -> String {
    let parts = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: Body) -> String {
        let mut view = View::new("T<1>", "s&s");
        view.tabs = vec![Link { to: "/a?x=1".to_owned(), text: "A".to_owned() }];
        view.add("Some Section", body);
        page(&view, "/a")
    }

    #[test]
    fn what_is_shown_is_escaped_and_the_page_that_is_open_marked() {
        let page = of(Body::Facts(vec![("key", Cell::code("<script>\"")), ("to", Cell::link("/t?n=\"x\"", "<x>"))]));
        assert!(page.contains("<title>T&lt;1&gt; – Martite</title>") && page.contains("s&amp;s"), "{page}");
        assert!(page.contains("<code>&lt;script&gt;&quot;</code>"), "{page}");
        assert!(page.contains(r#"<a href="/t?n=&quot;x&quot;">&lt;x&gt;</a>"#), "{page}");
        assert!(page.contains(r#"<a href="/a?x=1" aria-current="page">A</a>"#), "{page}");
        assert!(page.contains(r#"<section id="some-section">"#), "{page}");
    }

    #[test]
    fn columns_of_numbers_can_be_sorted_by_them() {
        let mut table = Table::new("nothing", &["name", "size"]);
        assert!(of(Body::Table(table.clone())).contains(r#"<p class="empty">nothing</p>"#));
        table.rows = vec![vec![Cell::text("a"), Cell::None], vec![Cell::text("b"), Cell::Bytes(2048)]];
        let page = of(Body::Table(table));
        assert!(page.contains(r#"<th>name</th><th class="number">size</th>"#), "{page}");
        assert!(
            page.contains(r#"<td class="number" data-v="2048"><span title="2,048 bytes">2.00 KiB</span></td>"#),
            "{page}"
        );
        assert!(page.contains(r#"<td class="number">–</td>"#), "{page}");
    }

    #[test]
    fn cells_are_written_with_their_units() {
        let cases = [
            (Cell::Count(1_234_567), "1,234,567"),
            (Cell::Count(12), "12"),
            (Cell::Number(45_678.0), "45.7 K"),
            (Cell::Duration(1_500), "1.50 µs"),
            (Cell::Duration(0), "0"),
            (Cell::Moment(1_700_000_000_000), "2023-11-14 22:13:20 UTC"),
            (Cell::moment(0), "–"),
            (Cell::Share(1.0, 0.0), "–"),
            (Cell::Share(1.0, 8.0), r#"<meter value="0.1250"></meter> 12.5 %"#),
            (Cell::Tone(Tone::Bad, "off".to_owned()), r#"<span class="tone bad">off</span>"#),
        ];
        for (cell, want) in cases {
            assert_eq!(self::cell(&cell).into_string(), want);
        }
        assert_eq!(moment(u64::MAX), format!("{} ms", u64::MAX), "no such year");
    }
}
