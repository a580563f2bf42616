//! What all pages have in common: head and style, title, what was measured on which machine, the servers and their colours.
//! No script, nothing from elsewhere.

use crate::machine::Machine;
use martite_plot::number::three;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");
/// Other work on the machine that a reader must know of, in cores.
const BUSY_CORES: f64 = 0.2;

/// Where, when and by what a report was made.
pub struct Origin<'a> {
    pub machine: &'a Machine,
    pub date: &'a str,
    pub version: &'a str,
    /// The most that other work had while something was measured.
    pub most_other_cores: f64,
}

/// A page about some servers, under a heading.
pub fn page<'a>(subject: &str, heading: &str, servers: impl Iterator<Item = &'a str>, body: &Markup) -> String {
    let servers = servers.collect::<Vec<_>>().join(", ");
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (subject) ": " (servers) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (heading) }
                (body)
            }
        }
    };
    page.into_string()
}

/// The line of the machine, and a warning if it had other work.
pub fn origin(origin: &Origin<'_>) -> Markup {
    html! {
        p.machine { (origin.machine) ". " (origin.date) ", martite bench " (origin.version) "." }
        @if origin.most_other_cores >= BUSY_CORES {
            p.warning {
                "The machine was not quiet: other work had up to " (three(origin.most_other_cores))
                " cores while something was measured."
            }
        }
    }
}

/// What has which colour.
pub fn legend(lines: impl Iterator<Item = (usize, Markup)>) -> Markup {
    html! {
        ul.legend {
            @for (colour, line) in lines { li class=(format!("s{colour}")) { span.dot {} (line) } }
        }
    }
}

/// A server in a table; its column's head is `th.name`.
pub fn server(name: &str, colour: usize) -> Markup {
    html! { td class=(format!("name s{colour}")) { span.dot {} (name) } }
}

/// Under an axis of seconds, numbers of some `most` of them.
pub fn seconds(count: usize, most: usize) -> Vec<String> {
    let step = count.div_ceil(most).max(1);
    (0..count).map(|i| if i % step == 0 { (i + 1).to_string() } else { String::new() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_names_some_of_its_seconds() {
        assert_eq!(seconds(3, 10), ["1", "2", "3"]);
        assert_eq!(seconds(5, 3), ["1", "", "3", "", "5"]);
        assert!(seconds(0, 3).is_empty());
    }

    #[test]
    fn a_page_escapes_what_it_shows() {
        let page = page("A", "B", ["x<1>", "y"].into_iter(), &server("x<1>", 1));
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<title>A: x&lt;1&gt;, y</title>"), "{page}");
        assert!(page.contains(r#"<td class="name s1"><span class="dot"></span>x&lt;1&gt;</td>"#), "{page}");
    }
}
