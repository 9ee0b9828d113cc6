//! Which probe to make next, and if none, why the decision stops there.

use super::{Controller, Fate};
use crate::fallback::{Fault, Reason, Stop};
use crate::plausible::Plausibility;
use crate::probe::Probe;
use crate::probing::{self, State};
use crate::shrinkage::ProbeChoice;

/// By what share the probes made may exceed the cost budget: three costs of 0.1 add up to a little
/// more than 0.3 in floating point, and have to fit all the same.
const COST_ROUNDING: f64 = 1e-12;

/// A cost budget and what of it is spent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Purse {
    limit: Option<f64>,
    spent: f64,
}

impl Purse {
    /// Whether what is left buys the probe.
    pub(super) fn buys(&self, probe: &Probe) -> bool {
        let total = self.spent + probe.cost().value();
        self.limit
            .is_none_or(|limit| total <= limit * (1.0 + COST_ROUNDING))
    }
}

impl Controller<'_> {
    /// The best probe, or why there is none.
    pub(super) fn choose_probe(&mut self) -> Result<ProbeChoice, Reason> {
        if let Plausibility::Plausible(plausible) = self.view()
            && plausible.possible().is_empty()
        {
            return Err(Reason::NothingSafeAnywhere);
        }
        if let Some(stop) = self.budget_spent() {
            return Err(self.why_stopped(stop));
        }
        self.weigh();
        if let Some(choice) = self.best_that_helps(true)? {
            return Ok(choice);
        }
        if self.settings.budget().max_cost.is_some() && self.best_that_helps(false)?.is_some() {
            return Err(self.why_stopped(Stop::CostBudgetSpent));
        }
        Err(self.why_stopped(Stop::NoProbeHelps))
    }

    /// The limit on the number of probes or on time that is reached, if any.
    pub(super) fn budget_spent(&self) -> Option<Stop> {
        let budget = self.settings.budget();
        let made = self.workspace.history.len();
        let steps = self.workspace.steps_spent;
        if budget
            .max_probes
            .is_some_and(|limit| made >= limit as usize)
        {
            Some(Stop::ProbeBudgetSpent)
        } else if budget.max_steps.is_some_and(|limit| steps >= limit) {
            Some(Stop::StepBudgetSpent)
        } else {
            None
        }
    }

    /// What is left of the cost budget.
    pub(super) fn purse(&self) -> Purse {
        Purse {
            limit: self.settings.budget().max_cost,
            spent: self.workspace.cost_spent,
        }
    }

    /// The probe that the rule chooses of those not made yet: among the `affordable` ones, or, to tell why
    /// the decision stops, with those that are not.
    fn best_that_helps(&mut self, affordable: bool) -> Result<Option<ProbeChoice>, Reason> {
        let purse = self.purse();
        let workspace = &mut *self.workspace;
        let made = &workspace.made;
        let state = State {
            problem: self.problem,
            settings: self.settings,
            retained: &workspace.retained,
            reports: workspace.history.len(),
            stop: self.settings.eta(),
        };
        let affords = |position: usize, probe: &Probe| !made[position] && purse.buys(probe);
        let chosen = if affordable {
            let (scan, planner) = (&mut workspace.scan, &mut workspace.planner);
            probing::choose(&state, scan, planner, affords, affords)
        } else {
            let too_dear = |position: usize, probe: &Probe| !made[position] && !purse.buys(probe);
            let open = |position: usize, _: &Probe| !made[position];
            let (scan, planner) = (&mut workspace.scan, &mut workspace.planner);
            probing::choose(&state, scan, planner, too_dear, open)
        };
        chosen.map_err(|probe| Reason::Error(Fault::ProbeScore { probe }))
    }

    /// The reason of a fallback from a plausible set in which some action is possible but none
    /// certified, first match first.
    fn why_stopped(&self, stop: Stop) -> Reason {
        let situation = self.problem.situation();
        let mut probes = self.problem.probes().iter();
        if situation.authority_missing {
            Reason::AuthorityMissing { stop }
        } else if situation.fresh_evidence_expected {
            Reason::FreshEvidenceExpected { stop }
        } else if let Some(probe) = probes.position(Probe::repeatable_later) {
            Reason::ProbeRepeatableLater { probe, stop }
        } else {
            Reason::Unresolved { stop }
        }
    }

    /// Why no world is plausible.
    pub(super) fn why_empty(&self) -> Reason {
        let fates = &self.workspace.fates;
        if self.problem.worlds() == 0 {
            Reason::NoWorldProposed
        } else if fates
            .iter()
            .any(|fate| matches!(fate, Fate::Refuted { .. }))
        {
            Reason::EveryWorldRefuted
        } else {
            Reason::NoWorldPlausible
        }
    }
}
