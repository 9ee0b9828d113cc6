//! One plot an experiment: ours with error bars, published figures beside them.

mod beyond;

use kuva::plot::annotations::ReferenceLine;
use kuva::plot::legend::{LegendEntry, LegendPosition, LegendShape};
use kuva::plot::scatter::MarkerShape;
use kuva::plot::{LinePlot, ScatterPlot};
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;
use safecommit_bench::{
    Bound, Experiment, Family, Figure, MethodName, Metric, Published, Results, Row, Setting,
};

pub(crate) use beyond::render as beyond;

/// Colours that people with any colour vision tell apart (Okabe and Ito), one a method or metric.
const COLOURS: [&str; 5] = ["#E69F00", "#56B4E9", "#CC79A7", "#009E73", "#0072B2"];
const PUBLISHED: &str = "#000000";
const BOUND: &str = "#D55E00";

/// The plots by name, in the order of the tables.
pub(crate) fn paper(published: &Published, results: &Results) -> Vec<(&'static str, String)> {
    Experiment::ALL
        .into_iter()
        .map(|experiment| {
            let rows: Vec<&Row> = results
                .rows
                .iter()
                .filter(|row| row.experiment == experiment)
                .collect();
            let chart = match experiment {
                Experiment::Main => main(published, &rows),
                Experiment::Family => family(&rows),
                Experiment::ProbeBudget => probe_budget(published, &rows),
                Experiment::Alpha => alpha(published, &rows),
                Experiment::ProposalMiss => proposal_miss(published, &rows),
            };
            (experiment.name(), chart.svg())
        })
        .collect()
}

/// A chart under construction.
struct Chart {
    title: &'static str,
    x_label: &'static str,
    y_label: &'static str,
    plots: Vec<Plot>,
    legend: Vec<LegendEntry>,
    categories: Option<Vec<String>>,
    /// Where the x axis ends.
    x_range: (f64, f64),
    /// Where the y axis ends.
    y_max: f64,
    y_step: f64,
    x_step: f64,
    limit: Option<(f64, String)>,
}

/// A point with the standard error of its height.
type Point = (f64, f64, f64);

impl Chart {
    /// Adds points of ours with bars of two standard errors, joined if `joined`.
    fn ours(&mut self, name: &str, colour: &str, points: &[Point], joined: bool) {
        let data: Vec<(f64, f64)> = points.iter().map(|point| (point.0, point.1)).collect();
        let errors: Vec<f64> = points.iter().map(|point| 2.0 * point.2).collect();
        if joined {
            let line = LinePlot::new().with_data(data.clone()).with_color(colour);
            self.plots.push(line.with_stroke_width(1.5).into());
        }
        let dots = ScatterPlot::new()
            .with_data(data)
            .with_y_err(errors)
            .with_color(colour)
            .with_size(4.0);
        self.plots.push(dots.into());
        self.entry(name, colour, LegendShape::Circle, None);
    }

    /// Adds published figures, which carry no error that is known to us.
    fn published(&mut self, points: Vec<(f64, f64)>) {
        let marks = ScatterPlot::new()
            .with_data(points)
            .with_color(PUBLISHED)
            .with_marker(MarkerShape::Cross)
            .with_size(6.0)
            .with_marker_stroke_width(1.5);
        self.plots.push(marks.into());
        let shape = LegendShape::Marker(MarkerShape::Cross);
        self.entry("published", PUBLISHED, shape, None);
    }

    /// Adds the line that the theory bounds the unsafe commit rate by.
    fn bound(&mut self, name: &str, points: Vec<(f64, f64)>) {
        let line = LinePlot::new()
            .with_data(points)
            .with_color(BOUND)
            .with_dashed();
        self.plots.push(line.into());
        self.entry(name, BOUND, LegendShape::Line, Some("6 4"));
    }

    fn entry(&mut self, name: &str, colour: &str, shape: LegendShape, dashes: Option<&str>) {
        self.legend.push(LegendEntry {
            label: name.to_owned(),
            color: colour.to_owned(),
            shape,
            dasharray: dashes.map(str::to_owned),
        });
    }

    fn svg(self) -> String {
        let mut layout = Layout::new(self.x_range, (0.0, self.y_max))
            .with_width(if self.categories.is_some() { 980.0 } else { 760.0 })
            .with_height(440.0)
            .with_title(self.title)
            .with_subtitle("our generator; parameters chosen to match published figures; bars: two standard errors")
            .with_x_label(self.x_label)
            .with_y_label(self.y_label)
            .with_y_axis_min(0.0)
            .with_y_axis_max(self.y_max)
            .with_x_axis_min(self.x_range.0)
            .with_x_axis_max(self.x_range.1)
            .with_y_tick_step(self.y_step)
            .with_x_tick_step(self.x_step)
            .with_tick_format(TickFormat::Auto)
            .with_legend_position(LegendPosition::OutsideRightTop)
            .with_legend_entries(self.legend);
        if let Some(categories) = self.categories {
            layout = layout.with_x_categories(categories);
        }
        if let Some((height, label)) = self.limit {
            let line = ReferenceLine::horizontal(height).with_color(BOUND);
            layout = layout.with_reference_line(line.with_label(label));
        }
        kuva::render_to_svg(self.plots, layout)
    }
}

fn colour(position: usize) -> &'static str {
    COLOURS[position % COLOURS.len()]
}

fn point(x: f64, metric: Metric, row: &Row) -> Point {
    let estimate = metric.of(row);
    (x, estimate.mean, estimate.se)
}

/// The published figures of an experiment, each placed by `x`.
fn stated(
    published: &Published,
    experiment: Experiment,
    x: impl Fn(&Figure) -> Option<f64>,
) -> Vec<(f64, f64)> {
    let figures = published.figures().iter();
    figures
        .filter(|figure| figure.experiment == experiment)
        .filter_map(|figure| Some((x(figure)?, figure.value)))
        .collect()
}

/// Where a series stands beside the others of a category.
fn offset(series: usize, of: usize) -> f64 {
    let middle = (of as f64 - 1.0) / 2.0;
    (series as f64 - middle) * 0.15
}

const RATES: [Metric; 3] = [Metric::Ucr, Metric::Ts, Metric::Fr];

fn rate_name(metric: Metric) -> &'static str {
    match metric {
        Metric::Ucr => "unsafe commit (UCR)",
        Metric::Ts => "safe commit (TS)",
        Metric::Cc => "any commit (CC)",
        Metric::Fr => "fallback (FR)",
        Metric::Probes => "probes",
    }
}

fn main(published: &Published, rows: &[&Row]) -> Chart {
    let mut chart = Chart {
        title: "Main experiment",
        x_label: "method",
        y_label: "per cent of episodes",
        plots: Vec::new(),
        legend: Vec::new(),
        categories: Some(
            rows.iter()
                .map(|row| row.setting.method.to_string())
                .collect(),
        ),
        x_range: (0.5, rows.len() as f64 + 0.5),
        y_max: 100.0,
        y_step: 20.0,
        x_step: 1.0,
        limit: None,
    };
    let place = |position: usize, metric: Metric| {
        let series = RATES.iter().position(|known| *known == metric)?;
        Some(position as f64 + 1.0 + offset(series, RATES.len()))
    };
    for (series, metric) in RATES.into_iter().enumerate() {
        let points = rows.iter().enumerate();
        let points =
            points.filter_map(|(position, row)| Some(point(place(position, metric)?, metric, row)));
        let points: Vec<Point> = points.collect();
        chart.ours(
            rate_name(metric),
            [BOUND, colour(3), colour(1)][series],
            &points,
            false,
        );
    }
    chart.published(stated(published, Experiment::Main, |figure| {
        let position = rows
            .iter()
            .position(|row| row.setting.method == figure.method)?;
        place(position, figure.metric)
    }));
    chart
}

fn family(rows: &[&Row]) -> Chart {
    let mut chart = Chart {
        title: "Unsafe commits by family",
        x_label: "family",
        y_label: "UCR, per cent of episodes",
        plots: Vec::new(),
        legend: Vec::new(),
        categories: Some(Family::ALL.map(|family| family.to_string()).to_vec()),
        x_range: (0.5, Family::ALL.len() as f64 + 0.5),
        y_max: ceiling(rows, 10.0),
        y_step: 10.0,
        x_step: 1.0,
        limit: rows.first().map(|row| {
            let alpha = row.setting.alpha;
            (
                100.0 * alpha.to_f64(),
                format!("alpha {alpha}, all families"),
            )
        }),
    };
    for (series, method) in MethodName::ALL.into_iter().enumerate() {
        let points: Vec<Point> = rows
            .iter()
            .filter(|row| row.setting.method == method)
            .filter_map(|row| {
                let family = Family::ALL
                    .iter()
                    .position(|known| Some(*known) == row.family)?;
                let x = family as f64 + 1.0 + offset(series, MethodName::ALL.len());
                Some(point(x, Metric::Ucr, row))
            })
            .collect();
        chart.ours(method.name(), colour(series), &points, false);
    }
    chart
}

fn probe_budget(published: &Published, rows: &[&Row]) -> Chart {
    let most = rows.iter().map(|row| row.setting.max_probes).max();
    let mut chart = Chart {
        title: "SafeCommit by probe budget",
        x_label: "most probes an episode",
        y_label: "per cent of episodes",
        plots: Vec::new(),
        legend: Vec::new(),
        categories: None,
        x_range: (-0.2, f64::from(most.unwrap_or(1)) + 0.2),
        y_max: 100.0,
        y_step: 20.0,
        x_step: 1.0,
        limit: None,
    };
    for (series, metric) in RATES.into_iter().enumerate() {
        let points = rows
            .iter()
            .map(|row| point(f64::from(row.setting.max_probes), metric, row));
        let points: Vec<Point> = points.collect();
        chart.ours(
            rate_name(metric),
            [BOUND, colour(3), colour(1)][series],
            &points,
            true,
        );
    }
    chart.published(stated(published, Experiment::ProbeBudget, |figure| {
        RATES
            .contains(&figure.metric)
            .then(|| f64::from(figure.max_probes))
    }));
    chart
}

fn alpha(published: &Published, rows: &[&Row]) -> Chart {
    let level = |setting: &Setting| 100.0 * setting.alpha.to_f64();
    let most = rows
        .iter()
        .map(|row| level(&row.setting))
        .fold(1.0, f64::max);
    let mut chart = Chart {
        title: "SafeCommit by alpha",
        x_label: "alpha, per cent",
        y_label: "UCR, per cent of episodes",
        plots: Vec::new(),
        legend: Vec::new(),
        categories: None,
        x_range: (0.0, most + 1.0),
        y_max: most + 1.0,
        y_step: 1.0,
        x_step: 1.0,
        limit: None,
    };
    chart.bound("bound: alpha", vec![(0.0, 0.0), (most + 1.0, most + 1.0)]);
    let points = rows
        .iter()
        .map(|row| point(level(&row.setting), Metric::Ucr, row));
    let points: Vec<Point> = points.collect();
    chart.ours("safecommit", colour(4), &points, true);
    chart.published(stated(published, Experiment::Alpha, |figure| {
        (figure.metric == Metric::Ucr).then(|| 100.0 * figure.alpha.to_f64())
    }));
    chart
}

fn proposal_miss(published: &Published, rows: &[&Row]) -> Chart {
    let most = rows.iter().map(|row| row.setting.beta).fold(0.01, f64::max);
    let mut chart = Chart {
        title: "Unsafe commits when the true world is not proposed",
        x_label: "beta, per cent of episodes whose true world is not proposed",
        y_label: "UCR, per cent of episodes",
        plots: Vec::new(),
        legend: Vec::new(),
        categories: None,
        x_range: (-0.5, 100.0 * most + 0.5),
        y_max: ceiling(rows, 10.0),
        y_step: 10.0,
        x_step: 5.0,
        limit: None,
    };
    let bounded = rows
        .iter()
        .filter(|row| row.setting.method == MethodName::Safecommit);
    let bound = bounded
        .filter_map(|row| Bound::of(row))
        .map(|bound| (100.0 * bound.setting.beta, 100.0 * bound.limit));
    chart.bound("bound: beta + (1 - beta) alpha", bound.collect());
    for (series, method) in MethodName::ALL.into_iter().enumerate() {
        let rows = rows.iter().filter(|row| row.setting.method == method);
        let points: Vec<Point> = rows
            .map(|row| point(100.0 * row.setting.beta, Metric::Ucr, row))
            .collect();
        chart.ours(method.name(), colour(series), &points, true);
    }
    // With nothing missed this is the main experiment.
    chart.published(stated(published, Experiment::Main, |figure| {
        (figure.metric == Metric::Ucr).then_some(0.0)
    }));
    chart
}

/// The end of an axis for the unsafe commit rates of `rows`.
fn ceiling(rows: &[&Row], step: f64) -> f64 {
    let highest = rows.iter().map(|row| Metric::Ucr.of(row).mean);
    (highest.fold(step, f64::max) / step).ceil() * step
}
