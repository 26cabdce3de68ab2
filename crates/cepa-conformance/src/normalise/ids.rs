//! Names for made-up ids.

use std::collections::HashMap;

use serde_json::Value;

/// Names of made-up ids: `r1…` for replies, `b1…` for blocks, `m…` for anything else. An id that the case chose
/// itself keeps its text.
pub(super) struct Ids {
    replies: HashMap<String, String>,
    blocks: HashMap<String, String>,
    others: HashMap<String, String>,
}

impl Ids {
    /// Numbers the ids of replies and blocks in the order in which the calls' events tell them.
    pub(super) fn of_calls(calls: &[Value]) -> Self {
        let mut ids = Self { replies: HashMap::new(), blocks: HashMap::new(), others: HashMap::new() };
        for call in calls {
            for event in items(&call["events"]) {
                add(&mut ids.replies, 'r', &event["reply_id"]);
                add(&mut ids.blocks, 'b', &event["block_id"]);
            }
            ids.add_silent_reply(call);
        }
        ids
    }

    /// A reply that no event told of is one all the same if it has a message.
    fn add_silent_reply(&mut self, call: &Value) {
        let state = &call["state"];
        let id = &state["reply_context"]["reply_id"];
        if items(&state["context"])
            .iter()
            .chain(items(&call["final_messages"]))
            .any(|message| message["id"] == *id)
        {
            add(&mut self.replies, 'r', id);
        }
    }

    /// The name of a reply; `None` for an id that no reply has.
    pub(super) fn reply(&self, id: &str) -> Option<&str> {
        self.replies.get(id).map(String::as_str)
    }

    /// The name of a block that an event told of.
    pub(super) fn block(&self, id: &str) -> Option<&str> {
        self.blocks.get(id).map(String::as_str)
    }

    /// The name of a reply or a block.
    pub(super) fn known(&self, id: &str) -> Option<&str> {
        self.reply(id).or_else(|| self.block(id))
    }

    /// The name of an id, whatever it is of.
    pub(super) fn name(&mut self, id: &str) -> String {
        if let Some(name) = self.known(id) {
            return name.to_owned();
        }
        if !is_made_up(id) {
            return id.to_owned();
        }
        let next = self.others.len() + 1;
        self.others.entry(id.to_owned()).or_insert_with(|| format!("m{next}")).clone()
    }
}

fn add(names: &mut HashMap<String, String>, letter: char, id: &Value) {
    let Some(id) = id.as_str() else { return };
    if names.contains_key(id) {
        return;
    }
    let number = names.iter().filter(|(id, name)| id != name).count() + 1;
    let name = if is_made_up(id) { format!("{letter}{number}") } else { id.to_owned() };
    names.insert(id.to_owned(), name);
}

/// Made-up ids are UUIDs without dashes.
pub(super) fn is_made_up(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
