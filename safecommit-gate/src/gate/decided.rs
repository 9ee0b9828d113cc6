//! A decision of the gate, with everything that explains and releases it.

use jiff::Timestamp;
use safecommit_core::{Case, Certificate, DecisionRecord, Fault, Workspace};

use super::Probing;
use crate::audit::{Durations, Entry, Governing, MadeProbe, ReportedFault};
use crate::domain::SideEffect;
use crate::fact::{Fact, Facts};

/// A decision: the request that tells what was found, the record that answers it, and for a commit the certificate.
#[derive(Debug)]
pub struct Decided {
    pub(super) case: Case,
    pub(super) record: DecisionRecord,
    pub(super) certificate: Option<Certificate>,
    pub(super) durations: Durations,
    /// What went wrong on the way to the worlds, as it is reported and in words.
    pub(super) fault: Option<(ReportedFault, String)>,
    pub(super) made: Vec<MadeProbe>,
    pub(super) facts: Facts,
    pub(super) left_out: Vec<usize>,
    pub(super) probing: Probing,
}

/// Why a candidate is safe in no world although nothing speaks against it.
pub(crate) const LEFT_OUT_FOR_OTHERS: &str =
    "with better ones there are too many worlds to look at it: it has to be proposed by itself";

impl Decided {
    /// What was decided and why.
    #[must_use]
    pub fn record(&self) -> &DecisionRecord {
        &self.record
    }

    /// The request with all that was found: deciding it again gives the same record.
    #[must_use]
    pub fn case(&self) -> &Case {
        &self.case
    }

    /// What went wrong on the way to the worlds, if anything did; then the decision is to escalate.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.fault.as_ref().map(|(_, error)| error.as_str())
    }

    /// The probes that were made, in their order: what was expected of each, and what came of it.
    #[must_use]
    pub fn probes(&self) -> &[MadeProbe] {
        &self.made
    }

    /// Why probes failed, by their names.
    pub fn failed_probes(&self) -> impl Iterator<Item = (&str, &str)> {
        let made = self.made.iter();
        made.filter_map(|made| Some((made.id.as_str(), made.failure.as_deref()?)))
    }

    /// The candidates, by position, that were not looked at, since with better ones there were too many worlds. They are
    /// safe in none of the worlds that there are.
    #[must_use]
    pub fn left_out(&self) -> &[usize] {
        &self.left_out
    }

    /// The probes that would have helped and were not offered, with what they may do, which is more than the gate allows.
    #[must_use]
    pub fn withheld_probes(&self) -> &[(String, SideEffect)] {
        &self.probing.withheld
    }

    /// How long its parts took.
    #[must_use]
    pub fn durations(&self) -> Durations {
        self.durations
    }

    /// The decision as it is recorded, with no versions and no group yet.
    #[must_use]
    pub fn entry(&self, decision: impl Into<String>, at: Timestamp) -> Entry {
        let mut entry = Entry::new(
            decision,
            at,
            self.case.request().clone(),
            self.record.clone(),
        );
        entry.durations = self.durations;
        entry.fault = self.fault.as_ref().map(|(fault, _)| *fault);
        entry.error = self.error().map(str::to_owned);
        entry.probes.clone_from(&self.made);
        let facts = self.facts.as_slice().iter();
        let known = |fact: &Fact| (fact.name().to_owned(), fact.values().to_vec());
        entry.facts = facts.map(known).collect();
        if !self.left_out.is_empty() {
            let left_out = self.left_out.iter();
            let names = left_out.map(|at| self.record.actions[*at].id.as_str());
            let names: Vec<&str> = names.collect();
            let left_out = format!("{}: {LEFT_OUT_FOR_OTHERS}", names.join(", "));
            entry.details.insert("left_out".to_owned(), left_out);
        }
        // Where persons were not needed, their probes are not in the request.
        let requested = self.case.request().probes.iter();
        entry.side_effects = requested
            .filter_map(|probe| {
                let of_probe = self.probing.side_effects.get_key_value(&probe.id)?;
                Some((of_probe.0.clone(), *of_probe.1))
            })
            .collect();
        if let (Some(allowed), false) = (self.probing.allowed, self.probing.withheld.is_empty()) {
            let withheld = self.probing.withheld.iter();
            let withheld: Vec<String> = withheld
                .map(|(probe, side_effect)| format!("{probe}: {}", side_effect.name()))
                .collect();
            let said = format!("{} (allowed: {})", withheld.join("; "), allowed.name());
            entry.details.insert("probes_not_offered".to_owned(), said);
        }
        entry
    }

    /// The case and the certificate of a commit, to redeem it under the same calibration.
    #[must_use]
    pub fn into_certificate(self) -> (Case, Option<Certificate>) {
        (self.case, self.certificate)
    }
}

/// The record of a decision that cannot be taken: no calibration is for it, or the way to its worlds failed.
pub(super) fn fall_back(
    case: &Case,
    governing: &Governing<'_>,
    fault: Option<ReportedFault>,
) -> DecisionRecord {
    let governed = match governing {
        Ok(calibration) => calibration.as_deref(),
        Err(calibrations) => return case.decide_among(calibrations).record().clone(),
    };
    let mut memory = Workspace::default();
    let mut controller = case.controller(governed, &mut memory);
    controller.fail(fault.map_or(Fault::Inconsistent, Fault::from));
    match case.record(governed, &mut controller) {
        Ok(record) => record,
        // Not possible for a controller that was just started from this case; and without worlds it escalates too.
        Err(_) => case.decide(governed).record().clone(),
    }
}
