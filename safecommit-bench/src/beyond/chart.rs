//! What a plot shows, without how it is drawn.

use crate::counts::Estimate;

/// A plot: named series over two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: &'static str,
    /// Name and unit of the horizontal axis.
    pub x_label: &'static str,
    /// Name and unit of the vertical axis.
    pub y_label: &'static str,
    /// The series, in the order of the legend.
    pub series: Vec<Series>,
}

/// Points under one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// How they are drawn.
    pub mark: Mark,
    /// In the order in which a line joins them.
    pub points: Vec<Point>,
}

/// How the points of a series are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Dots with bars of two standard errors.
    Dots,
    /// The same, joined by a line.
    Line,
    /// A broken line without dots: a bound or a target.
    Limit,
}

/// A point, with the standard error of its height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Horizontal place.
    pub x: f64,
    /// Height.
    pub y: f64,
    /// Standard error of the height.
    pub se: f64,
}

impl Chart {
    /// A plot without series.
    #[must_use]
    pub fn new(title: &'static str, x_label: &'static str, y_label: &'static str) -> Self {
        Self {
            title,
            x_label,
            y_label,
            series: Vec::new(),
        }
    }

    /// Adds a series.
    #[must_use]
    pub fn with(
        mut self,
        name: impl Into<String>,
        mark: Mark,
        points: impl IntoIterator<Item = Point>,
    ) -> Self {
        self.series.push(Series {
            name: name.into(),
            mark,
            points: points.into_iter().collect(),
        });
        self
    }
}

impl Point {
    /// A point without an error.
    #[must_use]
    pub fn at(x: f64, y: f64) -> Self {
        Self { x, y, se: 0.0 }
    }

    /// A mean share in per cent.
    #[must_use]
    pub fn per_cent(x: f64, share: Estimate) -> Self {
        Self {
            x,
            y: 100.0 * share.mean,
            se: 100.0 * share.se,
        }
    }

    /// A mean.
    #[must_use]
    pub fn mean(x: f64, mean: Estimate) -> Self {
        Self {
            x,
            y: mean.mean,
            se: mean.se,
        }
    }
}
