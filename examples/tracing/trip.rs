//! What happens: a question, a pause, the answer of a person, and another question. Each comes as a request to a server
//! would, in a span of the program's own.

use cepa::{ConfirmResult, Inputs, UserConfirmResultEvent, prelude::*, tracing::UsageMiddleware};
use tracing::{Instrument as _, info_span};

use crate::{Outcome, harbour};

pub(crate) async fn book() -> Outcome {
    let clerk = harbour::clerk()?;

    let mut agent = clerk.agent();
    request("/ask", &mut agent, "Please book me on the ferry to Hirtshals, around noon.").await?;
    let saved = serde_json::to_string(&*agent.state()?)?;
    drop(agent);

    // Much later, perhaps on another machine.
    let mut agent = clerk.agent_with(serde_json::from_str(&saved)?);
    let waiting = agent.waiting_for().ok_or("the clerk asks nothing")?;
    for call in &waiting.confirmations {
        println!("May I call {} with {}?\n> Yes.", call.name, call.input);
    }
    let yes = waiting.confirmations.into_iter().map(ConfirmResult::confirm);
    request("/confirm", &mut agent, UserConfirmResultEvent::new(waiting.reply_id, yes)).await?;
    request("/ask", &mut agent, "Is that a window seat?").await?;

    let used = UsageMiddleware::of(&*agent.state()?)?.sums.total;
    println!(
        "{} model calls, {} failed, {} USD",
        used.calls,
        used.failed_calls,
        used.cost.unwrap_or_default()
    );
    Ok(())
}

async fn request(path: &'static str, agent: &mut Agent, inputs: impl Into<Inputs>) -> Outcome {
    let inputs = inputs.into();
    for message in inputs.messages() {
        println!("> {}", message.text().unwrap_or_default());
    }
    let span = info_span!(
        "request",
        otel.name = %format_args!("POST {path}"),
        otel.kind = "server",
        http.request.method = "POST",
        url.path = path,
    );
    let answer = agent.reply(inputs).into_future().instrument(span).await?;
    println!("{}", answer.text().unwrap_or_default());
    Ok(())
}
