//! [`Probing::SafetyInformation`](super::Probing::SafetyInformation): mutual information with what is safe,
//! per unit cost.

use std::cmp::Ordering;

use super::information::{self, most_per_cost};
use super::{Informative, ProbeRule, State};
use crate::plausible::Retained;
use crate::probe::{Kind, Probe};
use crate::problem::Problem;
use crate::shrinkage::Scan;

/// The probe with the largest I(S; Y) / c of those for which `may_be_made` holds; where none is above the
/// score at which the rule stops, the one that tells most about the world, by the rule that then chose it.
/// None where all retained worlds have one signature, since nothing is left to find out then.
///
/// `Err` with the probe whose score is not a number.
pub(super) fn choose(
    state: &State<'_>,
    scan: &mut Scan,
    classes: &mut Classes,
    may_be_made: impl Fn(usize, &Probe) -> bool,
) -> Result<Option<(Informative, ProbeRule)>, usize> {
    classes.fill(state.problem, state.retained);
    if classes.mass.len() < 2 {
        return Ok(None);
    }
    let chosen = most_per_cost(state, &may_be_made, |probe| {
        classes.information(state.problem, state.retained, scan, probe)
    })?;
    if let Some(probe) = chosen {
        return Ok(Some((probe, ProbeRule::SafetyInformation)));
    }
    let chosen = information::choose(state, scan, may_be_made)?;
    Ok(chosen.map(|probe| (probe, ProbeRule::InformationGain)))
}

/// The probe with the largest I(S; Y) / c, for S whether `action` is safe in the true world, if that is above the score
/// at which the rule stops.
///
/// `Err` with the probe whose score is not a number.
pub(super) fn about(
    state: &State<'_>,
    scan: &mut Scan,
    classes: &mut Classes,
    action: usize,
    may_be_made: impl Fn(usize, &Probe) -> bool,
) -> Result<Option<Informative>, usize> {
    let signatures = &state.retained.signatures;
    classes.fill_by(state.problem, state.retained, |one, other| {
        let safe = |row: u32| signatures.is_safe(row as usize, action);
        safe(one).cmp(&safe(other))
    });
    most_per_cost(state, may_be_made, |probe| {
        classes.information(state.problem, state.retained, scan, probe)
    })
}

/// The retained worlds by signature (Eq. 8), or by what of it is asked about.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    /// P(s) of each signature.
    mass: Vec<f64>,
    /// The signature of each retained world, as a position in `mass`.
    of_row: Vec<u32>,
    /// The retained worlds, those of one signature side by side.
    sorted: Vec<u32>,
    /// P(s, y) of each signature, for the outcome looked at.
    joint: Vec<f64>,
}

impl Classes {
    /// Sorts the retained worlds, whose weights are fresh, by signature.
    fn fill(&mut self, problem: &Problem, retained: &Retained) {
        let signatures = &retained.signatures;
        self.fill_by(problem, retained, |one, other| {
            signatures
                .row(one as usize)
                .cmp(signatures.row(other as usize))
        });
    }

    /// Sorts the retained worlds, whose weights are fresh, into classes of rows that compare equal. O(K log K) for K
    /// worlds.
    fn fill_by(
        &mut self,
        problem: &Problem,
        retained: &Retained,
        compare: impl Fn(u32, u32) -> Ordering,
    ) {
        let rows = retained.members.len();
        // Room for every world, so that a later decision of this size never allocates.
        self.mass.clear();
        self.mass.reserve(problem.worlds());
        self.joint.clear();
        self.joint.reserve(problem.worlds());
        self.sorted.clear();
        self.sorted.reserve(problem.worlds());
        self.sorted.extend(0..rows as u32);
        // Sums are taken in this order, so it has to be one.
        self.sorted
            .sort_unstable_by(|&one, &other| compare(one, other).then(one.cmp(&other)));
        self.of_row.clear();
        self.of_row.reserve(problem.worlds());
        self.of_row.resize(rows, 0);
        let same = |one: &u32, next: &u32| compare(*one, *next).is_eq();
        for (class, worlds) in self.sorted.chunk_by(same).enumerate() {
            let mut mass = 0.0;
            for &row in worlds {
                self.of_row[row as usize] = class as u32;
                mass += retained.weights[row as usize];
            }
            self.mass.push(mass);
        }
    }

    /// Mutual information I(S; Y) between the signature of the true world and the answer, in nats.
    fn information(
        &mut self,
        problem: &Problem,
        retained: &Retained,
        scan: &mut Scan,
        probe: &Probe,
    ) -> f64 {
        match probe.kind {
            Kind::Identity { world } => {
                let asked = |&member: &u32| member as usize == world;
                let Some(asked) = retained.members.iter().position(asked) else {
                    // Every retained world answers no.
                    return 0.0;
                };
                let others = (0..self.of_row.len()).filter(|&row| row != asked);
                self.collect(others.map(|row| (row, retained.weights[row])));
                let no = self.term();
                self.collect([(asked, retained.weights[asked])]);
                self.term() + no
            }
            Kind::Partition { start, .. } => {
                scan.sort_by_outcome(problem, retained, start);
                let mut information = 0.0;
                for cell in scan.by_outcome.chunk_by(|one, next| one.0 == next.0) {
                    let rows = cell.iter().map(|&(_, row)| row as usize);
                    self.collect(rows.map(|row| (row, retained.weights[row])));
                    information += self.term();
                }
                information
            }
            Kind::Likelihood { outcomes, start } => {
                let mut information = 0.0;
                for outcome in 0..outcomes {
                    let worlds = retained.members.iter().zip(&retained.weights);
                    self.collect(worlds.enumerate().map(|(row, (&world, weight))| {
                        let given = problem.outcomes().row(start, outcomes, world as usize);
                        (row, weight * given[outcome])
                    }));
                    information += self.term();
                }
                information
            }
        }
    }

    /// Sums the joint mass of worlds and one outcome to P(s, y) of each signature.
    fn collect(&mut self, worlds: impl IntoIterator<Item = (usize, f64)>) {
        self.joint.clear();
        self.joint.resize(self.mass.len(), 0.0);
        for (row, mass) in worlds {
            self.joint[self.of_row[row] as usize] += mass;
        }
    }

    /// What the outcome that was collected adds to the information: the sum over signatures of
    /// [`dependence`].
    fn term(&self) -> f64 {
        let outcome: f64 = self.joint.iter().sum();
        let classes = self.mass.iter().zip(&self.joint);
        classes
            .map(|(mass, &joint)| dependence(joint, mass * outcome))
            .sum()
    }
}

/// p ln(p / q) - p + q, for p = P(s, y) and q = P(s) P(y).
///
/// Over all pairs p and q sum to the same, so what is added to p ln(p / q) cancels and the sum is H(Y) - H(Y | S).
/// No term is below zero, and the rounding of masses enters by its square: what does not depend on the signature
/// comes out as zero, where a difference of entropies would leave rounding that a small cost makes large.
fn dependence(joint: f64, independent: f64) -> f64 {
    if joint == 0.0 || independent == 0.0 {
        return independent;
    }
    let excess = joint / independent - 1.0;
    independent * ((1.0 + excess) * libm::log1p(excess) - excess)
}

#[cfg(test)]
mod tests {
    use safecommit_conformal::Score;

    use super::*;
    use crate::{Action, Cost, OutcomeModel, Probability, Settings, Subject};

    /// The choice among two worlds in which the given actions of two are safe, and a probe that tells them
    /// apart.
    fn chosen(safe: [&[usize]; 2]) -> Option<(Informative, ProbeRule)> {
        let mut problem = Problem::new(Subject([0; 32]));
        for _ in 0..2 {
            problem.add_action(Action::default()).unwrap();
        }
        for safe in safe {
            problem
                .add_world(Score::ZERO, safe.iter().copied())
                .unwrap();
        }
        let model = OutcomeModel::Partition {
            outcomes: 2,
            outcome_of: &[0, 1],
        };
        problem
            .add_probe(Cost::UNIT, Probability::ZERO, model)
            .unwrap();
        let mut retained = Retained::default();
        retained.fill(&problem, |_| true);
        retained.weigh(&problem, 1.0);
        let state = State {
            problem: &problem,
            settings: &Settings::default(),
            retained: &retained,
            reports: 0,
            stop: 0.0,
        };
        let (mut scan, mut classes) = (Scan::default(), Classes::default());
        choose(&state, &mut scan, &mut classes, |_, _| true).unwrap()
    }

    #[test]
    fn worlds_of_one_signature_leave_nothing_to_find_out() {
        assert_eq!(chosen([&[1], &[1]]), None);
        assert_eq!(chosen([&[], &[]]), None);
        // Of two worlds that are equally likely and of two signatures the answer tells one bit.
        for safe in [[&[1][..], &[]], [&[0], &[1]]] {
            let ((probe, information), rule) = chosen(safe).unwrap();
            assert_eq!((probe, rule), (0, ProbeRule::SafetyInformation));
            assert!((information - std::f64::consts::LN_2).abs() < 1e-15);
        }
    }

    #[test]
    fn rounding_enters_by_its_square() {
        for joint in [0.3, 1e-9, 1e-200] {
            let rounded = joint * (1.0 + 1e-13);
            assert!(dependence(joint, rounded).abs() < 1e-25 * joint);
            assert!(dependence(rounded, joint).abs() < 1e-25 * joint);
        }
        assert!((dependence(0.0, 0.25) - 0.25).abs() < f64::MIN_POSITIVE);
        // 0.5 ln 2 - 0.25.
        assert!((dependence(0.5, 0.25) - 0.096_573_590_279_972_65).abs() < 1e-16);
        // What is too small to be multiplied tells nothing.
        assert!(dependence(5e-324, 0.0).abs() < f64::MIN_POSITIVE);
        assert!(dependence(f64::NAN, 0.5).is_nan() && dependence(0.5, f64::NAN).is_nan());
    }
}
