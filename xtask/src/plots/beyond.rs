//! The plot of a study beyond the paper.

use kuva::plot::legend::{LegendEntry, LegendPosition, LegendShape};
use kuva::plot::{LinePlot, ScatterPlot};
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;
use safecommit_bench::beyond::{Chart, Mark, Point, Series};

use super::BOUND;

/// Colours in which series are told apart; after the last, they begin again with a broken line.
const COLOURS: [&str; 10] = [
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#000000", "#8B5A2B", "#7F7F7F",
    "#6A3D9A", "#B2DF8A",
];

/// The width without the names of the legend, and that of a letter of these.
const WIDTH: f64 = 700.0;
const LETTER: f64 = 7.0;

/// The plot as SVG, its axes wide enough for all points with their bars.
pub(crate) fn render(chart: &Chart) -> String {
    let points = || chart.series.iter().flat_map(|series| &series.points);
    let x = Axis::around(points().map(|point| (point.x, 0.0)), false);
    let y = Axis::around(points().map(|point| (point.y, 2.0 * point.se)), true);
    let (mut plots, mut legend) = (Vec::new(), Vec::new());
    for (place, series) in chart.series.iter().enumerate() {
        let colour = match series.mark {
            Mark::Limit => BOUND,
            Mark::Dots | Mark::Line => COLOURS[place % COLOURS.len()],
        };
        let broken = series.mark == Mark::Limit || place >= COLOURS.len();
        draw(series, colour, broken, &mut plots);
        legend.push(LegendEntry {
            label: series.name.clone(),
            color: colour.to_owned(),
            shape: match series.mark {
                Mark::Limit => LegendShape::Line,
                Mark::Dots | Mark::Line => LegendShape::Circle,
            },
            dasharray: broken.then(|| "6 4".to_owned()),
        });
    }
    let names = chart
        .series
        .iter()
        .map(|series| series.name.chars().count());
    let longest = names.max().unwrap_or(0);
    let layout = Layout::new((x.start, x.end), (y.start, y.end))
        .with_width(WIDTH + LETTER * longest as f64)
        .with_height(480.0)
        .with_title(chart.title)
        .with_subtitle("our generator; parameters chosen to match published figures; bars: two standard errors")
        .with_x_label(chart.x_label)
        .with_y_label(chart.y_label)
        .with_x_axis_min(x.start)
        .with_x_axis_max(x.end)
        .with_y_axis_min(y.start)
        .with_y_axis_max(y.end)
        .with_x_tick_step(x.step)
        .with_y_tick_step(y.step)
        .with_tick_format(TickFormat::Auto)
        .with_legend_position(LegendPosition::OutsideRightTop)
        .with_legend_entries(legend);
    kuva::render_to_svg(plots, layout)
}

fn draw(series: &Series, colour: &str, broken: bool, plots: &mut Vec<Plot>) {
    let finite = series.points.iter().filter(|point| point.y.is_finite());
    let points: Vec<&Point> = finite.collect();
    let data: Vec<(f64, f64)> = points.iter().map(|point| (point.x, point.y)).collect();
    if series.mark != Mark::Dots {
        let line = LinePlot::new().with_data(data.clone()).with_color(colour);
        let line = line.with_stroke_width(1.5);
        plots.push(if broken { line.with_dashed() } else { line }.into());
    }
    if series.mark != Mark::Limit {
        let errors: Vec<f64> = points.iter().map(|point| 2.0 * point.se).collect();
        let dots = ScatterPlot::new().with_data(data).with_y_err(errors);
        plots.push(dots.with_color(colour).with_size(4.0).into());
    }
}

/// Where an axis begins and ends, on multiples of its step.
#[derive(Debug, PartialEq)]
struct Axis {
    start: f64,
    end: f64,
    step: f64,
}

impl Axis {
    /// The axis around values with the lengths of their bars, with room on both sides; if `from_zero`, down to zero
    /// where that is not far below.
    fn around(values: impl Iterator<Item = (f64, f64)>, from_zero: bool) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut negative = false;
        for (value, bar) in values.filter(|(value, bar)| value.is_finite() && bar.is_finite()) {
            negative |= value < 0.0;
            low = low.min(value - bar);
            high = high.max(value + bar);
        }
        if low >= high {
            let middle = if low.is_finite() { low } else { 0.5 };
            (low, high) = (middle - 0.5, middle + 0.5);
        }
        // A bar may reach below a rate of zero; the rate does not.
        if from_zero && !negative && low <= 0.6 * high {
            low = 0.0;
        }
        let rough = (high - low) / 6.0;
        let unit = 10.0_f64.powi(rough.log10().floor() as i32);
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|times| times * unit)
            .into_iter()
            .find(|step| *step >= rough)
            .unwrap_or(rough);
        let (mut first, mut last) = ((low / step).floor(), (high / step).ceil());
        if !from_zero && low <= first * step {
            first -= 0.25;
        }
        if high >= last * step {
            last += if from_zero { 1.0 } else { 0.25 };
        }
        Self {
            start: first * step,
            end: last * step,
            step,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_holds_its_values_and_bars() {
        let check = |values: &[(f64, f64)], from_zero| {
            let axis = Axis::around(values.iter().copied(), from_zero);
            for (value, bar) in values {
                let low = if from_zero {
                    0.0_f64.max(value - bar)
                } else {
                    value - bar
                };
                assert!(axis.start <= low && value + bar <= axis.end, "{axis:?}");
            }
            let steps = (axis.end - axis.start) / axis.step;
            assert!((2.0..=14.0).contains(&steps), "{axis:?}");
            axis
        };
        check(&[(92.3, 0.5), (95.1, 0.4)], true);
        check(&[(0.0, 0.0), (4.0, 0.0)], false);
        check(&[(0.4, 0.0), (0.4, 0.0)], false);
        assert!(check(&[(0.001, 0.0005), (0.05, 0.001)], true).start.abs() < 1e-12);
        assert!(check(&[(0.0, 0.01), (0.05, 0.001)], true).start.abs() < 1e-12);
        let empty = Axis::around(std::iter::empty(), true);
        assert!(empty.start < empty.end);
    }

    #[test]
    fn every_series_is_drawn_and_named() {
        let points = [
            Point {
                x: 1.0,
                y: 2.0,
                se: 0.1,
            },
            Point::at(2.0, 3.0),
        ];
        let chart = Chart::new("title", "x", "y")
            .with("ours", Mark::Line, points)
            .with("theirs", Mark::Dots, points)
            .with(
                "bound",
                Mark::Limit,
                [Point::at(1.0, 2.5), Point::at(2.0, 2.5)],
            );
        let svg = render(&chart);
        for part in [
            "title", "ours", "theirs", "bound", BOUND, COLOURS[0], COLOURS[1],
        ] {
            assert!(svg.contains(&part.to_lowercase()), "{part}");
        }
    }
}
