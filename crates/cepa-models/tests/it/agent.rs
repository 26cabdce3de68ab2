//! The models in an agent.

use std::time::Duration;

use cepa_core::{Agent, EventKind};
use serde_json::json;

use crate::{
    chat::model,
    server::{Answer, Piece, Server, delta},
};

#[tokio::test]
async fn words_are_seen_while_the_server_is_still_at_it() {
    let body = delta(&json!({"reasoning_content": "hm"})) + &delta(&json!({"content": "Hel"}));
    let server = Server::start([Answer::sse(body).then(Piece::Hang)]).await;
    let mut agent = Agent::builder("bot").model(model(&server).build().unwrap()).build().unwrap();
    let mut events = agent.reply("hi").stream();
    let reading = async {
        while let Some(event) = events.next().await {
            if let EventKind::TextBlockDelta { delta, .. } = event.kind {
                return Some(delta);
            }
        }
        None
    };
    let seen = tokio::time::timeout(Duration::from_secs(5), reading).await.expect("the word comes at once");
    assert_eq!(seen.as_deref(), Some("Hel"));
}

#[cfg(feature = "extractive")]
#[tokio::test]
async fn an_agent_without_a_server_answers_from_files() {
    use std::sync::Arc;

    use cepa_core::{BoxFuture, Tool, ToolCx, ToolError, ToolResponse};
    use cepa_models::ExtractiveModel;
    use serde_json::{Map, Value};

    #[derive(Debug)]
    struct SearchNotes(Value);

    impl Tool for SearchNotes {
        fn name(&self) -> &str {
            "search_notes"
        }
        fn description(&self) -> &str {
            "Searches all notes."
        }
        fn input_schema(&self) -> &Value {
            &self.0
        }
        fn is_read_only(&self) -> bool {
            true
        }
        fn call(
            self: Arc<Self>,
            _input: Map<String, Value>,
            _cx: ToolCx,
        ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
            let hits = "notes/shed.txt:1: The spare key of the shed hangs behind the door.\n\
                        notes/shed.txt:2: The shed was painted in May.";
            Box::pin(async move { Ok(ToolResponse::text(hits)) })
        }
    }

    let schema =
        json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]});
    let builder = Agent::builder("bot").model(ExtractiveModel::new()).tool(SearchNotes(schema));
    let mut agent = builder.build().unwrap();
    let message = agent.reply("Where is the spare key of the shed?").await.unwrap();
    let answer = "The spare key of the shed hangs behind the door. (notes/shed.txt:1)";
    assert_eq!(message.text().unwrap().lines().next(), Some(answer));
    let usage = message.usage.unwrap();
    assert!(usage.input_tokens > 0 && usage.output_tokens > 0);
    let message = agent.reply("When was it painted, the shed?").await.unwrap();
    assert!(message.text().unwrap().contains("painted in May"), "{message:?}");

    let schema =
        json!({"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]});
    let message = agent.reply("Where does the spare key of the shed hang?").schema(schema).await.unwrap();
    let place = &message.structured_output.unwrap()["place"];
    assert_eq!(place, "The spare key of the shed hangs behind the door.");
}
