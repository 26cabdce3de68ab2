//! What was spent, as it is kept with the session.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

/// Weighted cost by reply id (AgentScope's form), or under `session`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Spent(BTreeMap<String, Cost>);

/// A cost; whole numbers are written as such.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
struct Cost(f64);

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Exact up to 2^53, as every number in JSON that others read.
        if self.0.fract() == 0.0 && self.0 < 9_007_199_254_740_992.0 {
            serializer.serialize_u64(self.0 as u64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl Spent {
    /// What was spent on `what`. Another reply's count ends when this one's begins.
    pub(crate) fn on(&mut self, what: &str) -> f64 {
        self.entry(what).0
    }

    pub(crate) fn add(&mut self, what: &str, cost: f64) {
        self.entry(what).0 += cost;
    }

    fn entry(&mut self, what: &str) -> &mut Cost {
        if !self.0.contains_key(what) {
            self.0.clear();
        }
        self.0.entry(what.to_owned()).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Spent;

    #[test]
    fn another_reply_starts_at_zero() {
        let mut spent = Spent::default();
        spent.add("r1", 1.5);
        spent.add("r1", 1.5);
        assert_eq!(spent.on("r1"), 3.0);
        assert_eq!(spent.on("r2"), 0.0);
        assert_eq!(spent, Spent([("r2".to_owned(), super::Cost(0.0))].into()));
    }
}
