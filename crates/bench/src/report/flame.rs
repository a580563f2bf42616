//! Flame graphs as SVG: what called what, as wide as the time that it took.
//!
//! ```text
//! |  copy_to_user  |
//! |     tcp_sendmsg        |   decode   |
//! |              Task::run                   |  pass_row |
//! |                 net                      |    scan   |      the threads
//! ```

use crate::profile::{Function, Stacks};
use maud::{Markup, html};

const WIDTH: f64 = 1200.0;
const ROW: f64 = 16.0;
/// Narrower ones are left out.
const NARROWEST: f64 = 1.0;
/// Of a letter, about.
const LETTER: f64 = 6.2;
const MOST_ROWS: usize = 60;

struct Bar<'a> {
    x: f64,
    width: f64,
    row: usize,
    function: &'a Function,
    share: f64,
}

/// Samples by function, the first callers at the bottom.
pub fn graph(stacks: &Stacks) -> Markup {
    let mut bars = Vec::new();
    place(stacks, stacks.samples.max(1) as f64, 0.0, 0, &mut bars);
    let rows = bars.iter().map(|bar| bar.row + 1).max().unwrap_or(0);
    let height = rows as f64 * ROW + 4.0;
    html! {
        svg.flame viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label="flame graph" {
            @for bar in &bars {
                @let y = height - (bar.row + 1) as f64 * ROW;
                g class=(kind(bar)) {
                    title { (bar.function.name) ": " (format!("{:.1} %", bar.share * 100.0)) }
                    rect x=(round(bar.x)) y=(round(y)) width=(round(bar.width - 0.5)) height=(ROW - 1.0) {}
                    @if let Some(label) = label(bar) {
                        text x=(round(bar.x + 3.0)) y=(round(y + ROW - 4.5)) { (label) }
                    }
                }
            }
        }
    }
}

fn place<'a>(stacks: &'a Stacks, all: f64, x: f64, row: usize, bars: &mut Vec<Bar<'a>>) {
    if row == MOST_ROWS {
        return;
    }
    let mut x = x;
    for (function, inner) in &stacks.called {
        let share = inner.samples as f64 / all;
        let width = share * WIDTH;
        if width >= NARROWEST {
            bars.push(Bar { x, width, row, function, share });
            place(inner, all, x, row + 1, bars);
        }
        x += width;
    }
}

fn kind(bar: &Bar<'_>) -> &'static str {
    match (bar.row, bar.function.kernel) {
        (0, _) => "thread",
        (_, true) => "kernel",
        (_, false) => "user",
    }
}

/// As much of the name as there is room for; the end tells more than the path before it.
fn label(bar: &Bar<'_>) -> Option<String> {
    let room = ((bar.width - 6.0) / LETTER) as usize;
    if room < 3 {
        return None;
    }
    let name = &bar.function.name;
    if name.chars().count() <= room {
        return Some(name.clone());
    }
    let last = name.rsplit("::").next().unwrap_or(name);
    if last.chars().count() <= room {
        return Some(last.to_owned());
    }
    let cut: String = last.chars().take(room - 1).collect();
    Some(format!("{cut}…"))
}

fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::tests::stacks;

    #[test]
    fn a_bar_is_as_wide_as_its_share_and_stands_on_its_caller() {
        let stacks = stacks();
        let mut bars = Vec::new();
        place(&stacks, stacks.samples as f64, 0.0, 0, &mut bars);
        let of = |name: &str| bars.iter().find(|b| b.function.name == name).unwrap();
        let (net, send) = (of("net"), of("tcp_sendmsg"));
        assert_eq!((net.x, net.width.round(), net.row), (0.0, 800.0, 0));
        assert!((send.width - 400.0).abs() < 0.1 && send.row == 3 && send.x >= net.x);
        let svg = graph(&stacks).into_string();
        assert!(svg.contains("<title>tcp_sendmsg: 33.3 %</title>") && svg.contains(r#"class="kernel""#), "{svg}");
        assert!(graph(&Stacks::default()).into_string().contains("<svg"));
    }

    #[test]
    fn names_are_cut_to_their_room() {
        let function = Function { name: "a::module::function".to_owned(), kernel: false };
        let label = |width: f64| label(&Bar { x: 0.0, width, row: 1, function: &function, share: 0.5 });
        assert_eq!(label(200.0).as_deref(), Some("a::module::function"));
        assert_eq!(label(80.0).as_deref(), Some("function"));
        assert_eq!(label(40.0).as_deref(), Some("func…"));
        assert_eq!(label(20.0), None);
    }
}
