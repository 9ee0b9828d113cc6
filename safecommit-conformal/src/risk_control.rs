//! Conformal risk control.

use crate::alpha::Alpha;
use crate::calibration::Calibration;
use crate::guarantee::Guarantee;
use crate::risk::{RiskCurves, RiskError};

impl Calibration {
    /// Calibrates so that the expected loss of the next case is at most alpha.
    ///
    /// With losses `L_i` from 0 to 1 that never increase with the threshold,
    ///
    /// `kappa = inf{k: (sum_i L_i(k) + 1) / (n + 1) <= alpha}`,
    ///
    /// equality included (Angelopoulos, Bates, Fisch, Lei and Schuster 2024, "Conformal risk
    /// control", Theorem 1). For exchangeable cases `E[L_{n+1}(kappa)] <= alpha`, provided that the
    /// loss of an unbounded threshold is at most alpha, as it is where retaining all that was
    /// proposed blocks every action. With the coverage loss this is the threshold of
    /// [`Calibration::split_conformal`]. The sum is exact, in integers.
    ///
    /// A loss of committing an unsafe action does increase at times: a plausible set that shrinks
    /// to nothing commits nothing. For such losses take [`RiskCurves::envelope`]; then its expected
    /// value is at most alpha, and so is that of the loss.
    ///
    /// The losses are those of one policy, and the bound is for cases that this policy decides
    /// ([`RiskCurves::of_policy`]); only the coverage loss bounds every policy.
    ///
    /// The threshold is unbounded when n is too small for any loss, `(n + 1) alpha < 1`, and
    /// retaining everything causes no loss. If the level is reached below all breakpoints, it is
    /// the lowest breakpoint.
    ///
    /// # Errors
    ///
    /// [`RiskError::NotMonotone`] if a loss increases with the threshold,
    /// [`RiskError::Unattainable`] if even an unbounded threshold has losses above the level.
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::{Calibration, RiskCurve, RiskCurves, Score};
    ///
    /// // 19 cases: 10 losses below 0.2, then 5, and 1 from 0.3 on.
    /// let [low, high] = [0.2, 0.3].map(|value| Score::new(value).unwrap());
    /// let curves = (0..19).map(|i| match i {
    ///     0 => RiskCurve::new(1, []),
    ///     1..5 => RiskCurve::new(1, [(high, 0)]),
    ///     5..10 => RiskCurve::new(1, [(low, 0)]),
    ///     _ => RiskCurve::new(0, []),
    /// });
    /// let curves = RiskCurves::binary(curves.collect::<Result<_, _>>()?)?;
    /// let at = |alpha: &str| -> Result<String, Box<dyn std::error::Error>> {
    ///     Ok(Calibration::risk_controlled(alpha.parse()?, &curves)?.threshold().to_string())
    /// };
    /// assert_eq!(at("0.1")?, "0.3"); // (1 + 1) / 20 is at most 0.1
    /// assert_eq!(at("0.3")?, "0.2"); // and (5 + 1) / 20 at most 0.3
    /// assert!(at("0.05").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn risk_controlled(alpha: Alpha, curves: &RiskCurves) -> Result<Self, RiskError> {
        if let Some(case) = curves.first_increase() {
            return Err(RiskError::NotMonotone { case });
        }
        let loss = curves.shape();
        curves.calibrate(
            alpha,
            allowed_losses(alpha, curves.cases(), curves.scale()),
            Guarantee::RiskControl {
                loss,
                of: curves.controlled_loss(),
            },
        )
    }
}

/// The largest sum of losses S with `(S + B) / (n + 1) <= alpha B`, where B is the scale:
/// `floor((n + 1) B alpha) - B`; `None` if that is negative.
fn allowed_losses(alpha: Alpha, n: u64, scale: u32) -> Option<u64> {
    let one = 10_u128.pow(u32::from(alpha.scale()));
    let cases = (u128::from(n) + 1) * u128::from(scale);
    // floor(cases * digits / one) in two parts: the product may exceed 128 bits.
    let digits = u128::from(alpha.digits());
    let most = cases / one * digits + cases % one * digits / one;
    u64::try_from(most.checked_sub(u128::from(scale))?).ok()
}
