//! What `calibrate` may be asked for.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use safecommit_conformal::{Alpha, Delta, Stratum, Taxonomy, Weight, ranks};
use safecommit_gate::audit::GroupBy;

use super::{EXIT_CODES, bad_value, conflict};
use crate::input::Source;
use crate::scores::{Columns, Kind};

/// Compute a conformal threshold from calibration scores.
///
/// The scores are those of the true worlds of held-out cases, one a case, larger is stranger. The
/// threshold is the r-th smallest with r = (n + 1) - floor((n + 1) alpha), or with a higher r for a
/// stronger guarantee; it is unbounded if there are too few scores for that. A case whose true world
/// was never proposed is not left out: write `missing` (text, CSV) or null (JSONL). No scores at all
/// give an unbounded threshold.
///
/// With --audit they come from the decisions of an audit log whose truth is known, and the calibration is
/// one for the gate: it names the version of the score. Where a label tells the safe actions alone, the
/// largest score counts among the worlds in which just these are safe.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct CalibrateArguments {
    /// File of scores; `-` reads standard input
    #[arg(long, value_name = "FILE", required_unless_present = "audit")]
    scores: Option<Source>,

    /// Audit log of a gate, in place of scores
    #[arg(
        long,
        value_name = "DB",
        requires = "labels",
        conflicts_with_all = ["scores", "field", "input", "misses_counted", "weight"]
    )]
    audit: Option<PathBuf>,

    /// With --audit: what turned out to be true, JSONL as for `safecommit audit diagnose`, with decisions
    /// and actions named as the log names them; `-` reads standard input
    #[arg(long, value_name = "FILE", requires = "audit")]
    labels: Option<Source>,

    /// Miscoverage level: a decimal strictly between 0 and 1, such as 0.05
    #[arg(long, value_name = "ALPHA", allow_negative_numbers = true)]
    alpha: Alpha,

    /// Name of the field or column that holds the score [default: score]; not for text
    #[arg(long, value_name = "NAME")]
    field: Option<String>,

    /// Form of the scores [default: by the file's extension: .jsonl, .ndjson, .csv, else text]
    #[arg(long, value_enum, value_name = "KIND")]
    input: Option<Kind>,

    /// Say that every case is listed, those whose true world was not proposed included, so that no
    /// missing score means that there was none; else that share (beta) counts as unknown
    #[arg(long)]
    misses_counted: bool,

    /// Where to write the calibration, replaced atomically; standard output by default and for `-`
    #[arg(long, value_name = "FILE")]
    out: Option<Source>,

    #[command(flatten)]
    guarantee: GuaranteeArguments,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Guarantee [default: marginal]")]
struct GuaranteeArguments {
    /// Training-conditional: with probability at least 1 - DELTA this very set of cases covers at
    /// least 1 - alpha of the cases to come
    #[arg(long, value_name = "DELTA", allow_negative_numbers = true)]
    delta: Option<Delta>,

    /// With --delta (at most 0.5): for every alpha at once, one chosen after seeing the scores included
    #[arg(long, requires = "delta")]
    simultaneous: bool,

    /// By stratum: a threshold for each group of cases, as these fields or columns tell them apart,
    /// from the whole to the part. A stratum with too few cases falls back to the group around it. With
    /// --audit: some of family, severity, source
    #[arg(
        long,
        value_name = "FIELD,...",
        value_delimiter = ',',
        value_parser = NonEmptyStringValueParser::new(),
        conflicts_with = "delta"
    )]
    by: Vec<String>,

    /// With --by: declare a stratum, such as delete/high; may be repeated. By default the strata are
    /// those that the cases are of
    #[arg(long, value_name = "PATH", requires = "by", conflicts_with = "strata")]
    stratum: Vec<Stratum>,

    /// With --by: declare the strata in a text file, one a line
    #[arg(long, value_name = "FILE", requires = "by")]
    strata: Option<Source>,

    /// With --by: a stratum with fewer cases falls back, even if a finite rank needs fewer
    #[arg(long, value_name = "N", requires = "by")]
    minimum: Option<u64>,

    /// Weighted: for a mix of cases to come that differs from that of the calibration cases. The field
    /// or column holds the density of the new mix relative to the old, up to one factor for all
    #[arg(
        long,
        value_name = "FIELD",
        requires = "case_weight",
        conflicts_with_all = ["delta", "by", "misses_counted"]
    )]
    weight: Option<String>,

    /// With --weight: the weight of the cases to come, or the largest that one of them may have
    #[arg(
        long,
        value_name = "W",
        requires = "weight",
        allow_negative_numbers = true
    )]
    case_weight: Option<Weight>,
}

/// What `calibrate` was asked for.
#[derive(Debug)]
pub(crate) struct Calibrate {
    pub(crate) origin: Origin,
    pub(crate) alpha: Alpha,
    /// What strata are made of: fields, or parts of a decision's group.
    pub(crate) by: Vec<String>,
    pub(crate) misses_counted: bool,
    pub(crate) promise: Promise,
    /// Standard output if `-` or `None`.
    pub(crate) out: Option<Source>,
}

/// Where the cases come from.
#[derive(Debug)]
pub(crate) enum Origin {
    Scores {
        source: Source,
        kind: Kind,
        /// Without meaning for text.
        columns: Columns,
    },
    Audit {
        log: PathBuf,
        labels: Source,
        by: Vec<GroupBy>,
    },
}

impl Origin {
    /// The file that has a line for each case.
    pub(crate) fn lines(&self) -> &Source {
        match self {
            Self::Scores { source, .. } => source,
            Self::Audit { labels, .. } => labels,
        }
    }
}

/// What the threshold is to promise.
#[derive(Debug)]
pub(crate) enum Promise {
    Marginal,
    TrainingConditional(Delta),
    Simultaneous(Delta),
    ByStratum { declared: Declared, minimum: u64 },
    Weighted { case: Weight },
}

/// The strata that are told apart.
#[derive(Debug)]
pub(crate) enum Declared {
    AsSeen,
    Listed(Taxonomy),
    In(Source),
}

impl CalibrateArguments {
    pub(crate) fn check(self) -> Result<Calibrate, clap::Error> {
        let by = self.guarantee.by.clone();
        // All labelled decisions count, those whose true world was not proposed included.
        let misses_counted = self.misses_counted || self.audit.is_some();
        let (alpha, out) = (self.alpha, self.out.clone());
        let (origin, guarantee) = self.origin()?;
        let promise = guarantee.check(alpha)?;
        if let Promise::ByStratum {
            declared: Declared::In(strata),
            ..
        } = &promise
            && strata.is_stdin()
            && origin.lines().is_stdin()
        {
            let cases = match origin {
                Origin::Scores { .. } => "scores",
                Origin::Audit { .. } => "labels",
            };
            return Err(conflict(&format!(
                "the {cases} and the strata cannot both come from standard input"
            )));
        }
        Ok(Calibrate {
            origin,
            alpha,
            by,
            misses_counted,
            promise,
            out,
        })
    }

    fn origin(self) -> Result<(Origin, GuaranteeArguments), clap::Error> {
        let GuaranteeArguments { by, weight, .. } = &self.guarantee;
        let source = match (self.scores, self.audit, self.labels) {
            (Some(source), None, _) => source,
            (None, Some(log), Some(labels)) => {
                let by = parts(by)?;
                return Ok((Origin::Audit { log, labels, by }, self.guarantee));
            }
            // The parser does not let these through.
            _ => {
                return Err(conflict(
                    "either --scores or --audit with --labels is needed",
                ));
            }
        };
        let kind = self.input.unwrap_or_else(|| Kind::of(&source));
        if kind == Kind::Text {
            for (option, given) in [
                ("--field", self.field.is_some()),
                ("--by", !by.is_empty()),
                ("--weight", weight.is_some()),
            ] {
                if given {
                    return Err(conflict(&format!(
                        "{option} names a field of JSONL or a column of CSV, but the scores are \
                         text (say --input if they are not)"
                    )));
                }
            }
        }
        let columns = Columns {
            score: self.field.unwrap_or_else(|| "score".to_owned()),
            by: by.clone(),
            weight: weight.clone(),
        };
        if let Some(twice) = columns.twice() {
            return Err(conflict(&format!("the field `{twice}` is named twice")));
        }
        let origin = Origin::Scores {
            source,
            kind,
            columns,
        };
        Ok((origin, self.guarantee))
    }
}

/// The parts of a decision's group by their names.
fn parts(names: &[String]) -> Result<Vec<GroupBy>, clap::Error> {
    let mut parts = Vec::with_capacity(names.len());
    for name in names {
        let part = match name.as_str() {
            "family" => GroupBy::Family,
            "severity" => GroupBy::Severity,
            "source" => GroupBy::Source,
            _ => {
                return Err(bad_value(format!(
                    "a log tells decisions apart by family, severity and source, not by `{name}`"
                )));
            }
        };
        if parts.contains(&part) {
            return Err(conflict(&format!("the field `{name}` is named twice")));
        }
        parts.push(part);
    }
    Ok(parts)
}

impl GuaranteeArguments {
    fn check(self, alpha: Alpha) -> Result<Promise, clap::Error> {
        if let Some(case) = self.case_weight {
            return Ok(Promise::Weighted { case });
        }
        if let Some(delta) = self.delta {
            if !self.simultaneous {
                return Ok(Promise::TrainingConditional(delta));
            }
            return match ranks::simultaneous(alpha, 0, delta) {
                Ok(_) => Ok(Promise::Simultaneous(delta)),
                Err(error) => Err(bad_value(error)),
            };
        }
        if self.by.is_empty() {
            return Ok(Promise::Marginal);
        }
        let declared = match self.strata {
            Some(source) => Declared::In(source),
            None if self.stratum.is_empty() => Declared::AsSeen,
            None => Declared::Listed(Taxonomy::new(self.stratum).map_err(bad_value)?),
        };
        Ok(Promise::ByStratum {
            declared,
            minimum: self.minimum.unwrap_or(0),
        })
    }
}
