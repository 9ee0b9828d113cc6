//! What a calibration promises, and under which assumption, in words.

use std::fmt::Write as _;

use anyhow::Result;
use safecommit_conformal::{
    Calibration, Delta, Guarantee, MondrianCalibration, Representation, Stratum, Weight,
    WeightedScores, ranks,
};

/// The summary of a calibration for all cases.
pub(super) fn of_one(calibration: &Calibration) -> Result<String> {
    let (n, missing, rank) = (calibration.n(), calibration.missing(), calibration.rank());
    let alpha = calibration.alpha();
    let mut text =
        format!("n = {n} cases, {missing} of them missing; alpha = {alpha}; rank = {rank}\n");
    match calibration.threshold().finite() {
        Some(threshold) => {
            text.push_str(&format!("threshold = {threshold}\n"));
            text.push_str(&promise(calibration));
        }
        None => {
            text.push_str(UNBOUNDED);
            text.push_str(&why_unbounded(calibration));
        }
    }
    text.push_str(&beta(&calibration.representation())?);
    Ok(text)
}

/// The summary of a calibration for cases to come of another mix, none of which weighs more than `case`.
pub(super) fn of_weighted(
    calibration: &Calibration,
    weighted: &WeightedScores,
    case: Weight,
) -> String {
    let (n, missing, alpha) = (calibration.n(), calibration.missing(), calibration.alpha());
    let size = weighted.effective_size().value();
    let mut text = format!(
        "n = {n} cases, {missing} of them missing; alpha = {alpha}; effective size = {size:.1}\n"
    );
    let event = event(calibration);
    match calibration.threshold().finite() {
        Some(threshold) => text.push_str(&format!(
            "threshold = {threshold}\n\
             guarantee (weighted): P({event}) >= 1 - {alpha} for cases to come of the mix that the \
             weights describe,\nassuming that nothing but the mix differs from the calibration \
             cases, that no case to come weighs more than {case}, and that the weights are right: \
             estimated ones cost at most the total variation between the mix that they describe \
             and the true one\n"
        )),
        None => {
            text.push_str(UNBOUNDED);
            text.push_str(&match observed_share(weighted, case) {
                None => "no calibration case has a weight above 0\n".to_owned(),
                Some(share) => format!(
                    "the observed scores carry {share:.6} of all weight, that of the case to come \
                     ({case}) included; alpha = {alpha} takes at least 1 - {alpha}\n"
                ),
            });
        }
    }
    text.push_str(&match missing {
        0 => {
            "beta = unknown: whether true worlds went unproposed cannot be told from these scores\n"
                .to_owned()
        }
        _ => format!(
            "beta: the true world was not proposed in {missing} of {n} calibration cases, which \
             bounds nothing under another mix\n"
        ),
    });
    text
}

/// The summary of calibrations by stratum; `pool` is the one on all cases.
pub(super) fn by_stratum(
    mondrian: &MondrianCalibration,
    pool: &Calibration,
    fields: &[String],
) -> Result<String> {
    let (n, missing, alpha) = (pool.n(), pool.missing(), mondrian.alpha());
    let needed = mondrian.taxonomy().cases_needed(alpha);
    let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
    let mut text = format!(
        "n = {n} cases, {missing} of them missing; alpha = {alpha}; by {}, a stratum needs {needed} \
         cases\n",
        fields.join(", ")
    );
    for stratum in mondrian.taxonomy().strata() {
        text.push_str(&line_of(mondrian, stratum, needed)?);
    }
    write!(
        text,
        "guarantee (group): P({}) >= 1 - {alpha} in each stratum, over its calibration cases and its \
         next case together,\nor over the larger group only for a stratum that falls back; assuming \
         that cases are exchangeable within the group,\nand that the stratum of a case follows from \
         what is known before its true world is; requests of another stratum, or of none, escalate\n",
        event(pool)
    )?;
    text.push_str(&beta(&pool.representation())?);
    Ok(text)
}

fn line_of(mondrian: &MondrianCalibration, stratum: &Stratum, needed: u64) -> Result<String> {
    let calibration = mondrian.calibration(stratum)?;
    let own = mondrian.cases(stratum);
    let count = |n: u64| format!("{n} case{}", if n == 1 { "" } else { "s" });
    let mut line = format!("`{stratum}`: {}", count(own));
    if own < needed {
        line.push_str(", too few");
        if let Guarantee::Group(group) = calibration.guarantee()
            && !group.is_conditional()
        {
            let (achieved, n) = (group.achieved(), count(calibration.n()));
            write!(line, ": falls back to `{achieved}`, {n}")?;
        }
    }
    match calibration.threshold().finite() {
        Some(threshold) => writeln!(line, "; threshold = {threshold}")?,
        None => write!(line, "; UNBOUNDED: {}", why_unbounded(&calibration))?,
    }
    Ok(line)
}

const UNBOUNDED: &str =
    "WARNING: the threshold is UNBOUNDED: no world will be excluded by its score.\n";

fn why_unbounded(calibration: &Calibration) -> String {
    let (missing, rank) = (calibration.missing(), calibration.rank());
    let (alpha, observed) = (calibration.alpha(), calibration.n() - missing);
    let at = match calibration.guarantee() {
        Guarantee::TrainingConditional { delta } | Guarantee::Simultaneous { delta } => {
            format!("alpha = {alpha} at delta = {}", delta.value())
        }
        _ => format!("alpha = {alpha}"),
    };
    let needed = match cases_needed(|n| rank_of(calibration, n), missing) {
        Some(needed) => format!("at least {needed} cases"),
        None => "more cases than can be counted".to_owned(),
    };
    let provided = match missing {
        0 => String::new(),
        missing => format!(" if no more than {missing} are missing"),
    };
    format!(
        "rank {rank} exceeds the {observed} scores that were observed; {at} takes \
         {needed}{provided}\n"
    )
}

fn promise(calibration: &Calibration) -> String {
    let (event, alpha) = (event(calibration), calibration.alpha());
    let this_set = |delta: Delta, levels: &str, name: &str| {
        let delta = delta.value();
        format!(
            "guarantee ({name}): with probability at least 1 - {delta} over the calibration cases, \
             P({event}) >= 1 - {alpha} for the next case{levels},\nassuming that all cases are \
             independent and of one distribution; {NOT_FOR}\n"
        )
    };
    match calibration.guarantee() {
        Guarantee::Marginal => format!(
            "guarantee (marginal): P({event}) >= 1 - {alpha}, over calibration cases and the next \
             case together,\nassuming that they are exchangeable; {NOT_FOR}\n"
        ),
        Guarantee::TrainingConditional { delta } => this_set(*delta, "", "training-conditional"),
        Guarantee::Simultaneous { delta } => this_set(
            *delta,
            ", and so for every alpha at once, one chosen after seeing the scores included",
            "simultaneous",
        ),
        other => format!("guarantee: {other}\n"),
    }
}

const NOT_FOR: &str = "not for a subgroup of cases, and not after a change of tools, memory policy \
                       or tasks";

fn event(calibration: &Calibration) -> &'static str {
    match calibration.representation() {
        Representation::Counted(_) => "the true world is proposed and its score <= threshold",
        Representation::NotMeasured => {
            "the true world's score <= threshold, given that it is proposed"
        }
    }
}

fn beta(representation: &Representation) -> Result<String> {
    Ok(match representation {
        Representation::NotMeasured => {
            "beta = unknown: whether true worlds went unproposed cannot be told from these scores \
             (--misses-counted says that every case is listed)\n"
                .to_owned()
        }
        Representation::Counted(misses) => format!(
            "beta: the true world was not proposed in {} of {} cases, at most {:.6} with confidence 95%\n",
            misses.missing(),
            misses.cases(),
            misses.upper_bound(Delta::new(0.05)?)?,
        ),
    })
}

/// The rank among `n` scores under the calibration's guarantee.
fn rank_of(calibration: &Calibration, n: u64) -> Option<u64> {
    let alpha = calibration.alpha();
    match calibration.guarantee() {
        Guarantee::TrainingConditional { delta } => {
            ranks::training_conditional(alpha, n, *delta).ok()
        }
        Guarantee::Simultaneous { delta } => ranks::simultaneous(alpha, n, *delta).ok(),
        _ => Some(alpha.rank(n)),
    }
}

/// The smallest n for which the rank stays within the observed scores when `missing` are not; `None` if
/// there is none for which there is a rank. More scores never allow fewer above the threshold.
fn cases_needed(rank: impl Fn(u64) -> Option<u64>, missing: u64) -> Option<u64> {
    let enough = |n: u64| Some(n >= missing && rank(n)? <= n - missing);
    let mut high = 1_u64;
    while !enough(high)? {
        high = high.checked_mul(2)?;
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// The share of the observed scores in the weight of all cases and of the one to come; `None` if no
/// calibration case weighs anything.
fn observed_share(weighted: &WeightedScores, case: Weight) -> Option<f64> {
    let weights = || weighted.weights().iter().map(|weight| weight.value());
    let largest = weights().fold(0.0, f64::max);
    if largest <= 0.0 {
        return None;
    }
    let scale = largest.max(case.value());
    let total: f64 = weights().map(|weight| weight / scale).sum();
    let observed: f64 = weights()
        .zip(weighted.scores())
        .filter(|(_, score)| !score.is_missing())
        .map(|(weight, _)| weight / scale)
        .sum();
    Some(observed / (total + case.value() / scale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use safecommit_conformal::Alpha;

    #[test]
    fn the_cases_needed_are_the_fewest_that_bound_the_threshold() {
        for alpha in ["0.5", "0.1", "0.05", "0.3", "0.999", "0.07"] {
            let alpha: Alpha = alpha.parse().unwrap();
            for missing in [0, 1, 7] {
                let enough = |n: u64| n >= missing && alpha.rank(n) <= n - missing;
                let needed = cases_needed(|n| Some(alpha.rank(n)), missing).unwrap();
                assert!(enough(needed), "{alpha} {missing}");
                assert!((0..needed).all(|fewer| !enough(fewer)), "{alpha} {missing}");
            }
        }
        // ceil(ln delta / ln(1 - alpha)), and ln(1 / delta) / (2 alpha^2).
        let delta = Delta::new(0.05).unwrap();
        for (alpha, own, all) in [("0.1", 29, 150), ("0.05", 59, 600), ("0.01", 299, 14_979)] {
            let alpha = alpha.parse().unwrap();
            let needed = cases_needed(|n| ranks::training_conditional(alpha, n, delta).ok(), 0);
            assert_eq!(needed, Some(own), "{alpha}");
            let needed = cases_needed(|n| ranks::simultaneous(alpha, n, delta).ok(), 0);
            assert_eq!(needed, Some(all), "{alpha}");
        }
        let tiny = "0.000000000000000001".parse().unwrap();
        assert_eq!(
            cases_needed(|n| ranks::simultaneous(tiny, n, delta).ok(), 0),
            None
        );
    }

    #[test]
    fn the_observed_share_neither_overflows_nor_vanishes() {
        let weight = |value: f64| Weight::try_from(value).unwrap();
        let scores = ["1", "2", "missing", "3"].map(|score| score.parse().unwrap());
        let share = |value: f64, case: f64| {
            let weighted = WeightedScores::new(&scores, &[weight(value); 4]).unwrap();
            observed_share(&weighted, weight(case))
        };
        for value in [1.0, 1e308, 5e-324] {
            let found = share(value, value).unwrap();
            assert!((found - 0.6).abs() < 1e-12, "{value}: {found}");
        }
        assert_eq!(share(0.0, 1.0), None);
        assert!(share(1.0, 1e308).unwrap() < 1e-300);
    }
}
