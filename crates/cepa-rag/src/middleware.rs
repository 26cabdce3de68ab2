//! The layer.

mod builder;
mod placed;

use std::sync::Arc;

use cepa_core::{
    AgentEvent, Cx, ErrorKind, EventKind, HintBlock, Middleware, MiddlewareKey, Msg, Next, Reasoning,
    ReasoningInput, Reply, ReplyInput, Result, Tool, middleware,
};
use serde::{Deserialize, Serialize};

pub use self::builder::RagMiddlewareBuilder;
use self::placed::Placed;
use crate::{
    Hit, Retriever,
    asker::Asker,
    passages,
    search::Search,
    texts::HINT_SOURCE,
    tool::SearchKnowledge,
    turn::{Taken, Turn},
};

/// Knowledge bases that an agent searches (AgentScope 2.0.11's `RAGMiddleware`).
///
/// Anything that is a [`Retriever`] can be searched. All of them are searched at once, each with a deadline; one that
/// fails is logged as a warning and loses its own hits only. Hits are merged by score where
/// [scales](Retriever::scale) are equal, else by their ranks, each hit once, and may be put in order once more by a
/// model. [`RagMode`] says who decides to search.
///
/// What goes wrong with a search never ends a reply. One layer serves any number of agents at once: what belongs to a
/// reply lives in that reply. It keeps nothing in the session.
///
/// ```
/// use cepa_core::{Agent, BoxFuture, OutputBlock, TextBlock, testing::ScriptedModel};
/// use cepa_rag::{Chunk, Hit, RagError, RagMiddleware, RagMode, Retriever, SearchOptions};
///
/// /// A search service of your own; a knowledge base is used in the same way.
/// #[derive(Debug)]
/// struct Botany;
///
/// impl Retriever for Botany {
///     fn name(&self) -> &str {
///         "botany"
///     }
///     fn description(&self) -> &str {
///         "Plants, and what people eat of them."
///     }
///     fn search<'a>(
///         &'a self,
///         _queries: &'a [OutputBlock],
///         _options: &'a SearchOptions,
///     ) -> BoxFuture<'a, Result<Vec<Hit>, RagError>> {
///         let chunk = Chunk::new("botany.txt", TextBlock::new("Allium cepa is the onion."));
///         Box::pin(async move { Ok(vec![Hit::new(0.9, "botany", chunk)]) })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let rag = RagMiddleware::builder([Botany]).mode(RagMode::Static).top_k(3).build()?;
/// # let model = ScriptedModel::new(["The onion."]);
/// let mut agent = Agent::builder("Friday").model(model.clone()).middleware(rag).build()?;
/// agent.reply("What is Allium cepa?").await?;
///
/// // The model saw what was found, and the conversation holds none of it.
/// let request = &model.requests()[0];
/// assert!(format!("{:?}", request.messages).contains("[1] (source: botany.txt)"));
/// assert!(!agent.save()?.contains("botany.txt"));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct RagMiddleware {
    search: Arc<Search>,
    mode: RagMode,
    hint_template: String,
    emit_hint_event: bool,
    persist_hint: bool,
}

/// Who decides to search (AgentScope 2.0.11's modes, by the same names in JSON).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RagMode {
    /// The model, by the tool `search_knowledge`: when it wants, for what it wants, in all bases or in some.
    #[default]
    Agentic,
    /// The layer, once per reply, by what the user says. What it finds comes into the context as a hint before the
    /// first round; if it does not fit there, the context is compressed first, and then the last hits are left out.
    Static,
}

impl RagMiddleware {
    /// A layer over these retrievers, to be set up. They are given by value, or as [`Arc`]s where they are of several
    /// types.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use cepa_rag::{RagMiddleware, Retriever, RagError};
    /// # fn layer(guides: impl Retriever, wiki: impl Retriever) -> Result<RagMiddleware, RagError> {
    /// let bases: [Arc<dyn Retriever>; 2] = [Arc::new(guides), Arc::new(wiki)];
    /// let rag = RagMiddleware::builder(bases).top_k(8).build()?;
    /// # Ok(rag) }
    /// ```
    pub fn builder(retrievers: impl IntoIterator<Item = impl Retriever>) -> RagMiddlewareBuilder {
        let shared = |retriever| Arc::new(retriever) as Arc<dyn Retriever>;
        RagMiddlewareBuilder::new(retrievers.into_iter().map(shared).collect())
    }

    /// What tells this layer from another one of its kind in the same agent.
    fn id(&self) -> usize {
        Arc::as_ptr(&self.search).addr()
    }

    /// The hint for this round, and whether the caller is to be told of it. `None` where there is none.
    async fn hint(&self, cx: &Cx<Reasoning>) -> Result<Option<(HintBlock, bool)>> {
        if self.mode != RagMode::Static || cx.state()?.reply_context.cur_iter > 0 {
            return Ok(None);
        }
        let mut taken = Taken::take(cx.scratch(), self.id());
        if let Some(Turn::Asked(queries)) = &taken.turn {
            let hits = self.search.run(Asker::Layer(cx), queries, |_| true).await.hits;
            taken.turn = Some(Turn::Found { hits, is_told: false });
        }
        // A layer outside may run the first round again.
        let Some(Turn::Found { hits, is_told }) = &taken.turn else { return Ok(None) };
        let tells = self.emit_hint_event && !is_told;
        let hint = self.fitting(cx, hits).await?;
        // A hint that stays is put in once.
        if self.persist_hint && hint.is_some() {
            taken.turn = None;
        }
        Ok(hint.map(|hint| (hint, tells)))
    }

    /// A hint with as many hits as the context has room for.
    async fn fitting(&self, cx: &Cx<Reasoning>, hits: &[Hit]) -> Result<Option<HintBlock>> {
        let mut room = None;
        for count in (1..=hits.len()).rev() {
            let content = passages::hint(&self.hint_template, &hits[..count]);
            let hint = HintBlock::new(content).with_source(HINT_SOURCE);
            let message = Msg::assistant(cx.agent_name(), vec![hint.clone().into()]);
            // One more: estimates are rounded, and two parts may take one more together.
            let tokens = cx.model().count_tokens(&[message.into()], &[]).saturating_add(1);
            let room = match room {
                Some(room) => room,
                None => *room.insert(match cx.make_room(tokens).await {
                    Ok(room) => room,
                    Err(error) if matches!(error.kind(), ErrorKind::Interrupted) => return Err(error),
                    Err(error) => {
                        tracing::warn!(agent = cx.agent_name(), %error, "there is no room for what was found");
                        return Ok(None);
                    }
                }),
            };
            if tokens <= room {
                return Ok(Some(hint));
            }
        }
        if !hits.is_empty() {
            tracing::warn!(agent = cx.agent_name(), room, "what was found is too long for the context");
        }
        Ok(None)
    }
}

#[middleware]
impl Middleware for RagMiddleware {
    fn key(&self) -> Option<MiddlewareKey> {
        None // it keeps nothing in the session
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        match self.mode {
            RagMode::Agentic => vec![Arc::new(SearchKnowledge::new(self.search.clone()))],
            RagMode::Static => Vec::new(),
        }
    }

    async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        if self.mode == RagMode::Static {
            Turn::begin(cx.scratch(), self.id(), &input.inputs);
        }
        next.run(input).await
    }

    async fn on_reasoning(
        &self,
        cx: Cx<Reasoning>,
        input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> Result<Option<Msg>> {
        let Some((hint, tells)) = self.hint(&cx).await? else {
            return next.run(input).await;
        };
        let event = EventKind::HintBlock {
            reply_id: cx.reply_id()?,
            block_id: hint.id.clone(),
            source: hint.source.clone(),
            hint: hint.hint.clone(),
        };
        // Taken out again when this ends, however it ends.
        let _placed = Placed::put(&cx, hint, self.persist_hint)?;
        if tells {
            cx.emit(AgentEvent::new(event)).await;
            Turn::told(cx.scratch(), self.id());
        }
        next.run(input).await
    }
}
