//! Weights as integers.

use crate::score::CalibrationScore;
use crate::weight::Weight;

/// The bit of the largest weight in units.
const TOP_BIT: i32 = 52;

/// The unit in which the weights of one calibration are counted: a power of two for which the
/// largest weight lies in `2^52..2^53`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Units {
    /// A weight is multiplied by two to this power.
    exponent: i32,
}

/// A calibration score and its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// The key of the score.
    pub(super) key: u64,
    /// Twice the whole units of the weight, plus 1 if there is a rest.
    packed: u64,
}

impl Entry {
    /// The weight in units, rounded down: below 2^53.
    pub(super) fn floor(self) -> u64 {
        self.packed >> 1
    }

    /// The weight in units, rounded up: at most 2^53.
    pub(super) fn ceil(self) -> u64 {
        (self.packed >> 1) + (self.packed & 1)
    }
}

impl Units {
    pub(super) fn of(weights: &[Weight]) -> Self {
        let largest = weights
            .iter()
            .map(|weight| weight.value())
            .fold(0.0_f64, f64::max);
        let exponent = if largest > 0.0 {
            TOP_BIT - libm::ilogb(largest)
        } else {
            0
        };
        Self { exponent }
    }

    pub(super) fn entry(self, score: CalibrationScore, weight: Weight) -> Entry {
        // The product with a power of two is exact, or below one unit.
        let units = libm::scalbn(weight.value(), self.exponent);
        let whole = units as u64;
        let rest = units > whole as f64 || (weight.value() > 0.0 && units <= 0.0);
        Entry {
            key: score.key(),
            packed: whole << 1 | u64::from(rest),
        }
    }

    /// The weight of a case to come in units, rounded up; `None` if it is so large that no
    /// calibration weighs anything against it.
    pub(super) fn rounded_up(self, weight: Weight) -> Option<u128> {
        let units = libm::scalbn(weight.value(), self.exponent);
        if units >= 2.0_f64.powi(120) {
            return None;
        }
        let whole = units as u128;
        let rest = units > whole as f64 || (weight.value() > 0.0 && units <= 0.0);
        Some(whole + u128::from(rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(weights: &[f64], expect: &[(u64, u64)]) {
        let weights: Vec<Weight> = weights
            .iter()
            .map(|w| Weight::try_from(*w).unwrap())
            .collect();
        let units = Units::of(&weights);
        for (weight, (floor, ceil)) in weights.iter().zip(expect) {
            let entry = units.entry(CalibrationScore::Missing, *weight);
            assert_eq!((entry.floor(), entry.ceil()), (*floor, *ceil), "{weight}");
            assert_eq!(units.rounded_up(*weight), Some(u128::from(*ceil)));
        }
    }

    #[test]
    fn units_are_exact_down_to_the_last_bit_of_the_largest() {
        let top = 1_u64 << 52;
        check(&[1.0, 0.5, 0.0], &[(top, top), (top / 2, top / 2), (0, 0)]);
        check(
            &[4.0, 3.0, 1.0],
            &[(top, top), (top / 4 * 3, top / 4 * 3), (top / 4, top / 4)],
        );
        check(
            &[1.0, 2.0_f64.powi(-53), 1e-300],
            &[(top, top), (0, 1), (0, 1)],
        );
        check(
            &[f64::MAX, f64::from_bits(1)],
            &[((1 << 53) - 1, (1 << 53) - 1), (0, 1)],
        );
        check(
            &[f64::from_bits(3), f64::from_bits(2)],
            &[(3 << 51, 3 << 51), (top, top)],
        );
        check(&[0.0], &[(0, 0)]);
    }

    #[test]
    fn an_overwhelming_case_is_told_apart() {
        let units = Units::of(&[Weight::try_from(1e-300).unwrap()]);
        assert_eq!(units.rounded_up(Weight::try_from(1e300).unwrap()), None);
    }
}
