//! Choosing the memories that help with a turn.

use std::{sync::LazyLock, time::Duration};

use cepa_core::{
    BoxError, Cx, ModelRequest, Msg, Purpose, Reply, Scratch,
    serde_json::{Value, json},
    texts::fill,
};
use tokio::sync::oneshot;

use super::{
    cut::{both_ends, cut},
    error::AgenticMemoryError,
    folder::MAX_BYTES,
    inert::inert,
    listing::Found,
    settings::Memory,
};
use crate::texts;

/// The most memories that are chosen for a turn.
const MAX_CHOSEN: usize = 5;
/// The most tokens of what was asked that the model is shown.
const QUERY_TOKENS: usize = 2_000;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "selected_files": {
                "type": "array",
                "items": {"type": "string"},
                "description": "The names of the files that help, as they stand in the list. At most five.",
            },
        },
        "required": ["selected_files"],
    })
});

impl Memory {
    /// The memories for a turn, as a hint. `None` where there are none.
    pub(super) async fn choose(&self, cx: &Cx<Reply>, query: &str) -> Result<Option<String>, BoxError> {
        let settings = &self.settings;
        let (max_files, max_tokens) =
            (settings.retrieval_max_files, settings.retrieval_max_tokens_per_frontmatter);
        let (files, manifest) = self
            .blocking(move |open| {
                let mut files = open.list().map_err(AgenticMemoryError::io("."))?;
                files.truncate(max_files);
                let manifest = open.manifest(&files, max_tokens);
                Ok((files, manifest))
            })
            .await?;
        if files.is_empty() {
            return Ok(None);
        }
        let query = both_ends(query, QUERY_TOKENS);
        let question = fill(texts::MEMORY_SELECTION, &[("query", &query), ("manifest", &manifest)]);
        let mut request = ModelRequest::new([
            Msg::system("system", &*settings.retrieval_instructions),
            Msg::user("user", question),
        ]);
        request.model.clone_from(&settings.retrieval_model);
        let answer = cx.call_structured(Purpose::MemorySelection, request, &SCHEMA).await?;
        let chosen = known(answer.get("selected_files"), files);
        if chosen.is_empty() {
            return Ok(None);
        }
        self.read(chosen).await
    }

    async fn read(&self, chosen: Vec<Found>) -> Result<Option<String>, BoxError> {
        let memory = self.clone();
        let parts = self
            .blocking(move |open| {
                let max = memory.settings.retrieval_max_tokens_per_md;
                let read = |file: &Found| match open.head(file.name.as_str(), MAX_BYTES) {
                    Ok(bytes) => {
                        let (path, age) = (memory.path_of(file.name.as_str()), file.age());
                        let text = inert(cut(&String::from_utf8_lossy(&bytes), max));
                        let values = [("path", &*path), ("age", &age), ("memory", &text)];
                        Some(fill(texts::MEMORY_FILE, &values))
                    }
                    Err(error) => {
                        tracing::warn!(file = %file.name, %error, "a memory that was chosen cannot be read");
                        None
                    }
                };
                Ok(chosen.iter().filter_map(read).collect::<Vec<_>>())
            })
            .await?;
        Ok((!parts.is_empty()).then(|| parts.join("\n\n---\n\n")))
    }
}

/// The files that there are, each once, in the order in which they were chosen.
fn known(chosen: Option<&Value>, files: Vec<Found>) -> Vec<Found> {
    let mut known: Vec<Found> = Vec::new();
    let names = chosen.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for name in names {
        if !known.iter().any(|file| file.name.as_str() == name)
            && let Some(file) = files.iter().find(|file| file.name.as_str() == name)
        {
            known.push(file.clone());
        }
    }
    known.truncate(MAX_CHOSEN);
    known
}

/// The memories that are being chosen in a reply, by the layer that has them chosen: there may be several.
#[derive(Default)]
pub(super) struct Choices(Vec<Choice>);

struct Choice {
    layer: usize,
    wait: Duration,
    found: oneshot::Receiver<String>,
}

impl Choices {
    /// Notes that memories are being chosen. The first round may wait for them.
    pub(super) fn begin(scratch: &Scratch, layer: usize, wait: Duration) -> oneshot::Sender<String> {
        let (sender, found) = oneshot::channel();
        scratch.update(|Self(choices)| {
            choices.retain(|choice| choice.layer != layer);
            choices.push(Choice { layer, wait, found });
        });
        sender
    }

    /// What was chosen, once, if it is known by now.
    pub(super) async fn take(scratch: &Scratch, layer: usize) -> Option<String> {
        let mut choice = scratch.update(|Self(choices)| {
            let place = choices.iter().position(|choice| choice.layer == layer)?;
            Some(choices.swap_remove(place))
        })?;
        let wait = std::mem::take(&mut choice.wait);
        let found = if wait.is_zero() {
            choice.found.try_recv()
        } else {
            match tokio::time::timeout(wait, &mut choice.found).await {
                Ok(found) => found.map_err(|_| oneshot::error::TryRecvError::Closed),
                Err(_) => Err(oneshot::error::TryRecvError::Empty),
            }
        };
        if let Err(oneshot::error::TryRecvError::Empty) = found {
            scratch.update(|Self(choices)| choices.push(choice));
        }
        found.ok()
    }
}
