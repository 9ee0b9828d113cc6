//! An adversary that knows threshold and probe rule and adds worlds to the proposal.

mod placement;
mod search;

use safecommit_conformal::Threshold;
use safecommit_core::Verification;

use self::placement::MOST;
use self::search::{ByWorlds, Found, Target, attack};
use super::chart::{Chart, Mark, Point};
use super::error::StudyError;
use super::report::{Report, claim};
use super::rule::VERIFYING;
use super::sheet::{Sheet, Value, per_cent};
use super::workbench::{Workbench, transposed};
use crate::counts::Estimate;
use crate::methods::{GenericOneProbe, SafeCommit, SingleWorld};
use crate::published::Claim;

/// A method under attack, by what is told of it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Attacked {
    name: &'static str,
    budget: u32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Certifies(Verification),
    SingleWorld,
    GenericOneProbe,
}

/// What single_world has to exceed to have fallen for the attack, in levels.
const FALLEN: f64 = 10.0;

pub(super) fn run(bench: &Workbench<'_>) -> Result<Report, StudyError> {
    let experiments = &bench.parameters().experiments;
    let cost = bench.parameters().generator.probe_cost.get();
    let attacked = attacked(experiments.max_probes);
    let by_run = bench.try_over_runs(|run| {
        let calibration = run.calibrated(experiments.alpha);
        let threshold = calibration.threshold();
        let targets = attacked
            .iter()
            .map(|attacked| attacked.target(bench, threshold))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(attack(run, threshold, cost, &targets))
    })?;
    let results: Vec<Attacks> = attacked
        .into_iter()
        .zip(transposed(by_run))
        .map(|(attacked, runs)| Attacks { attacked, runs })
        .collect();
    Ok(Report::new(
        "adversary",
        "An adversary that plants worlds: the worst that was found",
        &about(bench),
        &sheet(bench, &results),
        chart(bench, &results),
        claims(bench, &results),
    ))
}

fn about(bench: &Workbench<'_>) -> String {
    let alpha = bench.parameters().experiments.alpha;
    format!(
        "The adversary knows the true world, all scores, the threshold, rule and budget of the method, and the random \
         choices that it is going to make. It may add up to {MOST} poisoned worlds, each with a probe that asks about \
         it; it can remove no world, change no score and make no probe lie. A truthful answer never refutes the true \
         world, so an unsafe commit needs a true world that was not proposed or scores above the threshold, whatever \
         was added: P(unsafe commit) <= alpha = {alpha} under every placement, for every method with certificates. The \
         adversary places anew for every episode and method: 1 to {MOST} equal worlds, or two that differ, before or \
         after the episode's own; each allows one unsafe action, or all of them, or one beside the safe one, or none, and \
         scores 0, just above the best world, at the threshold or just above it. All of these are tried where the true \
         world is above the threshold. Where it is retained, all of equal plausible worlds that allow one unsafe action \
         or none, listed first, and one in {part} of all others to see that no unsafe commit follows. This is a search: \
         a better adversary may find more, up to the bound. TS and FR are under the attack that makes an unsafe commit \
         where one was found, else a fallback. Most FR is under the one that makes a fallback wherever one was found; by \
         claims, if every poisoned world has to allow some action. One that allows none blocks every certificate, and \
         a probe about it has no expected shrinkage (Eq. 12), since confirmed it would block as much: one is enough to \
         end most episodes in a fallback, whatever the budget. {}",
        crate::tables::UNITS,
        part = search::PART
    )
}

/// The methods, those with certificates first.
fn attacked(max_probes: u32) -> Vec<Attacked> {
    let certifying = |name, budget, verification| Attacked {
        name,
        budget,
        kind: Kind::Certifies(verification),
    };
    let mut attacked = vec![
        certifying("safecommit_no_probe", 0, Verification::Never),
        certifying("safecommit", max_probes, Verification::Never),
    ];
    for (name, verification) in VERIFYING {
        for budget in [max_probes, 2 * max_probes] {
            attacked.push(certifying(name, budget, verification));
        }
    }
    let uncertified = [
        ("single_world", 0, Kind::SingleWorld),
        ("generic_one_probe", 1, Kind::GenericOneProbe),
    ];
    attacked.extend(uncertified.map(|(name, budget, kind)| Attacked { name, budget, kind }));
    attacked
}

impl Attacked {
    fn certifies(self) -> bool {
        matches!(self.kind, Kind::Certifies(_))
    }

    fn target(self, bench: &Workbench<'_>, threshold: &Threshold) -> Result<Target, StudyError> {
        let temperature = bench.parameters().experiments.temperature.get();
        Ok(Target {
            certifies: self.certifies(),
            method: match self.kind {
                Kind::Certifies(verification) => {
                    let plain = SafeCommit::new(threshold, temperature, self.budget);
                    Box::new(plain.verifying(verification)?)
                }
                Kind::SingleWorld => Box::new(SingleWorld),
                Kind::GenericOneProbe => Box::new(GenericOneProbe::new(threshold)),
            },
        })
    }

    fn label(self) -> String {
        format!("{}, {} probes", self.name, self.budget)
    }
}

/// What was found against one method, run by run.
struct Attacks {
    attacked: Attacked,
    runs: Vec<Found>,
}

impl Attacks {
    fn share(&self, count: impl Fn(&Found) -> u64) -> Estimate {
        let share = |run: &Found| count(run) as f64 / run.episodes.max(1) as f64;
        Estimate::over(&self.runs.iter().map(share).collect::<Vec<_>>())
    }

    /// The share of episodes counted, with at most `worlds` poisoned worlds.
    fn within(&self, worlds: usize, counts: impl Fn(&Found) -> ByWorlds) -> Estimate {
        self.share(|run| counts(run)[worlds])
    }

    fn worst(&self, worlds: usize) -> Estimate {
        self.within(worlds, |run| run.unsafe_commits)
    }
}

fn sheet(bench: &Workbench<'_>, results: &[Attacks]) -> Sheet {
    let alpha = bench.parameters().experiments.alpha;
    let mut sheet = Sheet::new(
        &["method", "most probes", "poisoned worlds"],
        &[
            "UCR without attack",
            "worst UCR",
            "bound",
            "TS",
            "FR",
            "most FR",
            "most FR by claims",
        ],
    );
    for attacks in results {
        let attacked = attacks.attacked;
        for worlds in 1..=MOST {
            let bound = match attacked.certifies() {
                true => Value::Share(alpha.to_f64()),
                false => Value::text("none"),
            };
            sheet.push([
                Value::text(attacked.name),
                Value::text(attacked.budget.to_string()),
                Value::text(worlds.to_string()),
                Value::rate(attacks.worst(0)),
                Value::rate(attacks.worst(worlds)),
                bound,
                Value::rate(attacks.share(|run| run.episodes - run.failures[worlds])),
                Value::rate(attacks.share(|run| run.failures[worlds] - run.unsafe_commits[worlds])),
                Value::rate(attacks.within(worlds, |run| run.fallbacks)),
                Value::rate(attacks.within(worlds, |run| run.fallbacks_by_claims)),
            ]);
        }
    }
    sheet
}

fn chart(bench: &Workbench<'_>, results: &[Attacks]) -> Chart {
    let mut chart = Chart::new(
        "Worst unsafe commits found, methods with certificates",
        "poisoned worlds that the adversary may add",
        "UCR, per cent of episodes",
    );
    for attacks in results
        .iter()
        .filter(|attacks| attacks.attacked.certifies())
    {
        let points = (0..=MOST).map(|worlds| Point::per_cent(worlds as f64, attacks.worst(worlds)));
        chart = chart.with(attacks.attacked.label(), Mark::Line, points);
    }
    let bound = 100.0 * bench.parameters().experiments.alpha.to_f64();
    let ends = [0.0, MOST as f64].map(|x| Point::at(x, bound));
    chart.with("alpha", Mark::Limit, ends)
}

fn claims(bench: &Workbench<'_>, results: &[Attacks]) -> Vec<Claim> {
    let alpha = bench.parameters().experiments.alpha;
    let level = alpha.to_f64();
    let mut claims = Vec::new();
    let certified = || {
        results
            .iter()
            .filter(|attacks| attacks.attacked.certifies())
    };
    let sum = |count: fn(&Found) -> u64| -> u64 {
        certified()
            .flat_map(|attacks| &attacks.runs)
            .map(count)
            .sum()
    };
    let (decisions, unsafe_commits) = (
        sum(|run| run.retained_decisions),
        sum(|run| run.retained_unsafe),
    );
    claims.push(claim(
        "no method with certificates ever commits an unsafe action where the true world is retained, over all \
         placements tried",
        format!("{unsafe_commits} of {decisions} decisions"),
        unsafe_commits == 0 && decisions > 0,
    ));
    for attacks in certified() {
        let worst = attacks.worst(MOST);
        let above = attacks.share(|run| run.above);
        claims.push(claim(
            format!(
                "{}: worst UCR with up to {MOST} poisoned worlds is at most {alpha} + 3 standard errors",
                attacks.attacked.label()
            ),
            format!("{}; true world above the threshold {}", per_cent(worst), per_cent(above)),
            worst.mean <= level + 3.0 * worst.se,
        ));
    }
    for attacks in results {
        let worst = attacks.worst(1);
        match attacks.attacked.kind {
            Kind::Certifies(_) => {}
            Kind::SingleWorld => claims.push(claim(
                format!("single_world falls for one poisoned world: worst UCR at least {FALLEN} times {alpha}"),
                per_cent(worst),
                worst.mean >= FALLEN * level,
            )),
            Kind::GenericOneProbe => claims.push(claim(
                format!("generic_one_probe falls for one poisoned world: worst UCR above {alpha} + 3 standard errors"),
                per_cent(worst),
                worst.mean > level + 3.0 * worst.se,
            )),
        }
    }
    claims
}

#[cfg(test)]
mod tests;
