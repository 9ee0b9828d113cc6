//! A decision as text for people.

use comfy_table::{CellAlignment, Table, presets};
use safecommit_core::{
    ActionRecord, BoundRecord, DecisionKind, DecisionRecord, ProbeRule, Purpose,
    RepresentationRecord, RepresentationSource, WorldFate, WorldRecord,
};

use crate::terminal::one_line;

/// The verdict alone on the first line, then what it rests on, then where everything stands. Names come from
/// the request, so each is made harmless to a terminal.
pub(crate) fn render(record: &DecisionRecord) -> String {
    let mut text = verdict(record);
    text.push('\n');
    for part in [
        basis(record),
        actions(&record.actions),
        worlds(&record.worlds),
        observed(record),
        threshold(record),
        bound(&record.bound),
    ] {
        if !part.is_empty() {
            text.push('\n');
            text.push_str(part.trim_end());
            text.push('\n');
        }
    }
    text
}

pub(crate) fn verdict(record: &DecisionRecord) -> String {
    let mut line = match record.decision {
        DecisionKind::Commit => "COMMIT".to_owned(),
        DecisionKind::Probe => "PROBE".to_owned(),
        DecisionKind::Defer => "DEFER".to_owned(),
        DecisionKind::Escalate => "ESCALATE".to_owned(),
        DecisionKind::Abstain => "ABSTAIN".to_owned(),
    };
    let subject = record
        .action
        .as_ref()
        .or(record.probe.as_ref().map(|probe| &probe.id));
    if let Some(subject) = subject {
        line.push(' ');
        line.push_str(&one_line(subject));
    }
    if let Some(id) = &record.id {
        line.push_str(&format!("\nrequest: {}", one_line(id)));
    }
    if let Some(stratum) = &record.stratum {
        line.push_str(&format!("\nstratum: {}", one_line(&stratum.to_string())));
    }
    line
}

/// The certificate of a commit, the expected shrinkage of a probe, the reason of a fallback.
pub(crate) fn basis(record: &DecisionRecord) -> String {
    if let Some(certificate) = &record.certificate {
        return format!(
            "certificate: `{}` is safe in every plausible world: {}\nbound to this request, {} reported so far (subject {})",
            one_line(&certificate.action),
            names(&certificate.safe_in),
            count(certificate.observations, "probe"),
            record.subject,
        );
    }
    if let Some(probe) = &record.probe {
        let purpose = match probe.purpose {
            Purpose::Certify => "",
            Purpose::Verify => {
                "an action is certified; this verifies the certificate before what cannot be undone\n"
            }
        };
        let rule = match probe.rule {
            ProbeRule::Shrinkage | ProbeRule::MostPlausible => "",
            ProbeRule::Optimal => "chosen for the least expected cost to a certificate\n",
            ProbeRule::Rollout => {
                "chosen for the least expected cost when shrinkage chooses from then on\n"
            }
            ProbeRule::InformationGain => {
                "chosen for the information that it gains per unit of cost\n"
            }
            ProbeRule::SafetyInformation => {
                "chosen for the information about what is safe that it gains per unit of cost\n"
            }
            ProbeRule::Random => "drawn at random from the seed\n",
        };
        return format!(
            "{purpose}{rule}expected certificate shrinkage: {} at a cost of {}, {} per unit of cost\nreport one of: {}",
            share(probe.expected_shrinkage),
            probe.cost,
            share(probe.score),
            names(&probe.outcomes),
        );
    }
    match &record.fallback {
        Some(fallback) => format!(
            "reason: {} ({})",
            one_line(&fallback.explanation),
            one_line(&fallback.reason)
        ),
        None => String::new(),
    }
}

fn actions(actions: &[ActionRecord]) -> String {
    let mut table = table(["action", "certified", "blocked by", "uncertified mass"]);
    for action in actions {
        table.add_row([
            one_line(&action.id),
            if action.certified { "yes" } else { "no" }.to_owned(),
            match action.residual_mass {
                None => "(no world is plausible)".to_owned(),
                Some(_) => names_or_dash(&action.blocked_by),
            },
            action.residual_mass.map_or_else(dash, share),
        ]);
    }
    align_right(&mut table, 3);
    lines_of(&table)
}

fn worlds(worlds: &[WorldRecord]) -> String {
    if worlds.is_empty() {
        return "no world was proposed".to_owned();
    }
    let mut table = table(["world", "score", "weight", "stands"]);
    for world in worlds {
        table.add_row([
            one_line(&world.id),
            world.score.to_string(),
            world.weight.map_or_else(dash, share),
            standing(world),
        ]);
    }
    align_right(&mut table, 1);
    align_right(&mut table, 2);
    lines_of(&table)
}

fn standing(world: &WorldRecord) -> String {
    let by = one_line(world.removed_by.as_deref().unwrap_or("?"));
    match world.fate {
        WorldFate::Plausible => "plausible".to_owned(),
        WorldFate::AboveThreshold => "out: score above the threshold".to_owned(),
        WorldFate::Contradicted => format!("out: hard evidence: {by}"),
        WorldFate::Refuted => format!("out: refuted by `{by}`"),
    }
}

pub(crate) fn observed(record: &DecisionRecord) -> String {
    if record.observed.is_empty() {
        return String::new();
    }
    let mut text = "observed:".to_owned();
    for observation in &record.observed {
        let outcome = match &observation.outcome {
            Some(outcome) => format!("`{}`", one_line(outcome)),
            None => "no answer".to_owned(),
        };
        text.push_str(&format!(
            "\n  `{}`: {outcome}",
            one_line(&observation.probe)
        ));
    }
    text
}

pub(crate) fn threshold(record: &DecisionRecord) -> String {
    let threshold = match record.threshold {
        Some(threshold) => threshold.to_string(),
        None => "unbounded, no world is excluded by its score".to_owned(),
    };
    let calibration = match &record.calibration {
        Some(calibration) => format!(
            "calibrated on {} at alpha {}, rank {}, {} guarantee",
            count(calibration.n as usize, "case"),
            calibration.alpha,
            calibration.rank,
            one_line(&calibration.guarantee.to_string()),
        ),
        None => "not calibrated".to_owned(),
    };
    let reopened = if record.reopened {
        "\nreopened: answers refuted every world below the threshold, so the worlds left above it count"
    } else {
        ""
    };
    format!("threshold: {threshold} ({calibration}){reopened}")
}

/// The bound term by term; a term that nobody knows is called so.
pub(crate) fn bound(bound: &BoundRecord) -> String {
    let mut terms = vec![
        match bound.alpha {
            Some(alpha) => format!("alpha {alpha}"),
            None => "alpha 0 (no world is excluded by its score)".to_owned(),
        },
        beta(&bound.beta),
    ];
    terms.extend(bound.probe_errors.iter().map(|error| {
        format!(
            "error rate {} of `{}`",
            error.error_rate,
            one_line(&error.probe)
        )
    }));
    let total = match bound.total {
        Some(total) => format!("\n  = {}", rounded_up(total)),
        None => String::new(),
    };
    format!(
        "P(unsafe commit) <= alpha + beta + error rates of probes\n  = {}{total}",
        terms.join("\n  + ")
    )
}

fn beta(beta: &RepresentationRecord) -> String {
    let value = match beta.value {
        Some(value) => rounded_up(value),
        None => "unknown".to_owned(),
    };
    // Counts among weighted cases bound nothing, and none are shown.
    let missed = match beta.missing {
        None => String::new(),
        Some(missing) => format!(
            "; calibration cases without their true world: {missing}, so beta is at most {} with \
             confidence 95%",
            beta.upper_95.map_or_else(dash, rounded_up)
        ),
    };
    match beta.source {
        RepresentationSource::Unknown => {
            format!("beta {value} (nobody measured how often the true world is not proposed)")
        }
        RepresentationSource::Request => format!("beta {value} (stated by the request)"),
        RepresentationSource::CoveredByAlpha => {
            format!("beta {value} (covered by alpha{missed})")
        }
        RepresentationSource::Calibration => {
            format!("beta {value} (bounded by the calibration{missed})")
        }
    }
}

pub(crate) fn table<const COLUMNS: usize>(header: [&str; COLUMNS]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    for column in table.column_iter_mut() {
        column.set_padding((0, 3));
    }
    table
}

pub(crate) fn align_right(table: &mut Table, column: usize) {
    if let Some(column) = table.column_mut(column) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

pub(crate) fn lines_of(table: &Table) -> String {
    let lines: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    lines.join("\n")
}

pub(crate) fn names(names: &[String]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", one_line(name)))
        .collect();
    quoted.join(", ")
}

fn names_or_dash(list: &[String]) -> String {
    if list.is_empty() { dash() } else { names(list) }
}

fn dash() -> String {
    "-".to_owned()
}

pub(crate) fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// A share to four decimals; what would round to nothing or to everything is shown as it is.
pub(crate) fn share(value: f64) -> String {
    let rounded = format!("{value:.4}");
    let hides = (rounded == "0.0000" && value != 0.0) || (rounded == "1.0000" && value < 1.0);
    if hides { format!("{value:e}") } else { rounded }
}

/// A term of a bound to six decimals, not below its value. A sum of decimals, which is rounded up in its
/// last bits already, is shown as the decimals add up.
pub(crate) fn rounded_up(value: f64) -> String {
    let mut shown = format!("{value:.6}");
    let at_least = value * (1.0 - 1e-14);
    if shown.parse().is_ok_and(|below: f64| below < at_least) {
        shown = format!("{:.6}", (value * 1e6).ceil() / 1e6);
    }
    let trimmed = shown.trim_end_matches('0').trim_end_matches('.');
    trimmed.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_do_not_round_away() {
        assert_eq!(share(0.0), "0.0000");
        assert_eq!(share(0.25), "0.2500");
        assert_eq!(share(1.0), "1.0000");
        assert_eq!(share(1e-9), "1e-9");
        assert_eq!(share(1.0 - 1e-12), "9.99999999999e-1");
    }

    #[test]
    fn bounds_round_up() {
        for value in [
            0.05,
            0.1 + 0.2,
            1e-9,
            0.123_456_4,
            0.05 + 1e-14,
            1e-300,
            1.0,
            0.0,
        ] {
            let shown: f64 = rounded_up(value).parse().unwrap();
            assert!(shown >= value * (1.0 - 1e-14), "{value}: {shown}");
            assert!(shown - value <= 1e-6, "{value}: {shown}");
        }
        assert_eq!(rounded_up(0.05), "0.05");
        assert_eq!(rounded_up((0.05_f64 + 0.001).next_up()), "0.051");
        assert_eq!(rounded_up(0.05 + 1e-14), "0.050001");
        assert_eq!(rounded_up(1.0), "1");
        assert_eq!(rounded_up(0.0), "0");
    }
}
