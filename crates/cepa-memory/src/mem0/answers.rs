//! What mem0 answers, read.

use cepa_http::{Http, ServerError};
use serde_json::Value;

use super::backend::{Mem0Added, Mem0Memory};

/// The memories of a search: an object with `results`, or a list, of objects or texts.
pub(super) fn memories(http: &Http, answer: &Value) -> Result<Vec<Mem0Memory>, ServerError> {
    let Some(results) = results(answer) else {
        return Err(http.nonsense("a search without `results`"));
    };
    Ok(results.iter().filter_map(memory).collect())
}

/// What became of an `add`. Work that is only begun is told apart from work that came to nothing.
pub(super) fn added(http: &Http, answer: &Value) -> Result<Mem0Added, ServerError> {
    let results = results(answer).map(|results| {
        let changes = results.iter().filter(|result| result["event"] != "NONE");
        changes.filter_map(memory).collect::<Vec<_>>()
    });
    let event_id = answer["event_id"].as_str().map(str::to_owned);
    match results {
        Some(results) if !results.is_empty() => Ok(Mem0Added::Done(results)),
        _ if event_id.is_some() || is_pending(answer) => Ok(Mem0Added::Pending { event_id }),
        Some(_) => Ok(Mem0Added::Nothing),
        None => Err(http.nonsense("an addition with neither `results` nor an `event_id`")),
    }
}

/// Whether work is still to be done.
pub(super) fn is_pending(answer: &Value) -> bool {
    matches!(answer["status"].as_str(), Some("PENDING" | "RUNNING"))
}

/// One memory: its text is in `memory`, or in the `data` of a change on the platform.
pub(super) fn memory(value: &Value) -> Option<Mem0Memory> {
    let text = value.as_str().or_else(|| value["memory"].as_str());
    let text = text.or_else(|| value["data"]["memory"].as_str()).or_else(|| value["text"].as_str())?;
    let id = value["id"].as_str().map(str::to_owned);
    Some(Mem0Memory { id, score: value["score"].as_f64(), ..Mem0Memory::new(text) })
}

/// The list in an answer.
pub(super) fn results(answer: &Value) -> Option<&Vec<Value>> {
    answer.as_array().or_else(|| answer["results"].as_array())
}
