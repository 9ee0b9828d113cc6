//! What `calibrate` may be asked for.

use clap::builder::NonEmptyStringValueParser;
use safecommit_conformal::{Alpha, Delta, Stratum, Taxonomy, Weight, ranks};

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
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct CalibrateArguments {
    /// File of scores; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    scores: Source,

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
    /// from the whole to the part. A stratum with too few cases falls back to the group around it
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
    pub(crate) scores: Source,
    pub(crate) alpha: Alpha,
    pub(crate) kind: Kind,
    /// Without meaning for text.
    pub(crate) columns: Columns,
    pub(crate) misses_counted: bool,
    pub(crate) promise: Promise,
    /// Standard output if `-` or `None`.
    pub(crate) out: Option<Source>,
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
        let kind = self.input.unwrap_or_else(|| Kind::of(&self.scores));
        let GuaranteeArguments { by, weight, .. } = &self.guarantee;
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
        let promise = self.guarantee.check(self.alpha)?;
        if let Promise::ByStratum {
            declared: Declared::In(strata),
            ..
        } = &promise
            && strata.is_stdin()
            && self.scores.is_stdin()
        {
            return Err(conflict(
                "the scores and the strata cannot both come from standard input",
            ));
        }
        Ok(Calibrate {
            scores: self.scores,
            alpha: self.alpha,
            kind,
            columns,
            misses_counted: self.misses_counted,
            promise,
            out: self.out,
        })
    }
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
