//! The table at the end: what each layer did.

use cepa::{guard::AuditLog, tracing::UsageMiddleware};

use crate::{
    Outcome,
    server::Server,
    stack::{SHOP, Stack},
    tools::{CARD, EMAIL, SECRET},
    watch::Watch,
};

pub(crate) fn print(server: &Server, stack: &Stack, watch: &Watch) -> Outcome {
    let (told, asked) = (watch.told(), server.asked());
    let log = AuditLog::verify(&stack.audit_log)?;
    let (requests, tokens) = stack.rate.used();
    let with = |text: &str| asked.iter().filter(|request| request.contains(text)).count();
    let budget = with("The token budget");
    println!("\n## What each layer did");
    let onion = stack.agent.onion().to_string();
    // One line per layer, with its hooks behind the colon; the last one is the agent.
    for name in onion.lines().filter_map(|line| Some(line.trim().split_once(':')?.0)) {
        let mut did: Vec<String> = counted(told.get(name).map_or(&[], Vec::as_slice));
        did.extend(match name {
            "UsageMiddleware" => {
                let used = UsageMiddleware::of(&*stack.agent.state()?)?.sums.total;
                let (calls, input, output) = (used.calls, used.input_tokens, used.output_tokens);
                Some(format!("{calls} calls, {input} tokens in, {output} out"))
            }
            "DynamicContext" => Some(format!("told {} requests whose back office it is", with(SHOP))),
            "PromptCacheHints" => Some(format!("marked {} requests", with("cache_control"))),
            "AuditLog" => Some(format!("{} lines, whose chain holds", log.records)),
            "CircuitBreaker" => Some(format!("of `small` now: {:?}", stack.breaker.of_model("small"))),
            "RateLimit" => Some(format!("{requests} requests and {tokens} tokens within the last minute")),
            "ReplyBudgetControlMiddleware" if budget > 0 => {
                Some("told the model to come to an end".to_owned())
            }
            _ => None,
        });
        let did = if did.is_empty() { "had nothing to do".to_owned() } else { did.join("; ") };
        println!("{name:<30} {did}");
    }
    for line in told.get("cepa_core").into_iter().flatten() {
        println!("{:<30} {line}", "the agent warned:");
    }
    let planted = [EMAIL, CARD, SECRET];
    let left = asked.iter().filter(|request| planted.iter().any(|value| request.contains(value))).count();
    println!("\n{} requests to the server, {left} with personal data or secrets in them", asked.len());
    Ok(())
}

/// Each text once, with how often it was said.
fn counted(lines: &[String]) -> Vec<String> {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for line in lines {
        match counted.iter_mut().find(|(known, _)| known == line) {
            Some((_, count)) => *count += 1,
            None => counted.push((line, 1)),
        }
    }
    counted.into_iter().map(|(line, count)| format!("{count} × {line}")).collect()
}
