//! Reports that are given to a case instead of a request.

use safecommit_core::{Case, Observation};

use super::full::{full, parse};

fn report(probe: &str, outcome: Option<&str>) -> Observation {
    Observation {
        probe: probe.to_owned(),
        outcome: outcome.map(str::to_owned),
    }
}

/// Taking the reports later gives the case of the whole request, or refuses them with the same words.
#[test]
fn a_case_with_other_reports_is_that_of_the_request_with_them() {
    for (observed, elapsed, valid) in [
        (vec![], 0, true),
        (vec![report("ask", Some("yes"))], 7, true),
        (
            vec![report("list", None), report("scan", Some("miss"))],
            0,
            true,
        ),
        (
            vec![report("scan", Some("hit")), report("scan", None)],
            0,
            false,
        ),
        (vec![report("scan", Some("maybe"))], 0, false),
        (vec![report("look", None)], 0, false),
    ] {
        let mut request = parse(&full()).unwrap();
        let later = Case::new(request.clone()).unwrap();
        let later = later.with_observed(observed.clone(), elapsed);
        request.observed = observed;
        request.elapsed_steps = elapsed;
        match (Case::new(request), later) {
            (Ok(whole), Ok(later)) => {
                assert_eq!(later.request(), whole.request());
                assert_eq!(later.problem().subject(), whole.problem().subject());
                assert_eq!(later.decide(None).record(), whole.decide(None).record());
            }
            (whole, later) => {
                assert!(!valid);
                assert_eq!(later.unwrap_err(), whole.unwrap_err());
            }
        }
    }
}
