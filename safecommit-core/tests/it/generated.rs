//! Random problems as plain data, on coarse grids so that ties are frequent.

use safecommit_conformal::Score;
use safecommit_core::{
    Action, Budget, Cost, OutcomeModel, Probability, Problem, Reversibility, Settings, Situation,
    Subject,
};

/// SplitMix64: all that a test needs, and the same everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A whole number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// A whole number from `low` to `high`.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    pub(crate) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// A number in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// A problem as plain data.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Reward and severity.
    pub(crate) actions: Vec<(f64, f64)>,
    pub(crate) worlds: Vec<World>,
    pub(crate) probes: Vec<PlannedProbe>,
    pub(crate) situation: Situation,
    pub(crate) temperature: f64,
    pub(crate) eta: f64,
    pub(crate) severity_weight: f64,
    pub(crate) budget: Budget,
}

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) score: f64,
    pub(crate) safe: Vec<usize>,
    pub(crate) contradicted: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct PlannedProbe {
    pub(crate) cost: f64,
    pub(crate) repeatable_later: bool,
    pub(crate) model: Model,
}

#[derive(Clone, Debug)]
pub(crate) enum Model {
    Identity(usize),
    /// Outcome of each world.
    Partition(usize, Vec<usize>),
    /// P(y | omega), a row a world.
    Likelihood(usize, Vec<Vec<f64>>),
}

impl Model {
    pub(crate) fn outcomes(&self) -> usize {
        match *self {
            Self::Identity(_) => 2,
            Self::Partition(outcomes, _) | Self::Likelihood(outcomes, _) => outcomes,
        }
    }

    /// P(outcome | world), from the definition.
    pub(crate) fn probability(&self, outcome: usize, world: usize) -> f64 {
        let certain = |holds: bool| f64::from(u8::from(holds));
        match self {
            Self::Identity(asked) => certain((*asked == world) == (outcome == 0)),
            Self::Partition(_, outcome_of) => certain(outcome_of[world] == outcome),
            Self::Likelihood(_, rows) => rows[world][outcome],
        }
    }
}

impl Plan {
    /// Up to seven worlds and up to five actions, or 60 to 130 of them.
    pub(crate) fn random(random: &mut Random) -> Self {
        let actions = if random.percent(4) {
            random.between(60, 130)
        } else {
            random.between(1, 5)
        };
        let worlds = if random.percent(3) {
            0
        } else {
            random.between(1, 7)
        };
        let safe_share = random.pick(&[0, 25, 50, 75, 95]);
        let grid = random.pick(&[2.0, 4.0, 10.0, 1e6]);
        let mut plan = Self {
            actions: (0..actions)
                .map(|_| (random.below(3) as f64, random.below(3) as f64 / 2.0))
                .collect(),
            worlds: (0..worlds)
                .map(|_| World {
                    score: (random.unit() * grid).round() / grid,
                    safe: (0..actions)
                        .filter(|_| random.percent(safe_share))
                        .collect(),
                    contradicted: random.percent(10),
                })
                .collect(),
            probes: Vec::new(),
            situation: Situation {
                authority_missing: random.percent(15),
                fresh_evidence_expected: random.percent(25),
            },
            temperature: random.pick(&[0.25, 0.25, 0.05, 2.0]),
            eta: random.pick(&[0.0, 0.0, 0.0, 0.05]),
            severity_weight: random.pick(&[1.0, 0.0, 2.0]),
            budget: Budget {
                max_probes: random.pick(&[None, Some(0), Some(1), Some(2), Some(4)]),
                max_cost: random.pick(&[None, None, Some(0.0), Some(1.0), Some(2.5)]),
                max_steps: random.pick(&[None, None, None, Some(2)]),
            },
        };
        for _ in 0..random.between(0, 6) {
            if let Some(model) = plan.random_model(random) {
                plan.probes.push(PlannedProbe {
                    cost: random.pick(&[1.0, 1.0, 0.5, 2.0, 1.5]),
                    repeatable_later: random.percent(10),
                    model,
                });
            }
        }
        plan
    }

    fn random_model(&self, random: &mut Random) -> Option<Model> {
        let worlds = self.worlds.len();
        let outcomes = random.between(1, 4);
        match random.below(3) {
            0 if worlds == 0 => None,
            0 => Some(Model::Identity(random.below(worlds))),
            1 => Some(Model::Partition(
                outcomes,
                (0..worlds).map(|_| random.below(outcomes)).collect(),
            )),
            _ => {
                let row = |random: &mut Random| {
                    // Eighths, zeros among them, sum to one exactly.
                    let mut row = vec![0.0; outcomes];
                    for _ in 0..8 {
                        row[random.below(outcomes)] += 0.125;
                    }
                    row
                };
                let rows = (0..worlds).map(|_| row(random)).collect();
                Some(Model::Likelihood(outcomes, rows))
            }
        }
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings::default()
            .with_temperature(self.temperature)
            .and_then(|settings| settings.with_eta(self.eta))
            .and_then(|settings| settings.with_severity_weight(self.severity_weight))
            .unwrap()
            .with_budget(self.budget)
    }

    pub(crate) fn problem(&self) -> Problem {
        let mut problem = Problem::new(Subject([7; 32]));
        self.fill(&mut problem);
        problem
    }

    /// The problem, over a problem that was used before.
    pub(crate) fn fill(&self, problem: &mut Problem) {
        problem.reset(Subject([7; 32]));
        for &(reward, severity) in &self.actions {
            let action = Action::new(reward, severity, Reversibility::Irreversible).unwrap();
            problem.add_action(action).unwrap();
        }
        for (position, world) in self.worlds.iter().enumerate() {
            let score = Score::new(world.score).unwrap();
            let added = problem.add_world(score, world.safe.iter().copied());
            assert_eq!(added, Ok(position));
            if world.contradicted {
                problem.contradict(position).unwrap();
            }
        }
        for probe in &self.probes {
            let (numbers, rows): (Vec<u32>, Vec<f64>);
            let model = match &probe.model {
                Model::Identity(world) => OutcomeModel::Identity { world: *world },
                Model::Partition(outcomes, outcome_of) => {
                    numbers = outcome_of.iter().map(|&outcome| outcome as u32).collect();
                    OutcomeModel::Partition {
                        outcomes: *outcomes,
                        outcome_of: &numbers,
                    }
                }
                Model::Likelihood(outcomes, table) => {
                    rows = table.concat();
                    OutcomeModel::Likelihood {
                        outcomes: *outcomes,
                        rows: &rows,
                    }
                }
            };
            let cost = Cost::new(probe.cost).unwrap();
            let position = problem.add_probe(cost, Probability::ZERO, model).unwrap();
            if probe.repeatable_later {
                problem.set_repeatable_later(position);
            }
        }
        problem.set_situation(self.situation);
    }
}
