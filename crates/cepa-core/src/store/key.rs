//! [`MiddlewareKey`].

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a layer's place in the store is called: by default the bare name of its type, which is AgentScope's name of
/// the class, so that sessions can be exchanged.
///
/// ```
/// use cepa_core::MiddlewareKey;
///
/// const KEY: MiddlewareKey = MiddlewareKey::new("ReplyBudgetControlMiddleware");
/// assert_eq!(KEY, MiddlewareKey::from(String::from("ReplyBudgetControlMiddleware")));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MiddlewareKey(Cow<'static, str>);

impl MiddlewareKey {
    /// A key known when the program is compiled.
    #[must_use]
    pub const fn new(key: &'static str) -> Self {
        Self(Cow::Borrowed(key))
    }

    /// The key's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&'static str> for MiddlewareKey {
    fn from(key: &'static str) -> Self {
        Self::new(key)
    }
}

impl From<String> for MiddlewareKey {
    fn from(key: String) -> Self {
        Self(Cow::Owned(key))
    }
}

impl From<Cow<'static, str>> for MiddlewareKey {
    fn from(key: Cow<'static, str>) -> Self {
        Self(key)
    }
}

impl fmt::Display for MiddlewareKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for MiddlewareKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Serialize for MiddlewareKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for MiddlewareKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Into::into)
    }
}
