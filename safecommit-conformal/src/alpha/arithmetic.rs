//! Exact sums and comparisons of levels.

use super::{Alpha, AlphaError, MAX_SCALE, power_of_ten};

impl Alpha {
    /// The exact sum, such as a level for calibration error plus one for representation error.
    ///
    /// # Errors
    ///
    /// [`AlphaError::OutOfRange`] if the sum is 1 or more.
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::Alpha;
    ///
    /// let (alpha, beta): (Alpha, Alpha) = ("0.1".parse()?, "0.2".parse()?);
    /// assert_eq!(alpha.checked_add(beta)?.to_string(), "0.3"); // not 0.30000000000000004
    /// assert!("0.5".parse::<Alpha>()?.checked_add("0.5".parse()?).is_err());
    /// # Ok::<(), safecommit_conformal::AlphaError>(())
    /// ```
    pub fn checked_add(self, other: Self) -> Result<Self, AlphaError> {
        // Fits: each is below 10^18, and so is half of u64::MAX.
        let sum = self.scaled() + other.scaled();
        if sum >= power_of_ten(MAX_SCALE) {
            return Err(AlphaError::OutOfRange {
                input: format!("{self} + {other}"),
            });
        }
        Self::from_digits(sum, MAX_SCALE)
    }

    /// Whether `alpha * below >= (1 - alpha) * above`, in integers: whether `below` is at least
    /// `1 - alpha` of the whole.
    pub(crate) fn share_reached(self, below: u128, above: u128) -> bool {
        let complement = power_of_ten(self.scale) - self.digits;
        wide_product(below, self.digits) >= wide_product(above, complement)
    }
}

/// The product as its upper 128 and lower 64 bits.
fn wide_product(a: u128, b: u64) -> (u128, u64) {
    let low = (a & u128::from(u64::MAX)) * u128::from(b);
    let high = (a >> 64) * u128::from(b);
    (high + (low >> 64), low as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_products_carry() {
        assert_eq!(
            wide_product(u128::MAX, u64::MAX),
            (u128::MAX - u128::from(u64::MAX) - 1, 1)
        );
        assert_eq!(wide_product(1 << 100, 1 << 40), (1 << 76, 0));
        assert_eq!(wide_product(7, 6), (0, 42));
    }

    #[test]
    fn shares_are_compared_exactly() {
        let alpha: Alpha = "0.1".parse().unwrap();
        let huge = u128::MAX / 10;
        assert!(alpha.share_reached(9, 1) && !alpha.share_reached(9, 2));
        assert!(alpha.share_reached(9 * huge, huge));
        assert!(!alpha.share_reached(9 * huge - 1, huge));
    }
}
