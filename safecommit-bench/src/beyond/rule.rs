//! The rules of probing that studies compare, and how they verify.

use safecommit_conformal::LoggedSeed;
use safecommit_core::{Probing, Verification};

/// Verifying the whole support, as studies do that do not compare prices.
pub(super) const WHOLE_SUPPORT: (&str, Verification) = (
    "verify the whole support above 0.03",
    Verification::WholeSupport { price: 0.03 },
);

/// The two ways to verify, with their names.
pub(super) const VERIFYING: [(&str, Verification); 2] = [
    ("verify the most plausible", Verification::MostPlausible),
    WHOLE_SUPPORT,
];

/// How probes are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    Optimal,
    Rollout,
    Greedy,
    InformationGain,
    Random,
}

impl Rule {
    /// All of them, the least cost first.
    pub(super) const ALL: [Self; 5] = [
        Self::Optimal,
        Self::Rollout,
        Self::Greedy,
        Self::InformationGain,
        Self::Random,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::Rollout => "rollout",
            Self::Greedy => "greedy (Eq. 12, 13)",
            Self::InformationGain => "information gain",
            Self::Random => "random",
        }
    }

    /// The rule as a setting; the seed is for the random one.
    pub(super) fn probing(self, seed: LoggedSeed) -> Probing {
        match self {
            Self::Optimal => Probing::Optimal,
            Self::Rollout => Probing::Rollout,
            Self::Greedy => Probing::Shrinkage,
            Self::InformationGain => Probing::InformationGain,
            Self::Random => Probing::Random { seed },
        }
    }
}
