//! The miscoverage level alpha as an exact decimal, and the rank that it gives.

mod arithmetic;

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Most decimals that an [`Alpha`] can carry.
const MAX_SCALE: u8 = 18;

/// A miscoverage level: an exact decimal strictly between 0 and 1, without a unit.
///
/// Alpha is held as the integers `digits / 10^scale` because the rank of a conformal quantile is
/// an integer that floating point gets wrong: in double arithmetic `1 - 0.9` is below one tenth,
/// and `ceil(10 * (1 - 0.1))` may come out one too high. With integers, [`Alpha::rank`] is exact.
///
/// The text form is plain decimal notation with at most 18 decimals, such as `0.05`. Trailing
/// zeros are accepted and dropped, so `0.050` and `0.05` are one value. On the wire alpha is a
/// decimal string; a number is refused, since it has been through floating point already.
///
/// # Examples
///
/// ```
/// use safecommit_conformal::Alpha;
///
/// let alpha: Alpha = "0.050".parse()?;
/// assert_eq!(alpha.to_string(), "0.05");
/// assert_eq!(alpha.rank(2_000), 1_901);
/// assert!("1.5".parse::<Alpha>().is_err());
/// # Ok::<(), safecommit_conformal::AlphaError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Alpha {
    /// Never zero, never a multiple of ten, always below `10^scale`.
    digits: u64,
    /// From 1 to 18.
    scale: u8,
}

impl Alpha {
    /// The alpha `digits / 10^scale`; trailing zeros are dropped.
    ///
    /// # Errors
    ///
    /// [`AlphaError::OutOfRange`] unless `0 < digits / 10^scale < 1`, and
    /// [`AlphaError::TooPrecise`] if `scale` exceeds 18.
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::Alpha;
    ///
    /// assert_eq!(Alpha::from_digits(5, 2)?, "0.05".parse()?);
    /// # Ok::<(), safecommit_conformal::AlphaError>(())
    /// ```
    pub fn from_digits(digits: u64, scale: u8) -> Result<Self, AlphaError> {
        let input = || format!("{digits}e-{scale}");
        if scale > MAX_SCALE {
            return Err(AlphaError::TooPrecise { input: input() });
        }
        if digits == 0 || digits >= power_of_ten(scale) {
            return Err(AlphaError::OutOfRange { input: input() });
        }
        let (mut digits, mut scale) = (digits, scale);
        while digits.is_multiple_of(10) {
            digits /= 10;
            scale -= 1;
        }
        Ok(Self { digits, scale })
    }

    /// The numerator of the canonical form `digits / 10^scale`.
    pub fn digits(self) -> u64 {
        self.digits
    }

    /// The number of decimals of the canonical form, from 1 to 18.
    pub fn scale(self) -> u8 {
        self.scale
    }

    /// The rank of the split-conformal quantile among `n` calibration scores:
    ///
    /// `rank = ceil((n + 1)(1 - alpha)) = (n + 1) - floor((n + 1) alpha)`
    ///
    /// (Akewar and Ranjan, arXiv:2608.04289, Eq. 14), computed in integers and exact for every
    /// `n`. It lies in `1..=n + 1`; a rank of `n + 1` means that `n` scores are too few for this
    /// alpha and that the threshold is unbounded.
    ///
    /// # Examples
    ///
    /// ```
    /// use safecommit_conformal::Alpha;
    ///
    /// let alpha: Alpha = "0.1".parse()?;
    /// assert_eq!(alpha.rank(9), 9);
    /// assert_eq!(alpha.rank(8), 9); // above n: too few scores
    /// # Ok::<(), safecommit_conformal::AlphaError>(())
    /// ```
    pub fn rank(self, n: u64) -> u64 {
        let cases = u128::from(n) + 1;
        let allowed = cases * u128::from(self.digits) / u128::from(power_of_ten(self.scale));
        // Fits: the product is below 2^64 * 10^18 < 2^124; and at n = u64::MAX the smallest alpha,
        // 1e-18, already allows 18 misses, so that the difference is below 2^64.
        (cases - allowed) as u64
    }

    /// The nearest `f64`. An alpha within `2^-54` of 1 gives 1.
    pub fn to_f64(self) -> f64 {
        // Below 2^53 both operands are exact, so the quotient is correctly rounded; above it the
        // decimal parser is.
        let quotient = self.digits as f64 / power_of_ten(self.scale) as f64;
        if self.digits < 1 << 53 {
            quotient
        } else {
            self.to_string().parse().unwrap_or(quotient)
        }
    }

    /// Alpha in units of `10^-18`, the order of the values.
    fn scaled(self) -> u64 {
        self.digits * power_of_ten(MAX_SCALE - self.scale)
    }
}

/// `10^exponent`, for exponents up to 18.
fn power_of_ten(exponent: u8) -> u64 {
    10_u64.pow(u32::from(exponent))
}

impl Ord for Alpha {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.scaled().cmp(&other.scaled())
    }
}

impl PartialOrd for Alpha {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Alpha {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("0.{:0width$}", self.digits, width = usize::from(self.scale));
        formatter.pad(&text)
    }
}

impl FromStr for Alpha {
    type Err = AlphaError;

    fn from_str(input: &str) -> Result<Self, AlphaError> {
        let syntax = || AlphaError::Syntax {
            input: input.to_owned(),
        };
        let out_of_range = || AlphaError::OutOfRange {
            input: input.to_owned(),
        };
        let (negative, unsigned) = match input.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, input),
        };
        let (whole, decimals) = match unsigned.split_once('.') {
            Some((whole, decimals)) if !decimals.is_empty() => (whole, decimals),
            Some(_) => return Err(syntax()),
            None => (unsigned, ""),
        };
        let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !all_digits(whole) || !all_digits(decimals) {
            return Err(syntax());
        }
        if negative || whole.bytes().any(|byte| byte != b'0') {
            return Err(out_of_range());
        }
        if whole != "0" {
            return Err(syntax());
        }
        if decimals.len() > usize::from(MAX_SCALE) {
            return Err(AlphaError::TooPrecise {
                input: input.to_owned(),
            });
        }
        if decimals.bytes().all(|byte| byte == b'0') {
            return Err(out_of_range());
        }
        let digits = decimals.parse().map_err(|_| syntax())?;
        Self::from_digits(digits, decimals.len() as u8)
    }
}

impl Serialize for Alpha {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Alpha {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Not `deserialize_str`: a number must reach the visitor to get an error that says what
        // to write instead.
        deserializer.deserialize_any(AlphaVisitor)
    }
}

struct AlphaVisitor;

/// What to write where a number was found.
fn number_refused<E: de::Error>(value: impl fmt::Display) -> E {
    E::custom(format_args!(
        "alpha is the number `{value}`: write alpha as a decimal string, such as \"0.05\""
    ))
}

impl Visitor<'_> for AlphaVisitor {
    type Value = Alpha;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("alpha as a decimal string between 0 and 1, such as \"0.05\"")
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Alpha, E> {
        value.parse().map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Alpha, E> {
        Err(number_refused(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Alpha, E> {
        Err(number_refused(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Alpha, E> {
        Err(number_refused(value))
    }
}

/// Why a text or a pair of integers is not an [`Alpha`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AlphaError {
    /// Not in plain decimal notation.
    #[error("alpha `{input}` is not a plain decimal such as `0.05`")]
    Syntax {
        /// The text as given.
        input: String,
    },
    /// A number, but not strictly between 0 and 1.
    #[error("alpha `{input}` is not strictly between 0 and 1")]
    OutOfRange {
        /// The value as given.
        input: String,
    },
    /// More than 18 decimals.
    #[error("alpha `{input}` has more than 18 decimals")]
    TooPrecise {
        /// The value as given.
        input: String,
    },
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Alpha {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Alpha".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "miscoverage level, an exact decimal strictly between 0 and 1",
            "pattern": r"^0\.0*[1-9][0-9]*$",
            "maxLength": 20
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expect: Result<&str, &str>) {
        let shown = input.parse::<Alpha>().map(|alpha| alpha.to_string());
        let shown = shown.map_err(|error| error.to_string());
        assert_eq!(
            shown.as_deref().map_err(String::as_str),
            expect,
            "input `{input}`"
        );
    }

    #[test]
    fn plain_decimals_between_zero_and_one_are_read() {
        check("0.05", Ok("0.05"));
        check("0.050", Ok("0.05"));
        check("0.999999999999999999", Ok("0.999999999999999999"));
        check("0.000000000000000001", Ok("0.000000000000000001"));
    }

    #[test]
    fn everything_else_is_refused_with_the_input_in_backticks() {
        for input in [
            "", ".", ".5", "0.", "5e-2", "0,05", " 0.05", "+0.05", "0.0x", "٠.٥", "00.5",
        ] {
            check(
                input,
                Err(&format!(
                    "alpha `{input}` is not a plain decimal such as `0.05`"
                )),
            );
        }
        for input in ["0", "1", "0.0", "1.0", "1.5", "-0.1", "20"] {
            check(
                input,
                Err(&format!("alpha `{input}` is not strictly between 0 and 1")),
            );
        }
        check(
            "0.0500000000000000000",
            Err("alpha `0.0500000000000000000` has more than 18 decimals"),
        );
    }

    #[test]
    fn integers_are_checked_as_well() {
        assert!(matches!(
            Alpha::from_digits(0, 2),
            Err(AlphaError::OutOfRange { .. })
        ));
        assert!(matches!(
            Alpha::from_digits(100, 2),
            Err(AlphaError::OutOfRange { .. })
        ));
        assert!(matches!(
            Alpha::from_digits(1, 19),
            Err(AlphaError::TooPrecise { .. })
        ));
        assert!(matches!(
            Alpha::from_digits(1, 0),
            Err(AlphaError::OutOfRange { .. })
        ));
        assert_eq!(Alpha::from_digits(50, 3).unwrap().digits(), 5);
    }

    #[test]
    fn the_rank_never_overflows() {
        let smallest: Alpha = "0.000000000000000001".parse().unwrap();
        assert_eq!(smallest.rank(u64::MAX), u64::MAX - 17);
        let largest: Alpha = "0.999999999999999999".parse().unwrap();
        assert_eq!(largest.rank(u64::MAX), 19);
        assert_eq!(largest.rank(0), 1);
        assert_eq!(smallest.rank(0), 1);
    }

    #[test]
    fn order_is_by_value() {
        let parse = |text: &str| text.parse::<Alpha>().unwrap();
        assert!(parse("0.5") > parse("0.49"));
        assert!(parse("0.05") < parse("0.1"));
        assert_eq!(parse("0.10").cmp(&parse("0.1")), std::cmp::Ordering::Equal);
    }

    #[test]
    fn to_f64_is_the_nearest() {
        for text in [
            "0.1",
            "0.05",
            "0.123456789012345678",
            "0.999999999999999999",
            "0.3",
        ] {
            let alpha: Alpha = text.parse().unwrap();
            assert_eq!(
                alpha.to_f64().to_bits(),
                text.parse::<f64>().unwrap().to_bits()
            );
        }
    }

    #[test]
    fn a_number_on_the_wire_says_what_to_write() {
        for number in ["0.05", "1", "-1"] {
            let error = serde_json::from_str::<Alpha>(number)
                .unwrap_err()
                .to_string();
            assert!(error.contains("write alpha as a decimal string"), "{error}");
        }
        let alpha: Alpha = serde_json::from_str("\"0.05\"").unwrap();
        assert_eq!(serde_json::to_string(&alpha).unwrap(), "\"0.05\"");
    }
}
