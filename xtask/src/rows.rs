//! `tables.json` and `beyond.json`: every row of every table, for programs; `points.json`: what is plotted.

use std::collections::BTreeMap;

use safecommit_bench::beyond::Report;
use safecommit_bench::{Estimate, Results, Row};
use serde::Serialize;

/// A row of the file. Rates are fractions; the five metrics are over all episodes of the row.
#[derive(Serialize)]
struct RowRecord {
    experiment: &'static str,
    method: &'static str,
    family: Option<&'static str>,
    alpha: f64,
    max_probes: u32,
    beta: f64,
    episodes: u64,
    ucr: Estimate,
    ts: Estimate,
    cc: Estimate,
    fr: Estimate,
    probes: Estimate,
}

impl From<&Row> for RowRecord {
    fn from(row: &Row) -> Self {
        Self {
            experiment: row.experiment.name(),
            method: row.setting.method.name(),
            family: row.family.map(|family| family.name()),
            alpha: row.setting.alpha.to_f64(),
            max_probes: row.setting.max_probes,
            beta: row.setting.beta,
            episodes: row.episodes,
            ucr: row.ucr,
            ts: row.ts,
            cc: row.cc,
            fr: row.fr,
            probes: row.probes,
        }
    }
}

/// The experiments of the paper: a list, a row a line.
pub(crate) fn paper(results: &Results) -> anyhow::Result<String> {
    let mut lines = Vec::with_capacity(results.rows.len());
    for row in &results.rows {
        lines.push(serde_json::to_string(&RowRecord::from(row))?);
    }
    Ok(list(&lines))
}

/// A row of a study: its columns stand beside the name of the study, in the order of their names.
#[derive(Serialize)]
struct StudyRow<'r> {
    study: &'static str,
    #[serde(flatten)]
    cells: &'r BTreeMap<String, serde_json::Value>,
}

/// A point of a plot.
#[derive(Serialize)]
struct PointRecord<'r> {
    study: &'static str,
    series: &'r str,
    x: f64,
    y: f64,
    se: f64,
}

/// The studies beyond the paper: a list, a row a line. Each names its `study`; its other fields are the columns of
/// the table, rates as fractions.
pub(crate) fn beyond(reports: &[Report]) -> anyhow::Result<String> {
    let mut lines = Vec::new();
    for report in reports {
        for record in report.records() {
            lines.push(serde_json::to_string(&StudyRow {
                study: report.table().name(),
                cells: record,
            })?);
        }
    }
    Ok(list(&lines))
}

/// The points of the plots of those studies: a list, a point a line, with its standard error.
pub(crate) fn points(reports: &[Report]) -> anyhow::Result<String> {
    let mut lines = Vec::new();
    for report in reports {
        for series in &report.chart().series {
            for point in &series.points {
                lines.push(serde_json::to_string(&PointRecord {
                    study: report.table().name(),
                    series: &series.name,
                    x: point.x,
                    y: point.y,
                    se: point.se,
                })?);
            }
        }
    }
    Ok(list(&lines))
}

fn list(lines: &[String]) -> String {
    format!("[\n{}\n]\n", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use safecommit_bench::{Experiment, Parameters, Prepared};
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_flat_list_with_one_row_a_key() {
        let small = Parameters::project_toml().replace(
            "calibration = 2000\ntest = 4000\nalpha",
            "calibration = 50\ntest = 40\nalpha",
        );
        let parameters = Parameters::from_toml(&small).unwrap();
        let results = Prepared::new(&parameters).run(&|_| ());
        let rows: Vec<Value> = serde_json::from_str(&paper(&results).unwrap()).unwrap();
        assert_eq!(rows.len(), results.rows.len());
        let fields = [
            "alpha",
            "beta",
            "cc",
            "episodes",
            "experiment",
            "family",
            "fr",
            "max_probes",
            "method",
            "probes",
            "ts",
            "ucr",
        ];
        let key_fields = [
            "experiment",
            "method",
            "family",
            "alpha",
            "max_probes",
            "beta",
        ];
        let mut keys = BTreeSet::new();
        for row in &rows {
            let row = row.as_object().unwrap();
            let names: BTreeSet<&str> = row.keys().map(String::as_str).collect();
            assert_eq!(names, BTreeSet::from(fields));
            let key: Vec<String> = key_fields
                .iter()
                .map(|name| row[*name].to_string())
                .collect();
            assert!(keys.insert(key.clone()), "{key:?} twice");
            for metric in ["ucr", "ts", "cc", "fr", "probes"] {
                assert!(row[metric]["mean"].is_number() && row[metric]["se"].is_number());
                assert_eq!(row[metric].as_object().unwrap().len(), 2);
            }
            let experiment = row["experiment"].as_str().unwrap();
            assert_eq!(
                row["family"].is_null(),
                experiment != Experiment::Family.name()
            );
            if experiment != Experiment::ProposalMiss.name() {
                assert_eq!(row["beta"].as_f64(), Some(0.0));
            }
            if ["probe_budget", "alpha"].contains(&experiment) {
                assert_eq!(row["method"], "safecommit");
            }
        }
    }
}
