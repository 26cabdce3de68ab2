//! Putting tool calls together that arrive in pieces, one after the other or interleaved.

use std::{collections::HashSet, sync::Arc};

use cepa_core::{ChatChunk, ContentDelta, Id};

use super::answer::{CallPiece, Function};

/// The tool calls of one answer.
#[derive(Debug, Default)]
pub(super) struct ToolCalls {
    calls: Vec<Call>,
    /// Ids that this conversation has already.
    taken: HashSet<Id>,
}

#[derive(Debug)]
struct Call {
    index: Option<u64>,
    server_id: String,
    id: Id,
    named: bool,
    /// The arguments so far: what was sent once the name is known, what waits for the name until then.
    input: String,
}

/// A tool call whose name never came.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Nameless;

impl ToolCalls {
    /// The calls of an answer in a conversation that has these ids already: a server that starts to count anew in
    /// each answer gets other ones.
    pub(super) fn new(taken: impl IntoIterator<Item = Id>) -> Self {
        Self { calls: Vec::new(), taken: taken.into_iter().collect() }
    }

    /// Takes a piece, and adds what can be sent of it to the chunk.
    pub(super) fn take(&mut self, piece: CallPiece, chunk: &mut ChatChunk) {
        let position = self.find(&piece).unwrap_or_else(|| self.begin(&piece));
        let Some(call) = self.calls.get_mut(position) else { return };
        let Function { name, arguments } = piece.function.unwrap_or_default();
        if call.named {
            if !arguments.is_empty() {
                call.input.push_str(&arguments);
                chunk.push(ContentDelta::ToolCall {
                    id: call.id.clone(),
                    name: Arc::default(),
                    input: arguments,
                });
            }
            return;
        }
        call.input.push_str(&arguments);
        if !name.is_empty() {
            call.named = true;
            let (id, input) = (call.id.clone(), call.input.clone());
            chunk.push(ContentDelta::ToolCall { id, name: name.into(), input });
        }
    }

    /// The answer is at its end: a call without arguments gets an empty object.
    pub(super) fn finish(&mut self) -> Result<ChatChunk, Nameless> {
        let mut chunk = ChatChunk::default();
        for call in &mut self.calls {
            match call.named {
                true if call.input.trim().is_empty() => {
                    call.input.push_str("{}");
                    let (id, input) = (call.id.clone(), "{}".to_owned());
                    chunk.push(ContentDelta::ToolCall { id, name: Arc::default(), input });
                }
                true => {}
                // A server that announces a call and drops it again.
                false if call.input.trim().is_empty() => {}
                false => return Err(Nameless),
            }
        }
        Ok(chunk)
    }

    /// The call that a piece goes on with. By the book the index says it; but servers leave it out, send the same
    /// for all, or repeat id and name in each piece.
    fn find(&self, piece: &CallPiece) -> Option<usize> {
        let name = piece.function.as_ref().map_or("", |function| &function.name);
        let position = match (piece.index, piece.id.as_str()) {
            (Some(index), _) => self.calls.iter().rposition(|call| call.index == Some(index))?,
            (None, "") => self.calls.len().checked_sub(1)?,
            (None, id) => self.calls.iter().rposition(|call| call.server_id == id)?,
        };
        let call = &self.calls[position];
        let other_id = !piece.id.is_empty() && !call.server_id.is_empty() && piece.id != call.server_id;
        let whole_again = !name.is_empty() && call.named && piece.id.is_empty() && is_object(&call.input);
        (!other_id && !whole_again).then_some(position)
    }

    fn begin(&mut self, piece: &CallPiece) -> usize {
        let mut id = Id::from(piece.id.as_str());
        if id.is_empty() || self.taken.contains(&id) {
            id = Id::from(format!("call_{}", Id::new()));
        }
        self.taken.insert(id.clone());
        let server_id = piece.id.clone();
        self.calls.push(Call { index: piece.index, server_id, id, named: false, input: String::new() });
        self.calls.len() - 1
    }
}

/// Whether this text is a whole JSON object.
pub(super) fn is_object(text: &str) -> bool {
    use serde::de::IgnoredAny;
    use std::{borrow::Cow, collections::HashMap};
    serde_json::from_str::<HashMap<Cow<'_, str>, IgnoredAny>>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// What the pieces add up to, as (id, name, arguments), and whether the ids differ.
    fn assemble(taken: &[&str], pieces: Value) -> Vec<(String, String, String)> {
        let mut calls = ToolCalls::new(taken.iter().map(|id| Id::from(*id)));
        let mut chunk = ChatChunk::default();
        for piece in serde_json::from_value::<Vec<CallPiece>>(pieces).unwrap() {
            calls.take(piece, &mut chunk);
        }
        let mut result: Vec<(String, String, String)> = Vec::new();
        for delta in chunk.deltas().iter().chain(calls.finish().unwrap().deltas()) {
            let ContentDelta::ToolCall { id, name, input } = delta else { unreachable!() };
            let id = id.to_string();
            match result.iter_mut().find(|call| call.0 == id) {
                Some(call) => {
                    assert_eq!(&**name, "", "only the first piece has the name");
                    call.2.push_str(input);
                }
                None => result.push((id, name.to_string(), input.clone())),
            }
        }
        result
    }

    fn inputs(calls: &[(String, String, String)]) -> Vec<(&str, &str)> {
        calls.iter().map(|(_, name, input)| (name.as_str(), input.as_str())).collect()
    }

    #[test]
    fn interleaved_by_index() {
        let calls = assemble(
            &[],
            json!([
                {"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}},
                {"index": 1, "id": "b", "function": {"name": "g", "arguments": "{\"y\""}},
                {"index": 0, "function": {"arguments": "{\"x\":"}},
                {"index": 1, "function": {"arguments": ":2}"}},
                {"index": 0, "function": {"arguments": "1}"}},
            ]),
        );
        assert_eq!(inputs(&calls), [("f", "{\"x\":1}"), ("g", "{\"y\":2}")]);
        assert_eq!((calls[0].0.as_str(), calls[1].0.as_str()), ("a", "b"));
    }

    #[test]
    fn missing_and_repeated_ids_become_unique() {
        for pieces in [
            json!([{"index": 0, "id": "", "function": {"name": "f"}}, {"index": 1, "function": {"name": "f"}}]),
            json!([{"index": 0, "id": "c", "function": {"name": "f"}}, {"index": 1, "id": "c", "function": {"name": "f"}}]),
        ] {
            let calls = assemble(&[], pieces);
            assert_eq!(inputs(&calls), [("f", "{}"), ("f", "{}")]);
        }
        let again = assemble(&["call_0"], json!([{"index": 0, "id": "call_0", "function": {"name": "f"}}]));
        assert_ne!(again[0].0, "call_0");
    }

    #[test]
    fn one_index_for_several_calls() {
        let by_id = assemble(
            &[],
            json!([
                {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}},
                {"index": 0, "id": "b", "function": {"name": "g", "arguments": "{}"}},
            ]),
        );
        assert_eq!(inputs(&by_id), [("f", "{}"), ("g", "{}")]);
        let whole = assemble(
            &[],
            json!([
                {"index": 0, "function": {"name": "f", "arguments": "{}"}},
                {"index": 0, "function": {"name": "g", "arguments": "{}"}},
            ]),
        );
        assert_eq!(inputs(&whole), [("f", "{}"), ("g", "{}")]);
    }

    #[test]
    fn id_and_name_in_each_piece() {
        let calls = assemble(
            &[],
            json!([
                {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\""}},
                {"index": 0, "id": "a", "function": {"name": "f", "arguments": ":1}"}},
            ]),
        );
        assert_eq!(inputs(&calls), [("f", "{\"x\":1}")]);
    }

    #[test]
    fn without_index_the_last_call_goes_on() {
        let calls = assemble(
            &[],
            json!([
                {"id": "a", "function": {"name": "f", "arguments": "{"}},
                {"function": {"arguments": "}"}},
            ]),
        );
        assert_eq!(inputs(&calls), [("f", "{}")]);
    }

    #[test]
    fn a_name_that_comes_late_or_never() {
        let late = assemble(
            &[],
            json!([
                {"index": 0, "id": "a", "function": {"arguments": "{\"x\""}},
                {"index": 0, "function": {"name": "f", "arguments": ":1}"}},
            ]),
        );
        assert_eq!(inputs(&late), [("f", "{\"x\":1}")]);
        let mut calls = ToolCalls::default();
        let piece = CallPiece {
            function: Some(Function { name: String::new(), arguments: "{}".into() }),
            ..Default::default()
        };
        calls.take(piece, &mut ChatChunk::default());
        assert_eq!(calls.finish(), Err(Nameless));
    }
}
