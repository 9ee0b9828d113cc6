//! Published figure against ours.

use super::guarantees::{self, Bound};
use super::{Metric, Published, TOLERANCES, claims};
use crate::counts::Estimate;
use crate::episode::Family;
use crate::experiments::{Experiment, Results, Row, Setting};
use crate::methods::MethodName;
use crate::parameters::Parameters;

/// A published figure beside ours, in the unit of its metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The experiment.
    pub experiment: Experiment,
    /// Which cell of it.
    pub cell: String,
    /// What is measured.
    pub metric: Metric,
    /// What the paper states.
    pub published: f64,
    /// What our simulator gives; `None` if the parameters leave this setting out.
    pub ours: Option<Estimate>,
    /// The largest absolute difference that passes.
    pub tolerance: f64,
}

/// A statement that holds for the results or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The statement.
    pub statement: String,
    /// The numbers that decide it.
    pub evidence: String,
    /// Whether it holds.
    pub holds: bool,
}

/// All that is compared and checked.
///
/// ```
/// use safecommit_bench::{Parameters, Prepared, Published};
///
/// // Far too few episodes for the published figures to come out.
/// let small = Parameters::project_toml()
///     .replace("calibration = 2000\ntest = 4000\nalpha", "calibration = 30\ntest = 20\nalpha");
/// let parameters = Parameters::from_toml(&small)?;
/// let results = Prepared::new(&parameters).run(&|_| ());
/// let findings = Published::project()?.compare(&parameters, &results);
/// assert!(findings.failures().iter().any(|failure| failure.contains("setting")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// Whether the experiments run under the published setting.
    pub setting: Claim,
    /// Every number that the paper's text states.
    pub comparisons: Vec<Comparison>,
    /// Every statement of the paper's text in words.
    pub claims: Vec<Claim>,
    /// The theorem's bound for every row of a certificate method.
    pub bounds: Vec<Bound>,
    /// What else must hold: coverage at each level, and where failures come from.
    pub guarantees: Vec<Claim>,
}

impl Comparison {
    /// Ours minus published.
    #[must_use]
    pub fn difference(&self) -> Option<f64> {
        self.ours.map(|ours| ours.mean - self.published)
    }

    /// The difference in our standard errors; `None` where these are zero, as with one seed.
    #[must_use]
    pub fn standard_errors(&self) -> Option<f64> {
        let ours = self.ours.filter(|ours| ours.se > 0.0)?;
        Some((ours.mean - self.published) / ours.se)
    }

    /// Whether the difference is within the tolerance.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.difference()
            .is_some_and(|difference| difference.abs() <= self.tolerance)
    }
}

impl Findings {
    /// What does not hold, a line each; empty if all does.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        let comparisons = self.comparisons.iter().filter(|cell| !cell.holds());
        let comparisons = comparisons.map(|cell| {
            let place = format!(
                "published figure not met: {}, {}, {}",
                cell.experiment.name(),
                cell.cell,
                cell.metric.name()
            );
            match cell.ours {
                Some(ours) => format!(
                    "{place}: ours {:.3}, published {}, tolerance {} {}",
                    ours.mean,
                    cell.published,
                    cell.tolerance,
                    cell.metric.unit()
                ),
                None => format!("{place}: the parameters leave this setting out"),
            }
        });
        let bounds = self.bounds.iter().filter(|bound| !bound.holds());
        let bounds = bounds.map(|bound| format!("guarantee not met: {bound}"));
        let setting = std::slice::from_ref(&self.setting);
        unmet("published statement does not hold", setting)
            .chain(comparisons)
            .chain(unmet("published statement does not hold", &self.claims))
            .chain(bounds)
            .chain(unmet("guarantee not met", &self.guarantees))
            .collect()
    }
}

fn unmet<'a>(kind: &'a str, claims: &'a [Claim]) -> impl Iterator<Item = String> + 'a {
    claims
        .iter()
        .filter(|claim| !claim.holds)
        .map(move |claim| format!("{kind}: {}: {}", claim.statement, claim.evidence))
}

impl Published {
    /// Compares results with all that the paper's text states, and checks the guarantees of the theory.
    #[must_use]
    pub fn compare(&self, parameters: &Parameters, results: &Results) -> Findings {
        let mut comparisons: Vec<Comparison> = self
            .figures
            .iter()
            .map(|figure| {
                let row = results.rows.iter().find(|row| {
                    row.experiment == figure.experiment && figure.is_about(&row.setting)
                });
                Comparison {
                    experiment: figure.experiment,
                    cell: describe(
                        figure.experiment,
                        figure.method,
                        &|| match figure.experiment {
                            Experiment::Alpha => figure.alpha.to_string(),
                            _ => figure.max_probes.to_string(),
                        },
                    ),
                    metric: figure.metric,
                    published: figure.value,
                    ours: row.map(|row| figure.metric.of(row)),
                    tolerance: TOLERANCES.of(figure, self.setting.alpha),
                }
            })
            .collect();
        comparisons.extend(self.family_comparisons(results));
        comparisons.sort_by_key(|comparison| comparison.experiment);
        Findings {
            comparisons,
            setting: claims::setting(self, parameters),
            claims: claims::check(self, results),
            bounds: guarantees::bounds(results),
            guarantees: guarantees::check(results),
        }
    }

    /// The ends of the ranges over families.
    fn family_comparisons(&self, results: &Results) -> [Comparison; 3] {
        let by_family = |metric: Metric| -> Vec<(Family, Estimate)> {
            self.by_family(results, MethodName::Safecommit)
                .into_iter()
                .map(|(family, row)| (family, metric.of(row)))
                .collect()
        };
        let (ucr, ts) = (by_family(Metric::Ucr), by_family(Metric::Ts));
        let [low, high] = self.family.ucr_range;
        let end = |metric, which: &str, published, ours: Option<(Family, Estimate)>, tolerance| {
            Comparison {
                experiment: Experiment::Family,
                cell: match ours {
                    Some((family, _)) => format!("safecommit, {which} family ({family})"),
                    None => format!("safecommit, {which} family"),
                },
                metric,
                published,
                ours: ours.map(|(_, estimate)| estimate),
                tolerance,
            }
        };
        [
            end(
                Metric::Ucr,
                "lowest",
                low,
                lowest(&ucr),
                TOLERANCES.ucr_family,
            ),
            end(
                Metric::Ucr,
                "highest",
                high,
                highest(&ucr),
                TOLERANCES.ucr_family,
            ),
            end(
                Metric::Ts,
                "lowest",
                self.family.ts_min,
                lowest(&ts),
                TOLERANCES.rates,
            ),
        ]
    }

    /// The rows of a method in the family experiment, in the order of the published families.
    pub(super) fn by_family<'a>(
        &self,
        results: &'a Results,
        method: MethodName,
    ) -> Vec<(Family, &'a Row)> {
        let rows = results
            .rows
            .iter()
            .filter(|row| row.experiment == Experiment::Family && row.setting.method == method);
        rows.filter_map(|row| Some((row.family?, row))).collect()
    }
}

/// Names a cell: the method, or what varies in an experiment that has one method.
fn describe(experiment: Experiment, method: MethodName, varied: &dyn Fn() -> String) -> String {
    match experiment {
        Experiment::Main | Experiment::Family | Experiment::ProposalMiss => method.to_string(),
        Experiment::ProbeBudget => format!("at most {} probes", varied()),
        Experiment::Alpha => format!("alpha {}", varied()),
    }
}

/// The row of an experiment over all families.
pub(super) fn find<'a>(
    results: &'a Results,
    experiment: Experiment,
    matches: &dyn Fn(&Setting) -> bool,
) -> Option<&'a Row> {
    results
        .rows
        .iter()
        .find(|row| row.experiment == experiment && row.family.is_none() && matches(&row.setting))
}

pub(super) fn lowest(rows: &[(Family, Estimate)]) -> Option<(Family, Estimate)> {
    let order = |a: &&(Family, Estimate), b: &&(Family, Estimate)| a.1.mean.total_cmp(&b.1.mean);
    rows.iter().min_by(order).copied()
}

pub(super) fn highest(rows: &[(Family, Estimate)]) -> Option<(Family, Estimate)> {
    let order = |a: &&(Family, Estimate), b: &&(Family, Estimate)| a.1.mean.total_cmp(&b.1.mean);
    rows.iter().max_by(order).copied()
}
