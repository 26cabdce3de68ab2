//! What the failed attempts of a call have cost.

use cepa_core::{ChatResponse, ChatUsage, Error, Result};

/// Adds up what failed attempts have cost: they are paid for like any other, so it belongs to what the call comes to.
#[derive(Debug, Default)]
pub(crate) struct Spent(Option<ChatUsage>);

impl Spent {
    /// Adds what a failed attempt has cost, as far as the server had said so.
    pub(crate) fn add(&mut self, error: &Error) {
        let Some(usage) = error.usage() else { return };
        match &mut self.0 {
            Some(sum) => add(sum, usage),
            None => self.0 = Some(usage.clone()),
        }
    }

    /// The response with the whole cost. Where its own is not known, others estimate it: then it is left so.
    pub(crate) fn into_response(self, mut response: ChatResponse) -> ChatResponse {
        if let (Some(sum), Some(usage)) = (&self.0, &mut response.usage) {
            add(usage, sum);
        }
        response
    }

    /// The failure of it all, whose own cost was added already.
    pub(crate) fn into_error<T>(self, error: Error) -> Result<T> {
        Err(error.with_usage(self.0))
    }
}

// Servers say absurd numbers too.
fn add(sum: &mut ChatUsage, usage: &ChatUsage) {
    sum.input_tokens = sum.input_tokens.saturating_add(usage.input_tokens);
    sum.output_tokens = sum.output_tokens.saturating_add(usage.output_tokens);
    sum.time += usage.time;
    sum.cache_input_tokens = sum.cache_input_tokens.saturating_add(usage.cache_input_tokens);
    sum.cache_creation_input_tokens =
        sum.cache_creation_input_tokens.saturating_add(usage.cache_creation_input_tokens);
}
