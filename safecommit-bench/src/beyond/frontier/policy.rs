//! The policies under test, and under which budgets each is another one.

use safecommit_core::Verification;

use super::super::rule::Rule;

/// The budgets.
pub(super) const BUDGETS: [u32; 5] = [0, 1, 2, 3, 4];

/// The level of the policy whose threshold controls its own risk.
pub(super) const CONTROLLED: &str = "0.03";

/// A policy under test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Policy {
    SingleWorld,
    ConflictAbstention,
    GenericOneProbe,
    ScalarConfidence,
    /// The controller under a threshold, with a rule of probing and verification or without.
    SafeCommit(Score, Cut, Rule, Verification),
}

/// Whose scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Score {
    Default,
    LearnedOfOneWorld,
    LearnedOfAll,
}

/// What the threshold promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Marginal,
    GroupConditional,
    TrainingConditional,
    RiskControlled,
}

pub(super) const PAPER: Policy = Policy::SafeCommit(
    Score::Default,
    Cut::Marginal,
    Rule::Greedy,
    Verification::Never,
);

impl Policy {
    pub(super) fn all(prices: &[f64]) -> Vec<Self> {
        use Policy::SafeCommit as Of;
        use Verification::{MostPlausible, Never, WholeSupport};

        let (default, marginal, greedy) = (Score::Default, Cut::Marginal, Rule::Greedy);
        let mut all = vec![
            Self::SingleWorld,
            Self::ConflictAbstention,
            Self::GenericOneProbe,
            Self::ScalarConfidence,
            PAPER,
        ];
        for rule in [
            Rule::Random,
            Rule::InformationGain,
            Rule::Rollout,
            Rule::Optimal,
        ] {
            all.push(Of(default, marginal, rule, Never));
        }
        for cut in [
            Cut::GroupConditional,
            Cut::TrainingConditional,
            Cut::RiskControlled,
        ] {
            all.push(Of(default, cut, greedy, Never));
        }
        all.push(Of(default, marginal, greedy, MostPlausible));
        for &price in prices {
            all.push(Of(default, marginal, greedy, WholeSupport { price }));
        }
        for score in [Score::LearnedOfOneWorld, Score::LearnedOfAll] {
            for verification in [Never, WholeSupport { price: 0.0 }] {
                all.push(Of(score, marginal, greedy, verification));
            }
        }
        all
    }

    pub(super) fn name(self) -> String {
        let Self::SafeCommit(score, cut, rule, verification) = self else {
            return match self {
                Self::SingleWorld => "single_world",
                Self::ConflictAbstention => "conflict_abstention",
                Self::GenericOneProbe => "generic_one_probe",
                _ => "scalar_confidence",
            }
            .to_owned();
        };
        let mut name = "safecommit".to_owned();
        match cut {
            Cut::Marginal => {}
            Cut::GroupConditional => name.push_str(", group-conditional"),
            Cut::TrainingConditional => name.push_str(", training-conditional"),
            Cut::RiskControlled => name.push_str(&format!(", risk control at {CONTROLLED}")),
        }
        if rule != Rule::Greedy {
            name.push_str(&format!(", {} probing", rule.name()));
        }
        name.push_str(match score {
            Score::Default => "",
            Score::LearnedOfOneWorld => ", learned score of one world",
            Score::LearnedOfAll => ", learned score of all worlds",
        });
        match verification {
            Verification::MostPlausible => name.push_str(", verify the most plausible"),
            Verification::WholeSupport { price } => {
                name.push_str(&format!(", verify the whole support above {price}"));
            }
            _ => {}
        }
        name
    }

    pub(super) fn certifies(self) -> bool {
        matches!(self, Self::SafeCommit(..))
    }

    pub(super) fn score(self) -> Score {
        match self {
            Self::SafeCommit(score, ..) => score,
            _ => Score::Default,
        }
    }

    /// The budgets that make a difference to it.
    pub(super) fn budgets(self) -> &'static [u32] {
        match self {
            Self::SingleWorld | Self::ConflictAbstention => &[0],
            Self::GenericOneProbe => &[1],
            Self::ScalarConfidence => &BUDGETS,
            Self::SafeCommit(_, _, Rule::Greedy, Verification::Never) => &BUDGETS,
            // Without probes these are the greedy rule.
            Self::SafeCommit(_, _, Rule::Greedy, _) | Self::SafeCommit(..) => &BUDGETS[1..],
        }
    }
}
