//! [`Cost`]: an amount of money.

use std::{fmt, iter::Sum, ops::AddAssign, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// So many parts a unit of the currency has: 10¹².
const PARTS: u128 = 1_000_000_000_000;

/// Digits after the point.
const DIGITS: usize = 12;

/// An amount of money, in the currency of the [`Prices`](super::Prices) it was made with.
///
/// It is a whole number of millionths of a millionth of the currency's unit. A price for a million tokens, given to six
/// digits after the point, is a whole number of these for each token: so no cost is rounded, and the parts of a sum
/// always add up to it. Sums stop at the largest number, some 10²⁶ units.
///
/// In JSON, and printed, it is a decimal text of up to twelve digits after the point, without zeros at its end.
///
/// ```
/// use cepa_tracing::Cost;
///
/// let cost: Cost = "0.0125".parse()?;
/// assert_eq!(cost.parts(), 12_500_000_000);
/// assert_eq!([cost, cost].into_iter().sum::<Cost>().to_string(), "0.025");
/// # Ok::<_, cepa_tracing::CostError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost(u128);

/// A text that is no amount of money.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no amount of money: write it as `12.5`, with up to twelve digits after the point")]
pub struct CostError {
    text: String,
}

impl Cost {
    /// So many millionths of a millionth of the currency's unit.
    pub const fn of_parts(parts: u128) -> Self {
        Self(parts)
    }

    /// The amount in millionths of a millionth of the currency's unit.
    pub const fn parts(self) -> u128 {
        self.0
    }

    /// The amount in units of the currency, as exactly as a float can tell it.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / PARTS as f64
    }

    /// What so many tokens cost, at so many parts each.
    pub(super) const fn of_tokens(tokens: u64, parts_each: u64) -> Self {
        Self(tokens as u128 * parts_each as u128)
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, more: Self) {
        self.0 = self.0.saturating_add(more.0);
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), |mut sum, cost| {
            sum += cost;
            sum
        })
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (units, parts) = (self.0 / PARTS, self.0 % PARTS);
        if parts == 0 {
            return write!(f, "{units}");
        }
        let parts = format!("{parts:0DIGITS$}");
        write!(f, "{units}.{}", parts.trim_end_matches('0'))
    }
}

impl FromStr for Cost {
    type Err = CostError;

    fn from_str(text: &str) -> Result<Self, CostError> {
        let (units, parts) = text.split_once('.').unwrap_or((text, "0"));
        let is_number =
            |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        let read = || {
            if !is_number(units) || !is_number(parts) || parts.len() > DIGITS {
                return None;
            }
            let parts: u128 = format!("{parts:0<DIGITS$}").parse().ok()?;
            units.parse::<u128>().ok()?.checked_mul(PARTS)?.checked_add(parts)
        };
        read().map(Self).ok_or_else(|| CostError { text: text.to_owned() })
    }
}

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_amount_is_told_without_zeros_at_its_end() {
        for (parts, text) in [
            (0, "0"),
            (1, "0.000000000001"),
            (1_000_000_000_000, "1"),
            (12_500_000_000_000, "12.5"),
            (u128::MAX, "340282366920938463463374607.431768211455"),
        ] {
            assert_eq!(Cost::of_parts(parts).to_string(), text);
        }
    }

    #[test]
    fn a_text_that_is_no_amount_says_how_to_write_one() {
        for text in
            ["", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", "0.0000000000001", "340282366920938463463374608"]
        {
            let error = text.parse::<Cost>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("`{text}` is no amount of money: write it as `12.5`")),
                "{error}"
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_told_reads_back(parts: u128) {
            let cost = Cost::of_parts(parts);
            prop_assert_eq!(cost.to_string().parse(), Ok(cost));
            let json = serde_json::to_string(&cost).unwrap();
            prop_assert_eq!(serde_json::from_str::<Cost>(&json).unwrap(), cost);
        }
    }
}
