//! Plots as SVG: lines over thread counts, and groups of bars. Colours come from the page's style.
//!
//! ```text
//! title
//! 400 K ┤          ┌── lines of one server each, class s0, s1, …
//! 200 K ┤   ────●
//!     0 └───┬───┬──  one place for each thread count
//! ```

use martite_plot::Axis;
use martite_plot::number::{three, trimmed};
use maud::{Markup, html};

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 26.0;
/// Classes of series, which the style gives colours.
const COLOURS: usize = 6;

/// One line, or one bar of each group; a value for each label, or none.
pub struct Series {
    pub name: String,
    pub values: Vec<Option<f64>>,
    /// Which colour it has.
    pub colour: usize,
    /// Drawn less heavily.
    pub faint: bool,
}

pub struct Plot<'a> {
    pub title: &'a str,
    /// Under the axis, one for each value.
    pub labels: &'a [String],
    pub series: &'a [Series],
    pub write: fn(f64) -> String,
    /// Powers of ten are equally far apart.
    pub logarithmic: bool,
}

impl Plot<'_> {
    fn axis(&self) -> Axis {
        let values = || self.series.iter().flat_map(|s| s.values.iter().flatten().copied());
        let most = values().fold(0.0, f64::max);
        if self.logarithmic { Axis::logarithmic(values().fold(f64::MAX, f64::min), most) } else { Axis::linear(most) }
    }

    fn y(&self, axis: &Axis, value: f64) -> f64 {
        HEIGHT - BOTTOM - axis.share(value, self.logarithmic) * (HEIGHT - TOP - BOTTOM)
    }

    /// The middle of the place of a label.
    fn x(&self, index: usize) -> f64 {
        LEFT + (index as f64 + 0.5) * (WIDTH - LEFT - RIGHT) / self.labels.len().max(1) as f64
    }

    /// What is the same in all plots: title, lines across, labels.
    fn frame(&self, axis: &Axis, inside: Markup) -> Markup {
        html! {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(self.title) {
                text.title x="4" y="15" { (self.title) }
                @for tick in &axis.ticks {
                    @let y = round(self.y(axis, *tick));
                    line.grid x1=(LEFT) x2=(WIDTH - RIGHT) y1=(y) y2=(y) {}
                    text.tick x=(LEFT - 6.0) y=(y) text-anchor="end" dominant-baseline="middle" { (trimmed(&(self.write)(*tick))) }
                }
                @for (i, label) in self.labels.iter().enumerate() {
                    text.tick x=(round(self.x(i))) y=(HEIGHT - 9.0) text-anchor="middle" { (label) }
                }
                (inside)
            }
        }
    }

    pub fn lines(&self) -> Markup {
        let axis = self.axis();
        let inside = html! {
            @for series in self.series {
                g class=(class(series)) {
                    @let points = self.points(&axis, series);
                    @let path: Vec<String> = points.iter().map(|(x, y, _)| format!("{x},{y}")).collect();
                    polyline points=(path.join(" ")) {}
                    @for (x, y, told) in points {
                        circle cx=(x) cy=(y) r="3" { title { (series.name) ": " (told) } }
                    }
                }
            }
        };
        self.frame(&axis, inside)
    }

    fn points(&self, axis: &Axis, series: &Series) -> Vec<(f64, f64, String)> {
        let place = |(i, value): (usize, &Option<f64>)| {
            let value = (*value)?;
            Some((round(self.x(i)), round(self.y(axis, value)), (self.write)(value)))
        };
        series.values.iter().enumerate().filter_map(place).collect()
    }

    /// For each label and series a mark at its value and a line from its least to its most. The axis has at least what is `shown`.
    pub fn ranges(&self, ends: &[Vec<Option<(f64, f64)>>], shown: (f64, f64)) -> Markup {
        let values = self.series.iter().flat_map(|s| s.values.iter().flatten().copied());
        let all = || values.clone().chain(ends.iter().flatten().flatten().flat_map(|(least, most)| [*least, *most]));
        let (least, most) = all().fold(shown, |(least, most), v| (least.min(v), most.max(v)));
        let axis = Axis::between(least, most);
        let apart = ((WIDTH - LEFT - RIGHT) / self.labels.len().max(1) as f64 * 0.3).min(14.0);
        let inside = html! {
            @for (nth, series) in self.series.iter().enumerate() {
                g class=(class(series)) {
                    @for (i, value) in series.values.iter().enumerate() {
                        @if let Some(value) = value {
                            @let x = round(self.x(i) + (nth as f64 - (self.series.len() as f64 - 1.0) / 2.0) * apart);
                            @let ends = ends.get(nth).and_then(|ends| ends.get(i).copied().flatten()).unwrap_or((*value, *value));
                            line.range x1=(x) x2=(x) y1=(round(self.y(&axis, ends.0))) y2=(round(self.y(&axis, ends.1))) {}
                            circle cx=(x) cy=(round(self.y(&axis, *value))) r="3.5" {
                                title { (series.name) ", " (self.labels[i]) ": " ((self.write)(*value)) ", 1 s from "
                                    ((self.write)(ends.0)) " to " ((self.write)(ends.1)) }
                            }
                        }
                    }
                }
            }
        };
        self.frame(&axis, inside)
    }

    /// A group of bars for each label, each with its value on it.
    pub fn bars(&self) -> Markup {
        let axis = self.axis();
        let place = (WIDTH - LEFT - RIGHT) / self.labels.len().max(1) as f64;
        let width = (place * 0.8 / self.series.len().max(1) as f64).min(40.0);
        let inside = html! {
            @for (nth, series) in self.series.iter().enumerate() {
                g class=(class(series)) {
                    @for (i, value) in series.values.iter().enumerate() {
                        @if let Some(value) = value {
                            @let x = self.x(i) + (nth as f64 - self.series.len() as f64 / 2.0) * width;
                            @let y = self.y(&axis, *value);
                            rect x=(round(x + 1.0)) y=(round(y)) width=(round(width - 2.0))
                                height=(round(HEIGHT - BOTTOM - y)) { title { (series.name) ": " ((self.write)(*value)) } }
                            text.value x=(round(x + width / 2.0)) y=(round(y - 3.0)) text-anchor="middle" { (three(*value)) }
                        }
                    }
                }
            }
        };
        self.frame(&axis, inside)
    }
}

fn class(series: &Series) -> String {
    format!("s{}{}", series.colour % COLOURS, if series.faint { " faint" } else { "" })
}

/// A tenth of a pixel is enough.
fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_goes_from_the_least_to_the_most() {
        let labels = ["10".to_owned(), "20".to_owned()];
        let all = [Series { name: "a".into(), values: vec![Some(1.0), None], colour: 0, faint: false }];
        let plot = Plot { title: "t", labels: &labels, series: &all, write: three, logarithmic: false };
        let svg = plot.ranges(&[vec![Some((0.5, 2.0)), None]], (0.9, 1.1)).into_string();
        assert!(svg.contains("a, 10: 1.00, 1 s from 0.500 to 2.00"), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 1);
        assert!(!plot.ranges(&[], (1.0, 1.0)).into_string().contains("NaN"));
    }

    #[test]
    fn values_that_are_missing_are_left_out() {
        let labels = ["1", "5", "10"].map(str::to_owned);
        let series =
            |values: [Option<f64>; 3]| Series { name: "a<b".into(), values: values.into(), colour: 1, faint: false };
        let all = [series([Some(1.0), None, Some(3.0)])];
        let plot = Plot { title: "t", labels: &labels, series: &all, write: three, logarithmic: false };
        let lines = plot.lines().into_string();
        assert_eq!(lines.matches("<circle").count(), 2);
        assert!(lines.contains("a&lt;b: 3.00") && lines.contains(r#"class="s1""#), "{lines}");
        assert_eq!(plot.bars().into_string().matches("<rect").count(), 2);
    }

    #[test]
    fn higher_values_are_higher_up_and_inside() {
        let labels = ["1".to_owned()];
        for logarithmic in [false, true] {
            let series = [Series { name: String::new(), values: vec![Some(900.0)], colour: 0, faint: false }];
            let plot = Plot { title: "t", labels: &labels, series: &series, write: three, logarithmic };
            let axis = plot.axis();
            let (low, high) = (plot.y(&axis, 10.0), plot.y(&axis, 900.0));
            assert!(high < low && high >= TOP && low <= HEIGHT - BOTTOM, "{low} {high}");
        }
    }
}
