//! A decision of the gate, with everything that explains and releases it.

use jiff::Timestamp;
use safecommit_core::{Case, Certificate, Decision, DecisionRecord, Fault, Workspace};

use crate::audit::{Durations, Entry, Governing, MadeProbe, ReportedFault};
use crate::fact::{Fact, Facts};

/// A decision: the request that tells what was found, the record that answers it, and for a commit the certificate.
#[derive(Debug)]
pub struct Decided {
    case: Case,
    record: DecisionRecord,
    certificate: Option<Certificate>,
    durations: Durations,
    /// What went wrong on the way to the worlds, as it is reported and in words.
    fault: Option<(ReportedFault, String)>,
    made: Vec<MadeProbe>,
    facts: Facts,
}

/// How the last word was reached.
pub(super) enum Outcome {
    Decision(Decision),
    /// A fallback on an error, which has no certificate.
    Record(DecisionRecord),
}

impl Decided {
    pub(super) fn new(
        case: Case,
        outcome: Outcome,
        durations: Durations,
        fault: Option<(ReportedFault, String)>,
        made: Vec<MadeProbe>,
        facts: Facts,
    ) -> Self {
        let (record, certificate) = match outcome {
            Outcome::Decision(decision) => decision.into_parts(),
            Outcome::Record(record) => (record, None),
        };
        Self {
            case,
            record,
            certificate,
            durations,
            fault,
            made,
            facts,
        }
    }

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
