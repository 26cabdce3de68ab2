//! [`Usage`]: what a message cost.

use std::ops::AddAssign;

use crate::{fields::Fields, wire::wire};

/// Tokens used for a message: the sum over the model calls of its reply.
///
/// ```
/// use cepa_core::Usage;
///
/// let mut usage = Usage::new(10, 5);
/// usage += Usage::new(1, 2);
/// assert_eq!(usage, Usage::new(11, 7));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens sent to the model, those from the cache included as the provider counts them.
    pub input_tokens: u64,
    /// Tokens the model wrote.
    pub output_tokens: u64,
    /// Sent tokens that came from the provider's prompt cache.
    pub cache_input_tokens: u64,
    /// Sent tokens that were put into the provider's prompt cache.
    pub cache_creation_input_tokens: u64,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl Usage {
    /// Tokens sent and tokens written, without a cache.
    #[must_use]
    pub const fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            cache_input_tokens: 0,
            cache_creation_input_tokens: 0,
            extra: Fields::new(),
        }
    }

    /// Tokens sent and written.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// Sums the counts, which stop at `u64::MAX`. Unknown fields are not summed: the left side's win.
impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        for (count, more) in [
            (&mut self.input_tokens, other.input_tokens),
            (&mut self.output_tokens, other.output_tokens),
            (&mut self.cache_input_tokens, other.cache_input_tokens),
            (&mut self.cache_creation_input_tokens, other.cache_creation_input_tokens),
        ] {
            *count = count.saturating_add(more);
        }
        for (key, value) in other.extra {
            if !self.extra.contains_key(&key) {
                self.extra.insert(key, value);
            }
        }
    }
}

wire!(Usage, "token usage", {
    input_tokens, output_tokens, cache_input_tokens = 0, cache_creation_input_tokens = 0,
});
