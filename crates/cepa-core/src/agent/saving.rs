//! Saving a session again and again, at the cost of what has changed.
//!
//! Most of a session is messages, and most of these never change again. So the text that was saved last is kept, and
//! only what comes after the last unchanged message is written anew. Whether a message has changed is seen by its
//! address: it is shared, so that a change makes another one of it ([`Arc::make_mut`]), and the address stays taken as
//! long as it is remembered here. It is remembered weakly, so that nothing is kept alive or copied because of that.

use std::sync::{Arc, Weak};

use super::{Agent, AgentDefinition};
use crate::{
    error::{Error, ErrorKind, Result},
    message::Msg,
    state::AgentState,
};

impl Agent {
    /// The session as JSON, for [`AgentDefinition::load`] here or for AgentScope 2.0.11: what
    /// `serde_json::to_string` makes of the [state](Self::state).
    ///
    /// The text is kept, and the next call writes only what has changed since. For an agent that idles in memory,
    /// [`forget_saved`](Self::forget_saved) gives it up.
    ///
    /// ```
    /// # use cepa_core::{BoxFuture, ChatModel, ChatResponse, ModelOutlet, ModelRequest};
    /// # #[derive(Debug)] struct Polite;
    /// # impl ChatModel for Polite {
    /// #     fn name(&self) -> &str { "polite" }
    /// #     fn call(&self, _: ModelRequest, _: ModelOutlet) -> BoxFuture<'_, cepa_core::Result<ChatResponse>> {
    /// #         Box::pin(async { Ok(ChatResponse::own_text("How do you do?")) })
    /// #     }
    /// # }
    /// # fn model() -> Polite { Polite }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let definition = cepa_core::Agent::builder("Friday").model(model()).define()?;
    /// let mut agent = definition.agent();
    /// agent.reply("Hello").await?;
    /// let saved = agent.save()?.to_owned(); // into a file, a database, …
    ///
    /// let agent = definition.load(saved)?;
    /// assert_eq!(agent.state()?.context.len(), 2);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The state of a layer that does not encode, by its key.
    pub fn save(&mut self) -> Result<&str> {
        let state = self.session.lock()?;
        self.saved.get_or_insert_default().update(&state)
    }

    /// Drops the text that [`save`](Self::save) keeps, which is as long as the session.
    pub fn forget_saved(&mut self) {
        self.saved = None;
    }
}

impl AgentDefinition {
    /// An agent that goes on with a saved session: JSON from [`Agent::save`], or from AgentScope 2.0.11.
    ///
    /// # Errors
    /// *Saved session*: what is wrong with the JSON, and in which field.
    pub fn load(&self, saved: impl AsRef<[u8]>) -> Result<Agent> {
        let state = serde_json::from_slice(saved.as_ref()).map_err(ErrorKind::SavedSession)?;
        Ok(self.agent_with(state))
    }
}

/// The text that was saved last, and where in it the messages are.
#[derive(Debug, Default)]
pub(super) struct SavedText {
    text: String,
    /// Where the first message begins.
    start: usize,
    messages: Vec<SavedMsg>,
}

#[derive(Debug)]
struct SavedMsg {
    msg: Weak<Msg>,
    /// Where its text ends.
    end: usize,
}

impl SavedText {
    /// The state's text.
    fn update(&mut self, state: &AgentState) -> Result<&str> {
        let unencodable = |error| match state.middle_context.unencodable() {
            Some(error) => error.into(),
            None => Error::other(error),
        };
        // Two objects are joined into one, with the messages between them.
        let mut before = serde_json::to_string(&state.before_context()).map_err(Error::other)?;
        before.pop();
        before.push_str(",\"context\":[");
        let after = serde_json::to_string(&state.after_context()).map_err(unencodable)?;

        let unchanged = if self.text.get(..self.start) == Some(before.as_str()) {
            self.messages.iter().zip(&state.context).take_while(|(saved, msg)| saved.is(msg)).count()
        } else {
            self.start = before.len();
            self.text = before;
            0
        };
        self.messages.truncate(unchanged);
        self.text.truncate(self.messages.last().map_or(self.start, |last| last.end));
        for msg in &state.context[unchanged..] {
            if !self.messages.is_empty() {
                self.text.push(',');
            }
            self.text.push_str(&serde_json::to_string(msg).map_err(Error::other)?);
            self.messages.push(SavedMsg { msg: Arc::downgrade(msg), end: self.text.len() });
        }
        self.text.push_str("],");
        self.text.push_str(after.get(1..).unwrap_or_default());
        Ok(&self.text)
    }
}

impl SavedMsg {
    fn is(&self, msg: &Arc<Msg>) -> bool {
        self.msg.as_ptr() == Arc::as_ptr(msg)
    }
}
