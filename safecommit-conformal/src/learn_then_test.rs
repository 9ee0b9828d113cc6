//! Learn then test: thresholds whose risk is proved with confidence, for losses of any shape.

use crate::alpha::Alpha;
use crate::beta::Beta;
use crate::calibration::Calibration;
use crate::clopper_pearson::{CountError, MAX_TRIALS};
use crate::delta::Delta;
use crate::guarantee::{Guarantee, RiskTest};
use crate::ranks;
use crate::risk::{RiskCurves, RiskError};

impl Calibration {
    /// Calibrates so that, with probability at least `1 - delta` over the calibration set, the
    /// expected loss is at most alpha.
    ///
    /// For every threshold k the hypothesis that its risk exceeds alpha is tested, from the
    /// unbounded threshold down, each at level delta; the first that is not rejected ends the walk
    /// (fixed sequence testing in Angelopoulos, Bates, Candes, Jordan and Lei 2025, "Learn then
    /// test", Annals of Applied Statistics 19(2)). Cases must be independent and identically
    /// distributed; the loss may rise and fall with the threshold. As with
    /// [`Calibration::risk_controlled`], the bound is for decisions by the policy whose losses these are.
    ///
    /// Losses of 0 or 1 are tested by the exact binomial test, at most the number of losses x with
    /// `P(Bin(n, alpha) <= x) <= delta`; others by [`hoeffding_bentkus_p_value`]. With the coverage
    /// loss this is [`Calibration::training_conditional`].
    ///
    /// If not even the unbounded threshold passes, it is returned where it causes no loss, which
    /// is the end at which nothing is certified.
    ///
    /// # Errors
    ///
    /// [`RiskError::Unattainable`] if the unbounded threshold has losses and does not pass,
    /// [`RiskError::Count`] for more than [`MAX_TRIALS`] cases.
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::{Calibration, Delta, RiskCurves, Score};
    ///
    /// let scores: Vec<_> =
    ///     (0..100).map(|i| Score::new(f64::from(i)).map(Into::into)).collect::<Result<_, _>>()?;
    /// let curves = RiskCurves::coverage(&scores);
    /// let calibration =
    ///     Calibration::learn_then_test("0.1".parse()?, Delta::new(0.05)?, &curves)?;
    /// assert_eq!(calibration.threshold().to_string(), "95");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn learn_then_test(
        alpha: Alpha,
        delta: Delta,
        curves: &RiskCurves,
    ) -> Result<Self, RiskError> {
        let n = curves.cases();
        let (allowed, test) = if curves.scale() == 1 {
            (ranks::most_losses(alpha, n, delta)?, RiskTest::Binomial)
        } else {
            (
                most_loss(alpha, n, curves.scale(), delta)?,
                RiskTest::HoeffdingBentkus,
            )
        };
        let of = curves.controlled_loss();
        curves.calibrate(alpha, allowed, Guarantee::LearnThenTest { delta, test, of })
    }
}

/// The p-value of "the probability of a loss exceeds alpha" after x losses in n cases:
/// `P(Bin(n, alpha) <= x)`. Without cases it is 1.
///
/// # Errors
///
/// [`CountError`] unless `losses <= cases <= MAX_TRIALS`.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::learn_then_test::binomial_p_value;
///
/// let p = binomial_p_value(0, 100, "0.05".parse()?)?;
/// assert!((p - 0.95_f64.powi(100)).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn binomial_p_value(losses: u64, cases: u64, alpha: Alpha) -> Result<f64, CountError> {
    check(losses, cases, 1)?;
    Ok(binomial(losses, cases, alpha))
}

/// The p-value of "the expected loss exceeds alpha" after losses from 0 to 1 with the sum
/// `losses / scale` in n cases:
///
/// `min(exp(-n h(min(r, alpha), alpha)), e P(Bin(n, alpha) <= ceil(n r)))` with `r` the mean loss and
/// `h(a, b) = a ln(a / b) + (1 - a) ln((1 - a) / (1 - b))`, and at most 1 (Bates, Angelopoulos, Lei,
/// Malik and Jordan 2021, "Distribution-free, risk-controlling prediction sets", after Hoeffding and
/// Bentkus). The ceiling is taken in integers: in floating point it is too large for most n.
///
/// # Errors
///
/// [`CountError`] if the sum exceeds the number of cases, or that exceeds [`MAX_TRIALS`].
///
/// # Examples
///
/// ```
/// use safecommit_conformal::learn_then_test::hoeffding_bentkus_p_value;
///
/// // 2 losses of 1 in 200 cases, and the same as 200 losses of one hundredth.
/// let p = hoeffding_bentkus_p_value(2, 1, 200, "0.05".parse()?)?;
/// assert!((p - 0.006_350_706).abs() < 1e-9);
/// assert_eq!(hoeffding_bentkus_p_value(200, 100, 200, "0.05".parse()?)?, p);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn hoeffding_bentkus_p_value(
    losses: u64,
    scale: u32,
    cases: u64,
    alpha: Alpha,
) -> Result<f64, CountError> {
    let scale = scale.max(1);
    check(losses, cases, scale)?;
    if cases == 0 {
        return Ok(1.0);
    }
    let level = alpha.to_f64();
    let mean = losses as f64 / (cases as f64 * f64::from(scale));
    let hoeffding = libm::exp(-(cases as f64) * divergence(mean.min(level), level));
    let whole = losses.div_ceil(u64::from(scale));
    let bentkus = std::f64::consts::E * binomial(whole, cases, alpha);
    Ok(hoeffding.min(bentkus).min(1.0))
}

/// The Kullback-Leibler divergence of Bernoulli(a) from Bernoulli(b), for `a <= b`.
fn divergence(a: f64, b: f64) -> f64 {
    let term = |p: f64, q: f64| {
        if p > 0.0 { p * libm::log(p / q) } else { 0.0 }
    };
    (term(a, b) + term(1.0 - a, 1.0 - b)).max(0.0)
}

fn binomial(losses: u64, cases: u64, alpha: Alpha) -> f64 {
    if losses >= cases {
        return 1.0;
    }
    Beta::new(losses as f64 + 1.0, (cases - losses) as f64)
        .map_or(1.0, |law| law.upper_tail(alpha.to_f64()))
}

fn check(losses: u64, cases: u64, scale: u32) -> Result<(), CountError> {
    if cases > MAX_TRIALS {
        return Err(CountError::TooManyTrials { trials: cases });
    }
    if losses > cases * u64::from(scale) {
        return Err(CountError::TooManySuccesses {
            successes: losses,
            trials: cases,
        });
    }
    Ok(())
}

/// Relative room for the rounding of a p-value, ten times what was measured in the beta tail.
const SLACK: f64 = 1e-11;

/// The largest sum of losses whose p-value is at most delta; `None` if that of 0 is not.
fn most_loss(alpha: Alpha, n: u64, scale: u32, delta: Delta) -> Result<Option<u64>, CountError> {
    let proved = |losses| -> Result<bool, CountError> {
        let p = hoeffding_bentkus_p_value(losses, scale, n, alpha)?;
        Ok(p * (1.0 + SLACK) <= delta.value())
    };
    // The p-value never falls as losses rise, and at the end every case is a loss.
    ranks::last_proved(n * u64::from(scale), proved)
}
