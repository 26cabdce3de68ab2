//! Blocks in the words of the case files.

use serde_json::Value;

use super::{Normaliser, remove_if_empty};

impl Normaliser<'_> {
    /// A list of blocks.
    pub(super) fn blocks(&mut self, blocks: &mut Value) {
        if let Value::Array(blocks) = blocks {
            blocks.iter_mut().for_each(|block| self.block(block));
        }
    }

    /// A text, or a list of blocks.
    pub(super) fn text_or_blocks(&mut self, content: &mut Value) {
        match content {
            Value::String(text) => *text = self.tags.apply(text).into_owned(),
            other => self.blocks(other),
        }
    }

    pub(super) fn block(&mut self, block: &mut Value) {
        let Some(fields) = block.as_object_mut() else { return };
        fields.remove("created_at");
        fields.remove("finished_at");
        remove_if_empty(fields, "metadata");
        remove_if_empty(fields, "suggested_rules");
        let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        match kind.as_str() {
            // Only an id that an event told is of interest to anybody.
            "text" | "thinking" | "hint" => {
                let id = fields.get("id").and_then(Value::as_str).unwrap_or_default();
                match self.ids.block(id).map(str::to_owned) {
                    Some(name) => fields.insert("id".to_owned(), name.into()),
                    None => fields.remove("id"),
                };
            }
            "data" => {
                if let Some(id) = fields.get_mut("id") {
                    self.id(id);
                }
                if fields.get("name").is_some_and(Value::is_null) {
                    fields.remove("name");
                }
            }
            _ => {}
        }
        for (key, value) in fields.iter_mut() {
            match key.as_str() {
                "text" | "thinking" | "hint" | "output" => self.text_or_blocks(value),
                _ => {}
            }
        }
    }
}
