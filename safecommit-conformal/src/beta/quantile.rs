//! Quantiles of a beta distribution: Newton's method on the logarithm of a tail.

use super::Beta;
use super::tail::{LN_HALF, Point, Side};
use crate::delta::Delta;

/// A bound on the work that is never met: five or six steps are usual.
const MOST_STEPS: u32 = 200;

/// The last Newton step, in standard deviations of the log odds.
const CLOSE: f64 = 1e-8;

impl Beta {
    /// The point whose lower tail is `p`.
    pub(crate) fn lower_point(&self, p: Delta) -> Point {
        let p = p.value();
        if p <= 0.5 {
            self.solve(p)
        } else {
            // Exact, as p is at least one half.
            self.swapped().solve(1.0 - p).swapped()
        }
    }

    /// The point whose lower tail is `p`, for `p` up to one half.
    fn solve(&self, p: f64) -> Point {
        let (a, b) = (self.a, self.b);
        if b <= 1.0 {
            // I_x(a, 1) = x^a.
            return Point {
                x: libm::pow(p, 1.0 / a),
                y: -libm::expm1(libm::log(p) / a),
            };
        }
        if a <= 1.0 {
            // 1 - I_x(1, b) = (1 - x)^b.
            let ln_y = libm::log1p(-p) / b;
            return Point {
                x: -libm::expm1(ln_y),
                y: libm::exp(ln_y),
            };
        }
        self.newton(p)
    }

    /// Newton's method in the log odds `z = ln(x / y)`.
    ///
    /// There the density is proportional to `x^a y^b`, which is log-concave, and so is the lower
    /// tail: a Newton step on its logarithm from the right of the root lands left of it, and from
    /// the left it never overshoots. The iteration converges from every start; the bracket guards
    /// against rounding alone. The odds are kept rather than z, as z loses digits far out.
    fn newton(&self, p: f64) -> Point {
        let target = libm::log(p);
        let deviation = (1.0 / self.a + 1.0 / self.b).sqrt();
        let mut odds = self.first_guess(target, deviation);
        let (mut below, mut above) = (0.0, f64::INFINITY);
        for _ in 0..MOST_STEPS {
            let point = from_odds(odds);
            let (side, tail) = self.near_tail(point);
            let (ln_tail, tail_over_prefactor) = match side {
                Side::Lower => {
                    let ln_tail = tail.ln();
                    (ln_tail, libm::exp(ln_tail - self.prefactor(point).ln()))
                }
                Side::Upper => {
                    let lower = 1.0 - tail.value();
                    (
                        libm::log1p(-tail.value()),
                        lower / self.prefactor(point).value(),
                    )
                }
            };
            let step = (target - ln_tail) * tail_over_prefactor;
            if step > 0.0 {
                below = odds;
            } else {
                above = odds;
            }
            let next = odds * libm::exp(step);
            if step.abs() <= CLOSE * deviation {
                // Steps shrink quadratically: another would be below the last digit.
                odds = next;
                break;
            }
            odds = if next > below && next < above {
                next
            } else if below > 0.0 && above.is_finite() {
                below.sqrt() * above.sqrt()
            } else {
                // The guess was so far out that a step left the numbers: step by decades.
                if step > 0.0 { odds * 10.0 } else { odds / 10.0 }
            };
        }
        from_odds(odds)
    }

    /// The odds that a normal approximation of the log odds gives; `deviation` is their standard
    /// deviation, roughly.
    fn first_guess(&self, ln_p: f64, deviation: f64) -> f64 {
        // Standard normal quantile within 3e-3: Abramowitz and Stegun (1964), 26.2.22.
        let t = (-2.0 * ln_p.min(LN_HALF)).sqrt();
        let z = t - (2.307_53 + 0.270_61 * t) / (1.0 + t * (0.992_29 + 0.044_81 * t));
        let exponent = libm::log(self.a / self.b) - z * deviation;
        libm::exp(exponent.clamp(-600.0, 600.0))
    }
}

fn from_odds(odds: f64) -> Point {
    Point {
        x: odds / (1.0 + odds),
        y: 1.0 / (1.0 + odds),
    }
}
