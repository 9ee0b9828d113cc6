//! What the theory promises, against the results.

use std::fmt;

use super::TOLERANCES;
use super::compare::Claim;
use crate::counts::Estimate;
use crate::episode::Family;
use crate::experiments::{Experiment, Results, Row, Setting};

/// The theorem's bound on the unsafe commit rate of a certificate method, beside the observed rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The experiment.
    pub experiment: Experiment,
    /// The setting.
    pub setting: Setting,
    /// The family; `None` for all together. The theorem is about all together and promises nothing about
    /// a single family.
    pub family: Option<Family>,
    /// Unsafe commit rate, a fraction.
    pub ucr: Estimate,
    /// beta + (1 - beta) alpha (Eq. 7), a fraction; alpha (Eq. 6) where every true world is proposed.
    pub limit: f64,
}

impl Bound {
    /// The bound of a row, if its method gives one.
    #[must_use]
    pub fn of(row: &Row) -> Option<Self> {
        let Setting {
            method,
            alpha,
            beta,
            ..
        } = row.setting;
        method.certifies().then(|| Self {
            experiment: row.experiment,
            setting: row.setting,
            family: row.family,
            ucr: row.ucr,
            limit: beta + (1.0 - beta) * alpha.to_f64(),
        })
    }

    /// How far the rate is below the bound, a fraction; negative above it.
    #[must_use]
    pub fn margin(&self) -> f64 {
        self.limit - self.ucr.mean
    }

    /// Whether the rate is at most four standard errors above the bound.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.margin() + TOLERANCES.guarantee_standard_errors * self.ucr.se >= 0.0
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Setting {
            method,
            alpha,
            max_probes,
            beta,
        } = self.setting;
        write!(
            formatter,
            "{}, {method}, alpha {alpha}, at most {max_probes} probes, beta {beta}, {}: unsafe commit rate \
             {:.5} (standard error {:.5}), bound {:.5}",
            self.experiment.name(),
            self.family.map_or("all families", Family::name),
            self.ucr.mean,
            self.ucr.se,
            self.limit
        )
    }
}

/// The bounds of all rows that have one.
pub(super) fn bounds(results: &Results) -> Vec<Bound> {
    results.rows.iter().filter_map(Bound::of).collect()
}

/// Coverage at each level, and the attribution of failures.
pub(super) fn check(results: &Results) -> Vec<Claim> {
    let allowed = TOLERANCES.guarantee_standard_errors;
    let coverage = results.coverage.iter().map(|coverage| {
        let difference = coverage.observed.mean - coverage.expected;
        Claim {
            statement: format!(
                "coverage at alpha {} is within {allowed} exact standard errors of rank / (n + 1)",
                coverage.alpha
            ),
            evidence: format!(
                "{:.3} % observed, {:.3} % expected, exact standard error {:.3} points",
                100.0 * coverage.observed.mean,
                100.0 * coverage.expected,
                100.0 * coverage.exact_se
            ),
            holds: difference.abs() <= allowed * coverage.exact_se,
        }
    });
    let mut claims: Vec<Claim> = coverage.collect();
    claims.push(attributed(results));
    claims.push(contained(results));
    claims
}

fn certified(results: &Results) -> impl Iterator<Item = &Row> {
    let rows = results.rows.iter();
    rows.filter(|row| row.setting.method.certifies())
}

fn attributed(results: &Results) -> Claim {
    let mut failures = [0_u64; 2];
    for row in certified(results) {
        let counts = &row.counts;
        failures[0] += counts.unsafe_commits + counts.fallbacks.total();
        failures[1] += counts.unsafe_causes.total() + counts.fallback_causes.total();
    }
    Claim {
        statement: "every failure of a certificate method is attributed to one cause".to_owned(),
        evidence: format!("{} failures, {} attributed", failures[0], failures[1]),
        holds: certified(results).all(|row| {
            row.counts.unsafe_causes.total() == row.counts.unsafe_commits
                && row.counts.fallback_causes.total() == row.counts.fallbacks.total()
        }),
    }
}

/// With truthful probes and exact safety maps, an unsafe commit needs a true world that was never proposed
/// or scored above the threshold, whatever is probed and in which order.
fn contained(results: &Results) -> Claim {
    let (mut contained, mut others) = (0, 0);
    for row in certified(results) {
        let causes = &row.counts.unsafe_causes;
        contained += causes.proposal + causes.calibration;
        others += causes.evidence + causes.safety_map + causes.probe_policy;
    }
    Claim {
        statement:
            "every unsafe commit of a certificate method is a failure of proposal or calibration"
                .to_owned(),
        evidence: format!("{contained} of these, {others} others"),
        holds: others == 0,
    }
}
