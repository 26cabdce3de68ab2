//! [`Screening`]: a guard's detectors at the hooks of an agent.

use std::{borrow::Cow, sync::Arc};

use cepa_core::{
    AgentEvent, Cx, EventKind, ModelCall, ModelRequest, Msg, Next, OrderRule, Purpose, Reply,
    ReplyFinishedReason, ReplyInput, Result,
};

use super::{Found, SharedCleaner, errors::blocked};

/// What a value does whose detector [blocks](crate::Action::Block).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnBlock {
    /// The reply ends with [`PiiBlocked`](crate::PiiBlocked).
    #[default]
    Error,
    /// This text is the answer: the model is not asked, or not heard to its end. A tool's result is this text, as an
    /// error, and the model goes on.
    Refuse(String),
}

/// Where a guard looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    pub(crate) input: bool,
    pub(crate) output: bool,
    pub(crate) tool_arguments: bool,
    pub(crate) tool_results: bool,
    pub(crate) requests: bool,
    pub(crate) system_prompt: bool,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            input: true,
            output: true,
            tool_arguments: true,
            tool_results: true,
            requests: true,
            system_prompt: false,
        }
    }
}

/// A guard's detectors, where they look and what they do.
#[derive(Clone, Debug)]
pub(crate) struct Screening {
    pub(crate) guard: &'static str,
    pub(crate) cleaner: SharedCleaner,
    pub(crate) places: Places,
    pub(crate) on_block: OnBlock,
}

/// The input of this reply is refused: the model is not asked.
#[derive(Clone, Copy, Debug)]
struct InputRefused;

/// Of a guard that looks at what comes out.
const ORDER: &[OrderRule] = &[
    OrderRule::inside_of("TracingMiddleware", "outside, the trace holds answers and results as they came"),
    OrderRule::inside_of("AuditLog", "outside, the log holds results as they came"),
    OrderRule::inside_of(
        "ToolOutputLimit",
        "outside, a cut may part a value, and what is kept elsewhere is not clean",
    ),
    OrderRule::inside_of(
        "ModelRetry",
        "outside, what is held back counts as sent, and errors are logged as they came",
    ),
    OrderRule::inside_of(
        "ModelFallback",
        "outside, what is held back counts as sent, and errors are logged as they came",
    ),
    OrderRule::inside_of("ToolRetry", "outside, errors are logged as they came"),
];

impl Screening {
    pub(crate) fn for_input(&self) -> Self {
        let nothing_else = Places {
            input: self.places.input,
            output: false,
            tool_arguments: false,
            tool_results: false,
            requests: false,
            system_prompt: false,
        };
        Self { places: nothing_else, ..self.clone() }
    }

    fn looks_at_what_comes_out(&self) -> bool {
        self.places.output || self.places.tool_arguments || self.places.tool_results
    }

    pub(crate) fn name(&self) -> Cow<'static, str> {
        if self.looks_at_what_comes_out() {
            self.guard.into()
        } else {
            format!("{} (input)", self.guard).into()
        }
    }

    pub(crate) fn order(&self) -> &'static [OrderRule] {
        if self.looks_at_what_comes_out() { ORDER } else { &[] }
    }

    pub(crate) async fn reply(&self, cx: Cx<Reply>, mut input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        if self.places.input {
            let mut found = Found::default();
            self.cleaner.clean_inputs(&mut input.inputs, &mut found);
            self.tell("input", &found);
            if let Some(detector) = found.blocked {
                match self.on_block {
                    OnBlock::Error => return Err(blocked(detector, "the input")),
                    OnBlock::Refuse(_) => _ = cx.scratch().insert(InputRefused),
                }
            }
        }
        let cleaner = self.cleaner.clone();
        let result = next.tap_shared(input, move |event| cleaner.clean_event(event)).await;
        let mut message = self.cleaner.clean_result(result)?;
        if self.places.output {
            self.cleaner.clean_msg(&mut message, &mut Found::default());
        }
        Ok(message)
    }

    pub(crate) async fn model_call(
        &self,
        cx: Cx<ModelCall>,
        mut request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<cepa_core::ChatResponse> {
        let is_chat = request.purpose == Purpose::Chat;
        if is_chat
            && let OnBlock::Refuse(text) = &self.on_block
            && cx.scratch().get::<InputRefused>().is_some()
        {
            drop(next);
            return Ok(cepa_core::ChatResponse::own_text(text.as_str()));
        }
        if self.places.requests {
            let mut found = Found::default();
            let changed =
                self.cleaner.clean_request(&mut request.messages, self.places.system_prompt, &mut found);
            self.tell("request", &found);
            if !changed.is_empty() {
                // What came past the input, such as a hint of another layer, is not kept in the state either.
                let mut state = cx.state()?;
                for message in &mut state.context {
                    if let Some((_, clean)) = changed.iter().find(|(before, _)| Arc::ptr_eq(before, message))
                    {
                        *message = clean.clone();
                    }
                }
                self.cleaner.clean_text_or_blocks(&mut state.summary, &mut Found::default());
            }
            if let Some(detector) = found.blocked {
                return match &self.on_block {
                    OnBlock::Refuse(text) if is_chat => Ok(cepa_core::ChatResponse::own_text(text.as_str())),
                    _ => Err(blocked(detector, "the model request")),
                };
            }
        }
        if !self.places.output && !self.places.tool_arguments {
            return self.cleaner.clean_result(next.run(request).await);
        }
        self.model_answer(cx, request, next, is_chat).await
    }

    /// Says how much was found, never what.
    pub(crate) fn tell(&self, place: &'static str, found: &Found) {
        if found.values > 0 {
            let (guard, values, blocked) = (self.guard, found.values, found.blocked.is_some());
            tracing::debug!(guard, place, values, blocked, "values were found and taken out");
        }
    }

    /// Whether a message is one that a refusal gives.
    pub(crate) fn refusal(&self) -> Option<&str> {
        match &self.on_block {
            OnBlock::Refuse(text) => Some(text),
            OnBlock::Error => None,
        }
    }
}

impl super::Cleaner {
    /// What goes past the hooks of content: hints, and whatever other layers make of their own.
    fn clean_event(&self, event: &mut AgentEvent) {
        let found = &mut Found::default();
        match &mut event.kind {
            EventKind::HintBlock { hint, .. } => _ = self.clean_text_or_blocks(hint, found),
            EventKind::Custom { value, .. } => _ = self.clean_fields(value, found),
            EventKind::TextBlockEnd { text: Some(text), .. } => _ = self.clean_in_place(text, found),
            EventKind::ReplyEnd {
                error: Some(error), finished_reason: ReplyFinishedReason::Error, ..
            } => {
                _ = self.clean_in_place(&mut error.message, found);
            }
            _ => {}
        }
        self.clean_fields(&mut event.metadata, found);
    }
}
