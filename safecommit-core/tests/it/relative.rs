//! Scores that say by how much a world is stranger than the best explanation that is left.

use proptest::prelude::*;
use safecommit_conformal::{Calibration, CalibrationScore, Score};
use safecommit_core::{
    Action, Controller, Cost, DecisionKind, Fate, OutcomeModel, Probability, Problem, Request,
    Settings, Subject, Verification, Workspace,
};
use serde_json::json;

/// A calibration whose threshold is this.
fn calibration(threshold: f64) -> Calibration {
    let score = CalibrationScore::Observed(Score::new(threshold).unwrap());
    Calibration::split_conformal("0.1".parse().unwrap(), &[score; 19])
}

/// The best explanation is false. What it pushes past the threshold would be in the way of a certificate.
#[test]
fn what_is_refuted_pushes_no_hazard_past_the_threshold() {
    for (relative, expected) in [
        (false, DecisionKind::Commit),
        (true, DecisionKind::Escalate),
    ] {
        let request = json!({
            "actions": [{"id": "delete"}],
            "worlds": [
                {"id": "gone", "score": 0.0, "safe": []},
                {"id": "own", "score": 0.3, "safe": ["delete"]},
                {"id": "shared", "score": 0.5, "safe": []},
            ],
            "probes": [{"id": "look", "cost": 1.0, "outcomes": [
                {"id": "nothing", "worlds": ["gone"]}, {"id": "file", "worlds": ["own", "shared"]},
            ]}],
            "observed": [{"probe": "look", "outcome": "file"}],
            "settings": {"relative_scores": relative},
        });
        let request: Request = serde_json::from_value(request).unwrap();
        let case = safecommit_core::Case::new(request).unwrap();
        let decision = case.decide(Some(&calibration(0.3)));
        assert_eq!(decision.record().decision, expected, "{relative}");
    }
}

proptest! {
    /// The plausible set is what its definition says, whatever the order of the answers; it never lacks a world that it has
    /// without relative scores.
    #[test]
    fn the_set_is_that_of_the_best_explanation_left(
        eighths in prop::collection::vec(0_u32..12, 1..8),
        outcomes in prop::collection::vec(prop::collection::vec(0_u32..3, 8), 0..4),
        truth in 0_usize..8,
        threshold in 0_u32..12,
        verified in any::<bool>(),
    ) {
        let scores: Vec<f64> = eighths.iter().map(|score| f64::from(*score) / 8.0).collect();
        let (worlds, truth) = (scores.len(), truth % scores.len());
        let mut problem = Problem::new(Subject([5; 32]));
        let action = problem.add_action(Action::default()).unwrap();
        for (world, score) in scores.iter().enumerate() {
            let safe = (world % 2 == 0).then_some(action);
            problem.add_world(Score::new(*score).unwrap(), safe).unwrap();
        }
        for row in &outcomes {
            let model = OutcomeModel::Partition { outcomes: 3, outcome_of: &row[..worlds] };
            let error_rate = Probability::new(0.0).unwrap();
            problem.add_probe(Cost::new(1.0).unwrap(), error_rate, model).unwrap();
        }
        let threshold = f64::from(threshold) / 8.0;
        let calibration = calibration(threshold);
        let verification = match verified {
            true => Verification::WholeSupport { price: 0.0 },
            false => Verification::Never,
        };
        let settings = Settings::default().with_verification(verification).unwrap();
        let (mut plain, mut relative) = (Workspace::default(), Workspace::default());
        let relative_settings = settings.with_relative_scores(true);
        let mut without = Controller::start(&problem, &settings, calibration.threshold(), &mut plain);
        let mut with =
            Controller::start(&problem, &relative_settings, calibration.threshold(), &mut relative);
        let first = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let mut left: Vec<usize> = (0..worlds).collect();
        for (probe, row) in outcomes.iter().enumerate() {
            without.observe(probe, row[truth] as usize).unwrap();
            with.observe(probe, row[truth] as usize).unwrap();
            left.retain(|world| row[*world] == row[truth]);
            let smallest = left.iter().map(|world| scores[*world]).fold(f64::INFINITY, f64::min);
            for (world, score) in scores.iter().enumerate() {
                // Eighths are exact. Where nothing at all was within the threshold, a verified set is reopened.
                let within = score - (smallest - first) <= threshold;
                let expected = left.contains(&world) && (within || with.is_reopened());
                let kept = with.fates()[world] == Fate::Retained;
                prop_assert_eq!(kept, expected, "world {}", world);
                let kept_without = without.fates()[world] == Fate::Retained;
                prop_assert!(kept || !kept_without || without.is_reopened());
            }
            // The true world is never lost if its score was within the threshold.
            if scores[truth] <= threshold {
                prop_assert_eq!(with.fates()[truth], Fate::Retained);
            }
        }
    }
}
