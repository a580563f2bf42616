//! Plots as SVG: lines over thread counts, and groups of bars. Colours come from the page's style.
//!
//! ```text
//! title
//! 400 K ┤          ┌── lines of one server each, class s0, s1, …
//! 200 K ┤   ────●
//!     0 └───┬───┬──  one place for each thread count
//! ```

use super::number::{three, trimmed};
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

/// The axis: what is at its bottom and top, and where the lines across are.
#[derive(Debug, PartialEq)]
struct Axis {
    low: f64,
    high: f64,
    ticks: Vec<f64>,
}

impl Axis {
    /// From 0, in steps of 1, 2 or 5 times a power of ten.
    fn linear(most: f64) -> Axis {
        let most = if most > 0.0 { most } else { 1.0 };
        let power = 10f64.powf((most / 4.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|s| most / s <= 5.0).unwrap_or(most);
        let count = (most / step).ceil() as usize;
        Axis { low: 0.0, high: step * count as f64, ticks: (0..=count).map(|i| step * i as f64).collect() }
    }

    /// Whole powers of ten around the values; one power where there are none.
    fn logarithmic(least: f64, most: f64) -> Axis {
        let (least, most) = if least > 0.0 && least <= most { (least, most) } else { (1.0, 10.0) };
        let low = least.log10().floor() as i32;
        let high = (most.log10().ceil() as i32).max(low + 1);
        Axis { low: 10f64.powi(low), high: 10f64.powi(high), ticks: (low..=high).map(|p| 10f64.powi(p)).collect() }
    }

    /// From just below the least to just above the most, in steps as those from 0.
    fn between(least: f64, most: f64) -> Axis {
        if least >= most {
            return Axis::between(least - 0.5, least.max(most) + 0.5);
        }
        let ticks = Axis::linear(most - least).ticks;
        let step = ticks[1] - ticks[0];
        let (from, to) = ((least / step).floor() as i64, (most / step).ceil() as i64);
        let at = |i: i64| step * i as f64;
        Axis { low: at(from), high: at(to), ticks: (from..=to).map(at).collect() }
    }

    /// How high a value is, from 0 to 1.
    fn share(&self, value: f64, logarithmic: bool) -> f64 {
        let share = if logarithmic {
            (value.max(self.low) / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        share.clamp(0.0, 1.0)
    }
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
    fn axes_have_few_round_ticks() {
        for (most, want) in [(4.2, 5.0), (10.0, 10.0), (97_000.0, 100_000.0), (0.0, 1.0), (2.1e6, 2.5e6)] {
            let axis = Axis::linear(most);
            assert!((axis.high - want).abs() < 1e-6 * want, "{most}: {axis:?}");
            assert!((3..=6).contains(&axis.ticks.len()), "{most}: {axis:?}");
        }
        let axis = Axis::logarithmic(30.0, 4_000.0);
        assert_eq!(axis.ticks, [10.0, 100.0, 1_000.0, 10_000.0]);
        assert!((axis.share(100.0, true) - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!(Axis::logarithmic(f64::MAX, 0.0).ticks, [1.0, 10.0], "nothing to show");
        assert_eq!(Axis::logarithmic(100.0, 100.0).ticks, [100.0, 1_000.0]);
    }

    #[test]
    fn an_axis_need_not_begin_at_zero() {
        let axis = Axis::between(0.93, 1.04);
        assert!(axis.low <= 0.93 && axis.high >= 1.04 && axis.high - axis.low < 0.16, "{axis:?}");
        assert!(axis.ticks.iter().any(|tick| (tick - 1.0).abs() < 1e-9), "{axis:?}");
        assert!((axis.share(axis.low, false), axis.share(axis.high, false)) == (0.0, 1.0));
        let same = Axis::between(1.0, 1.0);
        assert!(same.low < 1.0 && same.high > 1.0, "{same:?}");
    }

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
