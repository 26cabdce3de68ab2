//! What the user says, and what the server does meanwhile.

use std::time::Duration;

use cepa::prelude::*;
use serde_json::json;

use crate::{
    Outcome,
    server::{Act, Server, nothing_left},
    stack::{OPEN_FOR, Stack},
    tools::{CARD, EMAIL},
};

/// Longer than the report takes.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) async fn play(server: &Server, stack: &mut Stack) -> Outcome {
    let hello = [Act::Busy(1), Act::Fail(500), Act::Say("Good morning!")];
    turn(server, stack, "A server that is busy, then fails", "Good morning.", hello).await?;

    turn(
        server,
        stack,
        "Another model for another task",
        "Prove that onions have layers.",
        [Act::Say("By induction over the rings.")],
    )
    .await?;

    let personal = format!("Write to {EMAIL}, who paid with {CARD}.");
    turn(
        server,
        stack,
        "Personal data, both ways",
        &personal,
        [Act::Say("I have written to ann.lee@example.com about card 4111 1111 1111 1111.")],
    )
    .await?;

    turn(
        server,
        stack,
        "A tool that knows personal data",
        "Who is Ann Lee?",
        [Act::Call("customer", json!({"name": "Ann Lee"})), Act::Say("A customer of ours.")],
    )
    .await?;

    turn(
        server,
        stack,
        "Arguments that ask for too much",
        "Who are our customers?",
        [Act::Call("customer", json!({"name": "*"})), Act::Say("I may look up one at a time.")],
    )
    .await?;

    turn(
        server,
        stack,
        "A path that leads out, and a file with a key in it",
        "Show me the deployment.",
        [
            Act::Call("read_file", json!({"path": "../../etc/passwd"})),
            Act::Call("read_file", json!({"path": "deploy.txt"})),
            Act::Say("It is deployed with a token."),
        ],
    )
    .await?;

    turn(
        server,
        stack,
        "A tool that fails once",
        "What is in stock?",
        [Act::Call("stock", json!({})), Act::Say("Onions.")],
    )
    .await?;

    turn(
        server,
        stack,
        "A tool that says too much",
        "What does the log say?",
        [Act::Call("server_log", json!({})), Act::Say("All is well.")],
    )
    .await?;

    turn(
        server,
        stack,
        "A tool that takes its time",
        "Write the yearly report.",
        [Act::Call("report", json!({})), Act::Say("It is being written.")],
    )
    .await?;
    let session = stack.agent.state()?.session_id.clone();
    stack.background.finished(&session, PATIENCE).await?;
    turn(server, stack, "… and is done meanwhile", "How is the report?", [Act::Say("It has 41 pages.")])
        .await?;

    let again = || Act::Call("read_file", json!({"path": "todo.txt"}));
    turn(
        server,
        stack,
        "A model that calls a tool for ever",
        "What is to be done?",
        [again(), again(), again(), Act::Say("Water the onions.")],
    )
    .await?;

    turn(
        server,
        stack,
        "An answer that breaks off: it is not told twice",
        "Tell me a story.",
        [Act::Cut("Once upon a time there was an onion which ")],
    )
    .await?;

    let hangs = [Act::Hang, Act::Hang, Act::Hang, Act::Say("The spare one is here.")];
    turn(server, stack, "A server that hangs: another model answers", "Are you there?", hangs).await?;
    turn(server, stack, "It is not asked again at once", "Still there?", [Act::Say("The spare one, still.")])
        .await?;
    tokio::time::sleep(OPEN_FOR).await;
    turn(server, stack, "… but later", "And now?", [Act::Say("Back again.")]).await
}

/// One reply, printed as it comes.
async fn turn(
    server: &Server,
    stack: &mut Stack,
    title: &str,
    said: &str,
    acts: impl IntoIterator<Item = Act>,
) -> Outcome {
    println!("\n## {title}\n> {said}");
    server.will(acts);
    let mut reply = stack.agent.reply(said).with(stack.notes.clone()).stream();
    let mut seen = String::new();
    while let Some(event) = reply.next().await {
        match &event.kind {
            EventKind::TextBlockDelta { delta, .. } => seen.push_str(delta),
            EventKind::ToolResultTextDelta { delta, .. } => println!("  tool: {}", delta.trim_end()),
            _ => {}
        }
    }
    match reply.finish().await {
        Ok(message) => println!("< {}", message.text().unwrap_or_default()),
        // What the user has seen stays: nothing is said twice.
        Err(error) => println!("< {seen}… (failed: {error})"),
    }
    nothing_left(server, title)
}
