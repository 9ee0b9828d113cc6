//! What has to hold, fixed before the results were seen.

use safecommit_conformal::Alpha;
use safecommit_core::Verification;

use super::super::error::StudyError;
use super::super::report::claim;
use super::super::rule::Rule;
use super::super::sheet::per_cent;
use super::policy::{CONTROLLED, Cut, PAPER, Policy, Score};
use super::{PROBES, Row, STATED, stated};
use crate::published::Claim;

/// How much smaller than the paper's rule's the UCR of cheap verification has to be.
const A_FIFTH: f64 = 0.2;

/// What verifying the most plausible world has to reach.
const VERIFIED_UCR: f64 = 0.0015;
const VERIFIED_TS: f64 = 0.983;

/// `price` is the one that was chosen on validation.
pub(super) fn claims(rows: &[Row], alpha: Alpha, price: f64) -> Result<Vec<Claim>, StudyError> {
    let controlled: Alpha = CONTROLLED.parse()?;
    let level = |policy: Policy| match policy {
        Policy::SafeCommit(_, Cut::RiskControlled, ..) => controlled.to_f64(),
        _ => alpha.to_f64(),
    };
    let certified = rows.iter().filter(|row| row.policy.certifies());
    let margin = |row: &Row| (level(row.policy) - row.summary.ucr.mean) / row.summary.ucr.se;
    let closest = certified.min_by(|one, other| margin(one).total_cmp(&margin(other)));
    let mut claims: Vec<Claim> = closest
        .map(|row| {
            claim(
                "UCR of every certificate policy under every budget is at most its level + 3 s.e.",
                format!(
                    "closest {} at level {} per cent ({}, at most {} probes)",
                    per_cent(row.summary.ucr),
                    100.0 * level(row.policy),
                    row.policy.name(),
                    row.budget
                ),
                margin(row) >= -3.0,
            )
        })
        .into_iter()
        .collect();
    let verifying = |verification| {
        Policy::SafeCommit(Score::Default, Cut::Marginal, Rule::Greedy, verification)
    };
    if let Some(row) = stated(rows, verifying(Verification::MostPlausible)) {
        let (ucr, ts) = (row.summary.ucr, row.summary.ts);
        claims.push(claim(
            format!(
                "verifying the most plausible, at most {STATED} probes: UCR at most {:.2} and TS at least {:.1} per cent",
                100.0 * VERIFIED_UCR,
                100.0 * VERIFIED_TS
            ),
            format!("UCR {}, TS {}", per_cent(ucr), per_cent(ts)),
            ucr.mean <= VERIFIED_UCR && ts.mean >= VERIFIED_TS,
        ));
    }
    let cheap = stated(rows, verifying(Verification::WholeSupport { price }));
    if let (Some(row), Some(paper)) = (cheap, stated(rows, PAPER)) {
        let (ucr, bar) = (row.summary.ucr, paper.summary.ucr.mean);
        let probes = row.summary.probes;
        claims.push(claim(
            format!(
                "verifying the whole support above {price}: mean probes at most {PROBES} + 3 s.e., and UCR at most a fifth of \
                 the paper's rule's"
            ),
            format!(
                "{:.3} ± {:.3} probes, UCR {}, {:.3} of {:.2}",
                probes.mean,
                probes.se,
                per_cent(ucr),
                ucr.mean / bar,
                100.0 * bar
            ),
            probes.mean <= PROBES + 3.0 * probes.se && ucr.mean <= A_FIFTH * bar,
        ));
    }
    Ok(claims)
}
