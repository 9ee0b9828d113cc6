//! Experiments beyond the paper, each a [`Study`]: what it asks, a table, a plot, and the statements that
//! have to hold.
//!
//! Every figure here is new: nothing was chosen to match it, and the paper states nothing to compare it
//! with. The episodes come from the generator of the paper's experiments, whose parameters were chosen to
//! match published figures, so what holds here holds on that law.

mod adversary;
mod calibration_draws;
mod chart;
mod compared;
mod erring_probes;
mod error;
mod family_shift;
mod folding;
mod frontier;
mod groups;
mod learned_score;
mod probe_choice;
mod report;
mod risk_control;
mod rule;
mod sheet;
mod summary;
mod workbench;

use std::fmt;
use std::str::FromStr;

use crate::episode::backticked;

pub use chart::{Chart, Mark, Point, Series};
pub use error::StudyError;
pub use report::Report;
pub use sheet::{Sheet, Value};
pub use summary::Summary;
pub use workbench::{Run, Workbench};

/// An experiment beyond the paper.
///
/// To add one: write a file of `beyond/` with a function from a [`Workbench`] to a [`Report`], add a variant
/// here and to [`Study::ALL`], follow the compiler, and freeze the tables anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Study {
    /// Unsafe commits, task success and probes of every policy under every budget.
    Frontier,
    /// Thresholds that control unsafe commits against one that controls coverage.
    RiskControl,
    /// What probes cost under different rules, against the least that any rule can make them cost.
    ProbeChoice,
    /// Coverage and unsafe commits by family: one marginal threshold against one a family.
    Groups,
    /// How often one calibration set falls short: the marginal rank against ranks that allow for it.
    CalibrationDraws,
    /// More of one family than the calibration had: unweighted against weighted thresholds.
    FamilyShift,
    /// Probes that answer wrongly at times, against the stated bound.
    ErringProbes,
    /// An adversary that adds worlds to the proposal: the worst that it can do to a method.
    Adversary,
    /// Proposal misses folded into the quantile, against a bound on them beside it.
    Folding,
    /// Methods of other kinds under the same budgets, as risk against coverage.
    Compared,
    /// A score learned on the four terms against the default one at the same level.
    LearnedScore,
}

impl Study {
    /// All studies, in the order of the tables. A test holds it complete.
    pub const ALL: [Self; 11] = [
        Self::Frontier,
        Self::RiskControl,
        Self::ProbeChoice,
        Self::Groups,
        Self::CalibrationDraws,
        Self::FamilyShift,
        Self::ErringProbes,
        Self::Adversary,
        Self::Folding,
        Self::Compared,
        Self::LearnedScore,
    ];

    /// The name in files, tables and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Frontier => "frontier",
            Self::RiskControl => "risk_control",
            Self::ProbeChoice => "probe_choice",
            Self::Groups => "groups",
            Self::CalibrationDraws => "calibration_draws",
            Self::FamilyShift => "family_shift",
            Self::ErringProbes => "erring_probes",
            Self::Adversary => "adversary",
            Self::Folding => "folding",
            Self::Compared => "compared",
            Self::LearnedScore => "learned_score",
        }
    }

    /// Runs the study. `progress` hears of every seed that is done, from any thread.
    ///
    /// # Errors
    ///
    /// [`StudyError`] if the parameters are such that something in it cannot be computed.
    pub fn run(
        self,
        bench: &Workbench<'_>,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Report, StudyError> {
        let bench = bench.reporting(progress);
        match self {
            Self::Frontier => frontier::run(&bench),
            Self::RiskControl => risk_control::run(&bench),
            Self::ProbeChoice => probe_choice::run(&bench),
            Self::Groups => groups::run(&bench),
            Self::CalibrationDraws => calibration_draws::run(&bench),
            Self::FamilyShift => family_shift::run(&bench),
            Self::ErringProbes => erring_probes::run(&bench),
            Self::Adversary => adversary::run(&bench),
            Self::Folding => folding::run(&bench),
            Self::Compared => compared::run(&bench),
            Self::LearnedScore => learned_score::run(&bench),
        }
    }
}

impl fmt::Display for Study {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// A name that is no study.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown study `{0}`, expected one of {known}", known = backticked(Study::ALL.map(Study::name)))]
pub struct UnknownStudy(pub String);

impl FromStr for Study {
    type Err = UnknownStudy;

    fn from_str(name: &str) -> Result<Self, UnknownStudy> {
        Self::ALL
            .into_iter()
            .find(|study| study.name() == name)
            .ok_or_else(|| UnknownStudy(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A variant more does not compile in [`Study::name`] until it is named, and fails here until `ALL` has it.
    #[test]
    fn all_names_every_study_once() {
        for (position, study) in Study::ALL.into_iter().enumerate() {
            assert_eq!(study as usize, position);
            assert_eq!(study.name().parse(), Ok(study));
        }
        let error = "best".parse::<Study>().unwrap_err().to_string();
        assert!(
            error.starts_with("unknown study `best`, expected one of `frontier`, "),
            "{error}"
        );
    }
}
