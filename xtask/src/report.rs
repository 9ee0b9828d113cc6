//! What `cargo xtask reproduce` prints: the tables of the experiments, and the paper's figures and ours
//! side by side.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use safecommit_bench::beyond::Report;
use safecommit_bench::{Bound, CAUTION, Claim, Findings, LEGEND, PROVENANCE, TOLERANCES, UNITS};

/// The report, without times.
pub(crate) fn paper(tables: &[safecommit_bench::Table], findings: &Findings) -> String {
    let mut text = format!("{PROVENANCE}\n{CAUTION}\n\n{LEGEND}\n{UNITS}\n");
    for table in tables.iter().filter(|table| !table.figures().is_empty()) {
        text.push_str(&format!("\n{}\n{}", table.title(), table.figures()));
    }
    text.push_str(
        "\nPublished and ours, all of them matched (rates in per cent, probes as a mean)\n",
    );
    text.push_str(&comparisons(findings));
    text.push_str("\nPublished statements\n");
    text.push_str(&claims(std::slice::from_ref(&findings.setting)));
    text.push_str(&claims(&findings.claims));
    text.push_str("\nGuarantees (not in the paper's tables)\n");
    text.push_str(&claims(&findings.guarantees));
    text.push_str(&bounds(&findings.bounds));
    text
}

/// The tables of studies beyond the paper, without times.
pub(crate) fn beyond(reports: &[Report]) -> String {
    if reports.is_empty() {
        return String::new();
    }
    let mut text = "\nBeyond the paper (every figure is new)\n".to_owned();
    for report in reports {
        let table = report.table();
        text.push_str(&format!("\n{}\n{}", table.title(), table.figures()));
        text.push_str(&claims(report.claims()));
    }
    text
}

fn comparisons(findings: &Findings) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        // Wide enough for every cell, whatever the terminal: a wrapped number is hard to read.
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header([
            "experiment",
            "cell",
            "metric",
            "published",
            "ours",
            "s.e.",
            "difference",
            "in s.e.",
            "tolerance",
            "",
        ]);
    for cell in &findings.comparisons {
        let decimals = cell.metric.decimals();
        let or_none = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
        table.add_row([
            cell.experiment.name().to_owned(),
            cell.cell.clone(),
            cell.metric.name().to_owned(),
            format!("{:.1$}", cell.published, decimals - 1),
            or_none(cell.ours.map(|ours| format!("{:.decimals$}", ours.mean))),
            or_none(cell.ours.map(|ours| format!("{:.3}", ours.se))),
            or_none(
                cell.difference()
                    .map(|value| format!("{value:+.decimals$}")),
            ),
            or_none(cell.standard_errors().map(|value| format!("{value:+.1}"))),
            cell.tolerance.to_string(),
            if cell.holds() { "within" } else { "OUTSIDE" }.to_owned(),
        ]);
    }
    for column in 3..9 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{table}\n")
}

fn claims(claims: &[Claim]) -> String {
    let line = |claim: &Claim| {
        let verdict = if claim.holds { "holds" } else { "FAILS" };
        format!("  {verdict}  {}: {}\n", claim.statement, claim.evidence)
    };
    claims.iter().map(line).collect()
}

fn bounds(bounds: &[Bound]) -> String {
    let failing: Vec<&Bound> = bounds.iter().filter(|bound| !bound.holds()).collect();
    let mut text = format!(
        "  {}  unsafe commit rate is at most beta + (1 - beta) alpha plus {} standard errors: {} of {} rows\n",
        if failing.is_empty() { "holds" } else { "FAILS" },
        TOLERANCES.guarantee_standard_errors,
        bounds.len() - failing.len(),
        bounds.len()
    );
    for bound in failing {
        text.push_str(&format!("         {bound}\n"));
    }
    text
}
