//! Settings as one number, so that a calibration can say which policy it is for.

use std::fmt::{self, Write as _};

use safecommit_conformal::Digest;
use sha2::{Digest as _, Sha256};

use super::{Settings, Verification};
use crate::probing::Probing;

impl Settings {
    /// SHA-256 of a canonical text of all settings: two settings have one digest if and only if they make one
    /// policy. Allocates nothing.
    ///
    /// The text is `safecommit policy 1` and then a line each, `name=value`: `temperature`, `eta`,
    /// `severity_weight`, `max_probes`, `max_cost`, `max_steps`, `verification` and `probing`. Numbers that
    /// are no integers stand as the sixteen hexadecimal digits of their double (0.0 for -0.0), no limit as
    /// `none`, a last line `relative_scores=true` only where they are, a rule by its name, followed by its price or by the
    /// [fingerprint](safecommit_conformal::LoggedSeed::fingerprint) of its seed.
    ///
    /// ```
    /// use safecommit_core::{Budget, Settings};
    ///
    /// let two = Settings::default().with_budget(Budget::probes(2));
    /// assert_eq!(two.digest(), Settings::default().with_budget(Budget::probes(2)).digest());
    /// assert_ne!(two.digest(), Settings::default().digest());
    /// ```
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut text = Hashed(Sha256::new());
        // Hashing never fails.
        let _ = self.write(&mut text);
        Digest::from(<[u8; 32]>::from(text.0.finalize()))
    }

    fn write(&self, text: &mut Hashed) -> fmt::Result {
        let Self {
            temperature,
            eta,
            severity_weight,
            budget,
            verification,
            probing,
            relative_scores,
        } = self;
        text.write_str("safecommit policy 1\n")?;
        text.number("temperature", Some(*temperature))?;
        text.number("eta", Some(*eta))?;
        text.number("severity_weight", Some(*severity_weight))?;
        text.limit("max_probes", budget.max_probes.map(u64::from))?;
        text.number("max_cost", budget.max_cost)?;
        text.limit("max_steps", budget.max_steps)?;
        match verification {
            Verification::Never => text.write_str("verification=never\n")?,
            Verification::MostPlausible => text.write_str("verification=most_plausible\n")?,
            Verification::WholeSupport { price } => {
                text.number("verification=whole_support price", Some(*price))?;
            }
        }
        match probing {
            Probing::Shrinkage => text.write_str("probing=shrinkage\n")?,
            Probing::Optimal => text.write_str("probing=optimal\n")?,
            Probing::Rollout => text.write_str("probing=rollout\n")?,
            Probing::InformationGain => text.write_str("probing=information_gain\n")?,
            Probing::SafetyInformation => text.write_str("probing=safety_information\n")?,
            Probing::Random { seed } => {
                writeln!(text, "probing=random seed={}", seed.fingerprint())?;
            }
        }
        match relative_scores {
            true => text.write_str("relative_scores=true\n"),
            false => Ok(()),
        }
    }
}

/// A text that is hashed as it is written.
struct Hashed(Sha256);

impl fmt::Write for Hashed {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text);
        Ok(())
    }
}

impl Hashed {
    fn number(&mut self, name: &str, value: Option<f64>) -> fmt::Result {
        match value {
            Some(value) if value.is_nan() => writeln!(self, "{name}=nan"),
            Some(value) => writeln!(self, "{name}={:016x}", (value + 0.0).to_bits()),
            None => writeln!(self, "{name}=none"),
        }
    }

    fn limit(&mut self, name: &str, value: Option<u64>) -> fmt::Result {
        match value {
            Some(value) => writeln!(self, "{name}={value}"),
            None => writeln!(self, "{name}=none"),
        }
    }
}
