//! Calls that fail again and again.

use std::{cell::LazyCell, sync::Arc};

use serde_json::Value;

use crate::message::{Msg, ToolResultBlock, ToolResultState};

/// The tool whose calls with the same arguments were the last ones and failed, at least `limit` times, and how often.
pub(super) fn repeated_failure(msg: &Msg, limit: usize) -> Option<(&Arc<str>, usize)> {
    let last = msg.tool_results().next_back()?;
    let failures = || {
        let failed = |result: &&ToolResultBlock| result.state == ToolResultState::Error;
        msg.tool_results().rev().take_while(failed).take_while(|result| result.name == last.name)
    };
    // Names first: they tell nearly always.
    if failures().take(limit).count() < limit {
        return None;
    }
    let arguments = |result: &ToolResultBlock| {
        msg.tool_calls().rev().find(|call| call.id == result.id).map_or("", |call| call.input.trim())
    };
    let read = |arguments: &str| serde_json::from_str::<Value>(arguments).ok();
    let latest = arguments(last);
    let latest_value = LazyCell::new(|| read(latest));
    // The same but for the order of the keys; what is no JSON, letter by letter.
    let same = |other: &str| {
        other == latest || latest_value.as_ref().is_some_and(|value| read(other).as_ref() == Some(value))
    };
    let count = failures().take_while(|result| same(arguments(result))).count();
    (count >= limit).then_some((&last.name, count))
}
