//! Sections 1 to 3 of the theory by enumeration over sets of names: no bit vectors, no logarithms, no
//! joint masses, and a threshold that is never computed.

use std::collections::{BTreeMap, BTreeSet};

use crate::generated::Plan;

pub(super) fn world(position: usize) -> String {
    format!("world {position}")
}

pub(super) fn action(position: usize) -> String {
    format!("action {position:03}")
}

/// A decision under way.
pub(super) struct Model<'a> {
    plan: &'a Plan,
    /// Names of the worlds that are still possible.
    pub(super) retained: BTreeSet<String>,
    /// Outcome of each probe made, `None` if it failed.
    pub(super) made: BTreeMap<usize, Option<usize>>,
    pub(super) steps: u64,
    anything_refuted: bool,
}

/// What the controller should do.
#[derive(Debug)]
pub(super) enum Expected {
    Commit(String),
    Probe {
        probe: usize,
        /// Score of every candidate.
        scores: BTreeMap<usize, f64>,
    },
    Fallback {
        kind: &'static str,
        reason: &'static str,
        stop: Option<&'static str>,
    },
}

impl<'a> Model<'a> {
    /// Retains a world unless hard evidence contradicts it or too many calibration scores lie below its
    /// own: s <= q_(r), r = ceil((n + 1)(1 - alpha)), means that fewer than r scores are below s.
    pub(super) fn start(
        plan: &'a Plan,
        (parts, whole): (u64, u64),
        calibration: &[Option<f64>],
    ) -> Self {
        let cases = calibration.len() as u64 + 1;
        let retained = |score: f64| {
            let below = calibration.iter().flatten().filter(|&&q| q < score).count() as u64;
            below * whole < cases * (whole - parts)
        };
        Self {
            plan,
            retained: (0..plan.worlds.len())
                .filter(|&at| !plan.worlds[at].contradicted && retained(plan.worlds[at].score))
                .map(world)
                .collect(),
            made: BTreeMap::new(),
            steps: 0,
            anything_refuted: false,
        }
    }

    /// Probes not made yet, in their order.
    pub(super) fn open(&self) -> impl Iterator<Item = usize> {
        (0..self.plan.probes.len()).filter(|probe| !self.made.contains_key(probe))
    }

    pub(super) fn fail(&mut self, probe: usize) {
        self.made.insert(probe, None);
    }

    pub(super) fn observe(&mut self, probe: usize, outcome: usize) {
        self.made.insert(probe, Some(outcome));
        let before = self.retained.len();
        let model = &self.plan.probes[probe].model;
        let possible: BTreeSet<_> = (0..self.plan.worlds.len())
            .filter(|&world| model.probability(outcome, world) > 0.0)
            .map(world)
            .collect();
        self.retained = self.retained.intersection(&possible).cloned().collect();
        self.anything_refuted |= self.retained.len() < before;
    }

    /// w proportional to exp(-s / T) times the likelihood of what was observed, summing to one.
    pub(super) fn weights(&self) -> BTreeMap<String, f64> {
        let mut weights = BTreeMap::new();
        for (position, description) in self.plan.worlds.iter().enumerate() {
            if self.retained.contains(&world(position)) {
                let mut weight = (-description.score / self.plan.temperature).exp();
                for (&probe, outcome) in &self.made {
                    if let Some(outcome) = *outcome {
                        let model = &self.plan.probes[probe].model;
                        weight *= model.probability(outcome, position);
                    }
                }
                weights.insert(world(position), weight);
            }
        }
        let total: f64 = weights.values().sum();
        weights.values_mut().for_each(|weight| *weight /= total);
        weights
    }

    /// U(a): the retained worlds in which the action is not safe (Eq. 5).
    pub(super) fn uncertified_region(&self, name: &str) -> BTreeSet<String> {
        let unsafe_in = |position: &usize| {
            let safe = &self.plan.worlds[*position].safe;
            !safe.iter().any(|&position| action(position) == name)
        };
        let everywhere: BTreeSet<_> = (0..self.plan.worlds.len())
            .filter(unsafe_in)
            .map(world)
            .collect();
        self.retained.intersection(&everywhere).cloned().collect()
    }

    /// Delta(p) = min_a mu(U(a)) - E_y min_a mu(U(a) | y), with the mass normalised again after every
    /// outcome (Eq. 12 read as a value of information).
    pub(super) fn shrinkage(&self, probe: usize) -> f64 {
        let model = &self.plan.probes[probe].model;
        let regions: Vec<_> = (0..self.plan.actions.len())
            .map(|position| self.uncertified_region(&action(position)))
            .collect();
        let weights = self.weights();
        let smallest = |weights: &BTreeMap<String, f64>| {
            let mass = |region: &BTreeSet<String>| -> f64 {
                region.iter().map(|world| weights[world]).sum()
            };
            regions.iter().map(mass).min_by(f64::total_cmp).unwrap()
        };
        let mut expected_after = 0.0;
        for outcome in 0..model.outcomes() {
            let mut after = weights.clone();
            for position in 0..self.plan.worlds.len() {
                if let Some(weight) = after.get_mut(&world(position)) {
                    *weight *= model.probability(outcome, position);
                }
            }
            let chance: f64 = after.values().sum();
            if chance > 0.0 {
                after.values_mut().for_each(|weight| *weight /= chance);
                expected_after += chance * smallest(&after);
            }
        }
        smallest(&weights) - expected_after
    }

    /// The next step, from the rules as they are written down.
    pub(super) fn expected(&self) -> Expected {
        let fallback = |kind, reason, stop| Expected::Fallback { kind, reason, stop };
        if self.plan.worlds.is_empty() {
            return fallback("Escalate", "NoWorldProposed", None);
        }
        if self.retained.is_empty() {
            let reason = if self.anything_refuted {
                "EveryWorldRefuted"
            } else {
                "NoWorldPlausible"
            };
            return fallback("Escalate", reason, None);
        }
        if let Some(action) = self.released() {
            return Expected::Commit(action);
        }
        let stop = match self.choose() {
            Ok(choice) => return choice,
            Err(stop) => stop,
        };
        let possible = (0..self.plan.actions.len())
            .any(|position| self.uncertified_region(&action(position)) != self.retained);
        if !possible {
            return fallback("Abstain", "NothingSafeAnywhere", None);
        }
        let (kind, reason) = if self.plan.situation.authority_missing {
            ("Escalate", "AuthorityMissing")
        } else if self.plan.situation.fresh_evidence_expected {
            ("Defer", "FreshEvidenceExpected")
        } else if self.plan.probes.iter().any(|probe| probe.repeatable_later) {
            ("Defer", "ProbeRepeatableLater")
        } else {
            ("Escalate", "Unresolved")
        };
        fallback(kind, reason, Some(stop))
    }

    /// The certified action of the greatest utility, the first on a tie.
    fn released(&self) -> Option<String> {
        let utility = |position: usize| {
            let (reward, severity) = self.plan.actions[position];
            reward - self.plan.severity_weight * severity
        };
        let mut certified: Vec<usize> = (0..self.plan.actions.len())
            .filter(|&position| self.uncertified_region(&action(position)).is_empty())
            .collect();
        certified.sort_by(|&one, &other| utility(other).total_cmp(&utility(one)));
        certified.first().map(|&position| action(position))
    }

    fn choose(&self) -> Result<Expected, &'static str> {
        let budget = self.plan.budget;
        if budget
            .max_probes
            .is_some_and(|limit| self.made.len() >= limit as usize)
        {
            return Err("ProbeBudgetSpent");
        }
        if budget.max_steps.is_some_and(|limit| self.steps >= limit) {
            return Err("StepBudgetSpent");
        }
        let spent: f64 = self
            .made
            .keys()
            .map(|&probe| self.plan.probes[probe].cost)
            .sum();
        let score = |probe: usize| self.shrinkage(probe) / self.plan.probes[probe].cost;
        let helps = |score: f64| score > self.plan.eta + 1e-12;
        let affordable = |probe: &usize| {
            budget
                .max_cost
                .is_none_or(|limit| spent + self.plan.probes[*probe].cost <= limit)
        };
        let (candidates, too_dear): (Vec<_>, Vec<_>) = self.open().partition(affordable);
        let scores: BTreeMap<_, _> = candidates
            .iter()
            .map(|&probe| (probe, score(probe)))
            .collect();
        let best = candidates.iter().copied().reduce(|best, probe| {
            if scores[&probe] > scores[&best] + 1e-12 {
                probe
            } else {
                best
            }
        });
        match best {
            Some(probe) if helps(scores[&probe]) => Ok(Expected::Probe { probe, scores }),
            _ if too_dear.into_iter().any(|probe| helps(score(probe))) => Err("CostBudgetSpent"),
            _ => Err("NoProbeHelps"),
        }
    }
}
