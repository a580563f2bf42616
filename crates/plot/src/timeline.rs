//! [`Timeline`]: lines over the last minutes as SVG, the present at the right.
//!
//! ```text
//! Requests a second
//! 40 K ┤             ╭──    one class a line, s0, s1, …; below, its name and its last value
//! 20 K ┤      ╭──────╯      stacked: each line on those before it, as areas
//!    0 ┴──────┴──────┴──
//!     -20    -10    now     minutes; a history shorter than the width begins further right
//! ```
//! A script that wants to tell the values of one moment finds them, written out, in `data-values` of each line.

use crate::number::trimmed;
use crate::{Axis, Unit};
use maud::{Markup, html};

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 170.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 22.0;
/// So many minutes are between two marks at least that the width has at most five.
const MINUTES: [usize; 6] = [1, 2, 5, 10, 20, 60];

/// What was seen, the oldest first; none where nothing was.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub name: String,
    pub values: Vec<Option<f64>>,
}

/// Lines whose last values are of the same moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    pub title: String,
    /// From one value to the next.
    pub step_s: u32,
    /// How many values the width has room for; of more, the last ones are shown.
    pub room: usize,
    pub lines: Vec<Line>,
    pub unit: Unit,
    pub stacked: bool,
}

/// A value and where it is drawn: from what is below it up to it.
struct Point {
    x: f64,
    from: f64,
    to: f64,
}

impl Timeline {
    pub fn draw(&self) -> Markup {
        let lines: Vec<&[Option<f64>]> = self.lines.iter().map(|line| self.shown(line)).collect();
        let points = self.points(&lines);
        let values = || points.iter().flatten().flatten().map(|p| p.to);
        let axis = self.unit.axis(values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max));
        html! {
            figure.timeline data-step=(self.step_s) {
                figcaption { (self.title) }
                svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(self.title)
                    data-left=(LEFT) data-right=(WIDTH - RIGHT) data-room=(self.room) {
                    @for tick in &axis.ticks {
                        @let y = self.y(&axis, *tick);
                        line.grid x1=(LEFT) x2=(WIDTH - RIGHT) y1=(y) y2=(y) {}
                        text.tick x=(LEFT - 6.0) y=(y) text-anchor="end" dominant-baseline="middle" { (trimmed(&self.unit.write(*tick))) }
                    }
                    @for (x, text) in self.times() {
                        text.tick x=(round(x)) y=(HEIGHT - 6.0) text-anchor="middle" { (text) }
                    }
                    @for (nth, points) in points.iter().enumerate() {
                        g class=(class(nth)) { @for path in self.paths(&axis, points) { (path) } }
                    }
                }
                div.legend {
                    @for (nth, (line, values)) in self.lines.iter().zip(&lines).enumerate() {
                        span class=(class(nth)) data-values=(self.written(values)) {
                            (line.name) " " b { (values.last().copied().flatten().map_or_else(|| "–".to_owned(), |value| self.unit.write(value))) }
                        }
                    }
                }
            }
        }
    }

    fn shown<'a>(&self, line: &'a Line) -> &'a [Option<f64>] {
        &line.values[line.values.len().saturating_sub(self.room)..]
    }

    fn x(&self, ago: usize) -> f64 {
        WIDTH - RIGHT - ago as f64 * (WIDTH - LEFT - RIGHT) / self.room.saturating_sub(1).max(1) as f64
    }

    fn y(&self, axis: &Axis, value: f64) -> f64 {
        round(HEIGHT - BOTTOM - axis.share(value, self.unit.is_logarithmic()) * (HEIGHT - TOP - BOTTOM))
    }

    fn points(&self, lines: &[&[Option<f64>]]) -> Vec<Vec<Option<Point>>> {
        let mut below = vec![0.0; self.room];
        let of_line = |values: &&[Option<f64>]| {
            let count = values.len();
            let point = |(i, value): (usize, &Option<f64>)| {
                let value = (*value)?;
                let ago = count - 1 - i;
                let from = if self.stacked { below[ago] } else { 0.0 };
                below[ago] = from + value;
                Some(Point { x: self.x(ago), from, to: from + value })
            };
            values.iter().enumerate().map(point).collect()
        };
        lines.iter().map(of_line).collect()
    }

    /// A path for each piece of the line without a gap.
    fn paths(&self, axis: &Axis, points: &[Option<Point>]) -> Vec<Markup> {
        let pieces = points.split(Option::is_none).filter(|piece| !piece.is_empty());
        let path = |piece: &[Option<Point>]| {
            let at = |end: fn(&Point) -> f64| {
                piece
                    .iter()
                    .flatten()
                    .map(move |p| format!("{},{}", round(p.x), self.y(axis, end(p))))
                    .collect::<Vec<_>>()
            };
            let mut upper = at(|p| p.to);
            if self.stacked {
                let mut around = at(|p| p.from);
                around.reverse();
                html! { polygon points=(format!("{} {}", upper.join(" "), around.join(" "))) {} }
            } else {
                if let [one] = upper.as_slice() {
                    // A line that goes nowhere is a dot.
                    upper.push(one.clone());
                }
                html! { polyline points=(upper.join(" ")) {} }
            }
        };
        pieces.map(path).collect()
    }

    /// Marks of the time axis: where, and what they say.
    fn times(&self) -> Vec<(f64, String)> {
        let all_s = self.room * self.step_s as usize;
        let apart_s = MINUTES.iter().map(|m| m * 60).find(|apart| all_s / apart < 5).unwrap_or(all_s).max(1);
        let mark = |ago_s: usize| {
            let text = if ago_s == 0 { "now".to_owned() } else { format!("-{} min", ago_s / 60) };
            (self.x(ago_s / (self.step_s as usize).max(1)), text)
        };
        (0..all_s).step_by(apart_s).map(mark).filter(|(x, _)| *x > LEFT + 12.0).collect()
    }

    fn written(&self, values: &[Option<f64>]) -> String {
        let texts = values.iter().map(|value| value.map_or_else(String::new, |value| self.unit.write(value)));
        texts.collect::<Vec<_>>().join("|")
    }
}

/// Six colours, again and again.
fn class(nth: usize) -> String {
    format!("s{}", nth % 6)
}

/// A tenth of a pixel is enough.
fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(lines: &[&[Option<f64>]], stacked: bool) -> Timeline {
        let line = |values: &&[Option<f64>]| Line { name: "a<b".to_owned(), values: values.to_vec() };
        let lines = lines.iter().map(line).collect();
        Timeline { title: "t".to_owned(), step_s: 5, room: 3, lines, unit: Unit::Count, stacked }
    }

    #[test]
    fn the_last_value_is_at_the_right_and_a_gap_parts_a_line() {
        let drawn = timeline(&[&[Some(9.0), Some(1.0), None, Some(4.0)]], false).draw().into_string();
        assert!(
            drawn.contains(r#"<polyline points="58,113 58,113"></polyline><polyline points="452,8 452,8"></polyline>"#),
            "{drawn}"
        );
        assert!(drawn.contains(r#"data-values="1.00||4.00">a&lt;b <b>4.00</b>"#), "the first has no room: {drawn}");
    }

    #[test]
    fn stacked_lines_stand_on_those_before() {
        let drawn = timeline(&[&[Some(1.0), Some(2.0)], &[Some(3.0)]], true).draw().into_string();
        let (bottom, two, five) = ("148", "92", "8");
        assert!(drawn.contains(&format!("452,{two} 452,{bottom}")), "{drawn}");
        assert!(drawn.contains(&format!(r#"<polygon points="452,{five} 452,{two}">"#)), "{drawn}");
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let drawn = timeline(&[&[], &[None]], true).draw().into_string();
        assert!(!drawn.contains("NaN") && !drawn.contains("<poly"), "{drawn}");
        assert!(drawn.contains("<b>–</b>"), "{drawn}");
    }

    #[test]
    fn minutes_are_marked() {
        let half_an_hour = Timeline { room: 360, ..timeline(&[], false) };
        let marks: Vec<String> = half_an_hour.times().into_iter().map(|(_, text)| text).collect();
        assert_eq!(marks, ["now", "-10 min", "-20 min"]);
    }
}
