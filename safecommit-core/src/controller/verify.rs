//! Whether to check a certificate before it is used, and with which probe; see [`Verification`].

use super::Controller;
use crate::action::Reversibility;
use crate::fallback::{Fault, Reason};
use crate::probe::Kind;
use crate::probing::{self, ProbeRule, State};
use crate::settings::Verification;
use crate::shrinkage::{ProbeChoice, Purpose, SCORE_TOLERANCE};

impl Controller<'_> {
    /// The probe to make before the certified `action` is committed; `None` to commit it now.
    pub(super) fn verifying_probe(&mut self, action: usize) -> Result<Option<ProbeChoice>, Reason> {
        let verification = self.settings.verification();
        let irreversible =
            self.problem.actions()[action].reversibility() == Reversibility::Irreversible;
        if verification == Verification::Never || !irreversible || self.budget_spent().is_some() {
            return Ok(None);
        }
        self.weigh();
        match verification {
            Verification::Never => Ok(None),
            Verification::MostPlausible => Ok(self.question_about_the_most_plausible()),
            Verification::WholeSupport { price } => self.probe_past_the_threshold(action, price),
        }
    }

    /// Of the questions that may still be asked about a plausible world, the one about the heaviest.
    fn question_about_the_most_plausible(&self) -> Option<ProbeChoice> {
        let (purse, workspace) = (self.purse(), &*self.workspace);
        let mut best: Option<(usize, f64)> = None;
        for (position, probe) in self.problem.probes().iter().enumerate() {
            let Kind::Identity { world } = probe.kind else {
                continue;
            };
            if workspace.made[position] || !purse.buys(probe) {
                continue;
            }
            let Some(weight) = workspace.retained.weight_of(world) else {
                continue;
            };
            if best.is_none_or(|(_, heaviest)| weight > heaviest + SCORE_TOLERANCE) {
                best = Some((position, weight));
            }
        }
        best.map(|(probe, _)| ProbeChoice {
            probe,
            shrinkage: 0.0,
            score: 0.0,
            information: None,
            purpose: Purpose::Verify,
            rule: ProbeRule::MostPlausible,
        })
    }

    /// The probe that tells most, or shrinks most, over every world left, plausible or not, if that is worth more than
    /// `price`; none if the action is safe in all of them.
    fn probe_past_the_threshold(
        &mut self,
        action: usize,
        price: f64,
    ) -> Result<Option<ProbeChoice>, Reason> {
        let (purse, problem) = (self.purse(), self.problem);
        let workspace = &mut *self.workspace;
        let unrefuted = &mut workspace.unrefuted;
        // A reopened set is that of every world left, and the action is certified in it.
        if workspace.reopened || unrefuted.signatures.intersection().contains(action) {
            return Ok(None);
        }
        unrefuted.weigh(problem, self.settings.temperature());
        let state = State {
            problem,
            settings: self.settings,
            retained: unrefuted,
            reports: workspace.history.len(),
            stop: price,
        };
        let made = &workspace.made;
        let (scan, planner) = (&mut workspace.scan, &mut workspace.planner);
        let best = probing::verify(&state, scan, planner, action, |position, probe| {
            !made[position] && purse.buys(probe)
        });
        let best = best.map_err(|probe| Reason::Error(Fault::ProbeScore { probe }))?;
        Ok(best.map(|choice| ProbeChoice {
            purpose: Purpose::Verify,
            ..choice
        }))
    }
}
