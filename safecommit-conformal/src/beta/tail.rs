//! One tail of a beta distribution, to full relative accuracy.

use std::f64::consts::{LN_2, PI};

use statrs::function::beta::checked_beta_reg;

use super::{Beta, STATRS_LIMIT};

/// A point of (0, 1) as `x` and `y = 1 - x`, the smaller of which is exact to the last digits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

impl Point {
    pub(super) fn swapped(self) -> Self {
        Self {
            x: self.y,
            y: self.x,
        }
    }
}

/// A positive number `scale * exp(exponent)`: tails go far below the smallest `f64`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Magnitude {
    scale: f64,
    exponent: f64,
}

impl Magnitude {
    pub(super) fn value(self) -> f64 {
        self.scale * libm::exp(self.exponent)
    }

    pub(super) fn ln(self) -> f64 {
        libm::log(self.scale) + self.exponent
    }

    pub(super) fn over(self, divisor: f64) -> Self {
        Self {
            scale: self.scale / divisor,
            exponent: self.exponent,
        }
    }
}

/// Which tail a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Lower,
    Upper,
}

impl Beta {
    /// The tail on whose side of the mean the point lies: the one that is not close to 1.
    pub(super) fn near_tail(&self, point: Point) -> (Side, Magnitude) {
        let lambda = self.deviation(point);
        if lambda >= 0.0 {
            (Side::Lower, left_tail(self.a, self.b, point, lambda))
        } else {
            (
                Side::Upper,
                left_tail(self.b, self.a, point.swapped(), -lambda),
            )
        }
    }

    /// [`Beta::near_tail`] as a number, by statrs where it holds.
    pub(super) fn near_tail_value(&self, point: Point) -> (Side, f64) {
        if self.a + self.b <= STATRS_LIMIT {
            let (side, a, b, x) = if self.deviation(point) >= 0.0 {
                (Side::Lower, self.a, self.b, point.x)
            } else {
                (Side::Upper, self.b, self.a, point.y)
            };
            if let Ok(value) = checked_beta_reg(a, b, x)
                && value > STATRS_SMALLEST
            {
                return (side, value);
            }
        }
        let (side, tail) = self.near_tail(point);
        (side, tail.value())
    }

    /// `lambda = a - (a + b) x = a y - b x`: how far the point is left of the mean, times `a + b`.
    ///
    /// Near the mean of large shapes the two products cancel almost wholly, so the smaller of x
    /// and y, which is the accurate one, enters by a fused multiplication.
    pub(super) fn deviation(&self, Point { x, y }: Point) -> f64 {
        let sum = self.a + self.b;
        // What the sum lost to rounding, exactly (Knuth's two-sum): it counts far from the mean.
        let b_part = sum - self.a;
        let rest = (self.a - (sum - b_part)) + (self.b - b_part);
        if x <= y {
            (-sum).mul_add(x, self.a) - rest * x
        } else {
            sum.mul_add(y, -self.b) + rest * y
        }
    }

    /// The prefactor `x^a y^b / B(a, b)`, which is `x y` times the density.
    ///
    /// In its saddle-point form `sqrt(ab / (2 pi s)) exp(d(s) - d(a) - d(b) - D)`, with `s = a + b`,
    /// d the error of Stirling's formula and D the deviance: no large terms cancel, as they would
    /// among the logarithms of gamma functions.
    pub(super) fn prefactor(&self, point: Point) -> Magnitude {
        prefactor(self.a, self.b, point, self.deviation(point))
    }
}

/// The lower tail at a point left of the mean.
fn left_tail(a: f64, b: f64, point: Point, lambda: f64) -> Magnitude {
    prefactor(a, b, point, lambda).over(fraction(a, b, point, lambda))
}

/// Below this, statrs loses digits to subnormal numbers and then returns zero.
const STATRS_SMALLEST: f64 = 1e-300;

fn prefactor(a: f64, b: f64, point: Point, lambda: f64) -> Magnitude {
    let sum = a + b;
    let deviance = deviance_term(a, sum, point.x, -lambda) + deviance_term(b, sum, point.y, lambda);
    let scale = (a / sum * b / (2.0 * PI)).sqrt();
    let stirling = stirling_error(sum) - stirling_error(a) - stirling_error(b);
    Magnitude {
        scale,
        exponent: stirling - deviance,
    }
}

/// `a (t - ln(1 + t))` with `t = excess / a` and `1 + t = (sum / a) x`; never negative.
fn deviance_term(a: f64, sum: f64, x: f64, excess: f64) -> f64 {
    let t = excess / a;
    if (-0.75..2.0).contains(&t) {
        a * t_minus_ln_1p(t)
    } else {
        // Here x is far from the mean, and x itself is more accurate than the difference.
        excess - a * libm::log(sum / a * x)
    }
}

/// `t - ln(1 + t)` for t from -0.75 to 2, without the cancellation of the leading terms.
///
/// With `r = t / (2 + t)`, `ln(1 + t) = 2 atanh(r)` and `t - 2 r = r t`.
fn t_minus_ln_1p(t: f64) -> f64 {
    let r = t / (2.0 + t);
    let square = r * r;
    let (mut sum, mut power, mut denominator) = (0.0, 1.0, 3.0);
    loop {
        let term = power / denominator;
        sum += term;
        if term < sum * f64::EPSILON / 4.0 {
            return r * (t - 2.0 * square * sum);
        }
        power *= square;
        denominator += 2.0;
    }
}

/// `ln Gamma(z + 1) - ((z + 1/2) ln z - z + ln(2 pi) / 2)`, for `z >= 1`.
fn stirling_error(z: f64) -> f64 {
    // The asymptotic series is exact to the last digit from here on; below, step upwards.
    const ENOUGH: f64 = 16.0;
    let (mut z, mut steps) = (z, 0.0);
    while z < ENOUGH {
        steps += (z + 0.5) * libm::log1p(1.0 / z) - 1.0;
        z += 1.0;
    }
    let w = 1.0 / (z * z);
    let series = 1.0 / 12.0
        - w * (1.0 / 360.0
            - w * (1.0 / 1260.0
                - w * (1.0 / 1680.0 - w * (1.0 / 1188.0 - w * (691.0 / 360_360.0)))));
    steps + series / z
}

/// The continued fraction F with `I_x(a, b) = prefactor / F`, of Didonato and Morris (1992),
/// Algorithm 708, ACM Transactions on Mathematical Software 18, Eq. 9; evaluated by the modified
/// Lentz algorithm. Left of the mean it needs fewer than `40 + sqrt(max(a, b))` terms.
fn fraction(a: f64, b: f64, Point { x, y }: Point, lambda: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let nonzero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let denominator = |m: f64| {
        let odd = a + 2.0 * m;
        let first = if m > 0.0 {
            m * (b - m) * x / (odd - 1.0)
        } else {
            0.0
        };
        m + first + (a + m) / (odd + 1.0) * (lambda + 1.0 + m * (1.0 + y))
    };
    let mut value = nonzero(denominator(0.0));
    let (mut c, mut d) = (value, 0.0);
    let mut m = 1.0;
    while m < MOST_TERMS {
        let odd = a + 2.0 * m - 1.0;
        let numerator = (m * (a + m - 1.0) / odd) * ((a + b + m - 1.0) / odd) * (b - m) * x * x;
        let bm = denominator(m);
        d = 1.0 / nonzero(bm + numerator * d);
        c = nonzero(bm + numerator / c);
        let factor = c * d;
        value *= factor;
        if (factor - 1.0).abs() <= f64::EPSILON {
            break;
        }
        m += 1.0;
    }
    value
}

/// A bound on the work that is never met: two shapes of 10^9 at the mean, the worst case, need
/// 5,501 terms.
const MOST_TERMS: f64 = 1e5;

/// Logarithm of one half, the border between the tails.
pub(super) const LN_HALF: f64 = -LN_2;
