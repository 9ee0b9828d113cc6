//! Thresholds: the only way to a finite one is a calibration.

use safecommit_conformal::{Calibration, CalibrationScore, Misses, Score, Threshold};

/// A calibration of these scores, `None` for a true world that was not proposed.
pub(crate) fn calibration(alpha: &str, scores: &[Option<f64>], misses: Misses) -> Calibration {
    let scores: Vec<_> = scores
        .iter()
        .map(|score| match score {
            Some(score) => CalibrationScore::from(Score::new(*score).unwrap()),
            None => CalibrationScore::Missing,
        })
        .collect();
    Calibration::split_conformal_with(alpha.parse().unwrap(), &scores, misses)
}

/// The threshold `kappa`, as the only score of a calibration at level one half; kept for good, so that
/// it can be borrowed anywhere.
pub(crate) fn threshold(kappa: f64) -> &'static Threshold {
    let calibration = calibration("0.5", &[Some(kappa)], Misses::AsListed);
    let threshold = Box::leak(Box::new(calibration.threshold().clone()));
    assert_eq!(threshold.finite(), Some(Score::new(kappa).unwrap()));
    threshold
}
