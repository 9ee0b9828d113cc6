//! A guarantee in words, and in the text that is hashed.

use std::fmt;

use super::{Guarantee, LossShape, RiskTest};
use crate::stratum::Stratum;

impl Guarantee {
    /// An unambiguous text of all that is in it, for the checksum of a calibration.
    pub(crate) fn canonical(&self) -> String {
        let name = self.name();
        match self {
            Self::Marginal | Self::EValue => name.to_owned(),
            Self::TrainingConditional { delta } | Self::Simultaneous { delta } => {
                format!("{name} delta={}", delta.value())
            }
            Self::Group(group) | Self::GroupAndPool(group) => format!(
                "{name} stratum={} achieved={}",
                counted(group.stratum()),
                counted(group.achieved())
            ),
            Self::Weighted {
                effective_size,
                case_weight,
            } => format!("{name} effective_size={effective_size} case_weight={case_weight}"),
            Self::NonExchangeable {
                effective_size,
                calibration_mass,
            } => format!(
                "{name} effective_size={effective_size} calibration_mass={calibration_mass}"
            ),
            Self::RiskControl { loss, of } => {
                format!("{name} loss={} of={}", loss.name(), of.canonical())
            }
            Self::LearnThenTest { delta, test, of } => format!(
                "{name} delta={} test={} of={}",
                delta.value(),
                test.name(),
                of.canonical()
            ),
        }
    }
}

/// The path of a stratum after its length in bytes, so that no label can be taken for what follows it.
pub(crate) fn counted(stratum: &Stratum) -> String {
    let path = stratum.as_path();
    format!("{}:{path}", path.len())
}

impl fmt::Display for Guarantee {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Marginal => formatter.pad("marginal"),
            Self::TrainingConditional { delta } => {
                write!(formatter, "training-conditional (delta {})", delta.value())
            }
            Self::Simultaneous { delta } => {
                write!(formatter, "simultaneous (delta {})", delta.value())
            }
            Self::Group(group) => write!(formatter, "group ({group})"),
            Self::GroupAndPool(group) => write!(
                formatter,
                "group and pool (`{}`, bound by `{}`)",
                group.stratum(),
                group.achieved()
            ),
            Self::Weighted {
                effective_size,
                case_weight,
            } => write!(
                formatter,
                "weighted (effective size {effective_size:.1}, for cases of weight at most \
                 {case_weight})"
            ),
            Self::NonExchangeable {
                effective_size,
                calibration_mass,
            } => write!(
                formatter,
                "non-exchangeable (effective size {effective_size:.1}, gap at most \
                 {calibration_mass:.4} times the largest total variation)"
            ),
            Self::RiskControl { loss, of } => match loss {
                LossShape::Monotone => write!(formatter, "risk-control ({of})"),
                LossShape::Envelope => write!(formatter, "risk-control (envelope of {of})"),
            },
            Self::LearnThenTest { delta, test, of } => {
                let test = match test {
                    RiskTest::Binomial => "exact binomial test",
                    RiskTest::HoeffdingBentkus => "Hoeffding-Bentkus test",
                };
                write!(
                    formatter,
                    "learn-then-test (delta {}, {test} of {of})",
                    delta.value()
                )
            }
            Self::EValue => formatter.pad("e-value"),
        }
    }
}
