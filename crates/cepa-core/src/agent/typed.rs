//! Replies that give a value of a Rust type.

use std::{fmt, future::IntoFuture, marker::PhantomData};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{Agent, CancelToken, ReplyCall, ReplyStream};
use crate::{chain::BoxFuture, error::Result, message::Msg, middleware::Inputs, schema::schema_of};

impl Agent {
    /// Answers with a `T`: as [`reply`](Self::reply), with the JSON schema of `T` as the structured output that is
    /// asked for. The model hands it over by a tool call; what does not fit the schema goes back to the model.
    ///
    /// `T` is a struct: model servers take nothing else as the arguments of a call.
    ///
    /// ```
    /// use cepa_core::{Agent, schemars::JsonSchema};
    /// use serde::Deserialize;
    ///
    /// # use cepa_core::{BoxFuture, ChatChunk, ChatModel, ChatResponse, ModelOutlet, ModelRequest};
    /// # #[derive(Debug)] struct Fixed;
    /// # impl ChatModel for Fixed {
    /// #     fn name(&self) -> &str { "fixed" }
    /// #     fn call(&self, _: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, cepa_core::Result<ChatResponse>> {
    /// #         let input = r#"{"city": "Rome", "days": 4}"#;
    /// #         Box::pin(async move {
    /// #             out.emit(ChatChunk::tool_call("c1", cepa_core::GENERATE_STRUCTURED_OUTPUT, input)).await;
    /// #             Ok(ChatResponse::streamed())
    /// #         })
    /// #     }
    /// # }
    /// # fn model() -> Fixed { Fixed }
    /// /// A journey.
    /// #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    /// struct Journey {
    ///     /// Where to.
    ///     city: String,
    ///     days: u32,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut agent = Agent::builder("Friday").model(model()).build()?;
    /// let journey = agent.reply_as::<Journey>("I'd like to see Rome for four days.").await?;
    /// assert_eq!(journey, Journey { city: "Rome".to_owned(), days: 4 });
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Beside those of any reply, *no structured output* for a reply that is parked or ends without one. A parked
    /// one goes on by [`reply`](Self::reply) with the answer, and [`Msg::structured`] reads the value from its
    /// message.
    pub fn reply_as<T: DeserializeOwned + JsonSchema>(
        &mut self,
        inputs: impl Into<Inputs>,
    ) -> TypedReplyCall<'_, T> {
        TypedReplyCall { call: self.reply(inputs).schema(schema_of::<T>()), output: PhantomData }
    }
}

/// A reply being prepared that gives a `T`: `.await` it for the value. Made by [`Agent::reply_as`].
#[must_use = "nothing happens until this is awaited or streamed"]
pub struct TypedReplyCall<'a, T> {
    call: ReplyCall<'a>,
    output: PhantomData<fn() -> T>,
}

impl<'a, T: DeserializeOwned> TypedReplyCall<'a, T> {
    /// As [`ReplyCall::with`].
    pub fn with<V: Send + Sync + 'static>(mut self, value: V) -> Self {
        self.call = self.call.with(value);
        self
    }

    /// As [`ReplyCall::cancel_on`].
    pub fn cancel_on(mut self, token: CancelToken) -> Self {
        self.call = self.call.cancel_on(token);
        self
    }

    /// The value, and the message that carries it.
    ///
    /// # Errors
    /// As of the value alone.
    pub async fn with_message(self) -> Result<(T, Msg)> {
        let message = self.call.await?;
        Ok((message.structured()?, message))
    }

    /// The reply's events as they happen; its message at the end has the value
    /// ([`Msg::structured`]).
    pub fn stream(self) -> ReplyStream<'a> {
        self.call.stream()
    }
}

impl<'a, T: DeserializeOwned + 'a> IntoFuture for TypedReplyCall<'a, T> {
    type Output = Result<T>;
    type IntoFuture = BoxFuture<'a, Result<T>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.call.await?.structured() })
    }
}

impl<T> fmt::Debug for TypedReplyCall<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TypedReplyCall").field(&self.call).finish()
    }
}
