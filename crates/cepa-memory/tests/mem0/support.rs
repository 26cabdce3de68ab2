//! Agents and servers.

use std::{future::IntoFuture, time::Duration};

use axum::Router;
use cepa_core::{
    Agent, AgentBuilder, ContentBlock, InjectionConfig, IntoShared, Middleware, TextOrBlocks,
    testing::ScriptedModel,
};
use tokio::net::TcpListener;

/// An agent with this memory.
pub(crate) fn agent(model: &ScriptedModel, memory: impl IntoShared<dyn Middleware>) -> AgentBuilder {
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    Agent::builder("Friday").model(model.clone()).injection_config(injection).middleware(memory)
}

/// Fails the test where it would hang.
pub(crate) async fn within<T>(run: impl IntoFuture<Output = T>) -> T {
    match tokio::time::timeout(Duration::from_secs(3600), run).await {
        Ok(output) => output,
        Err(_) => panic!("hangs"),
    }
}

/// The hints in the last request.
pub(crate) fn hints(model: &ScriptedModel) -> Vec<String> {
    let requests = model.requests();
    let blocks = requests.last().unwrap().messages.iter().flat_map(|msg| msg.content.clone());
    blocks
        .filter_map(|block| match block {
            ContentBlock::Hint(hint) => match hint.hint {
                TextOrBlocks::Text(text) => Some(text),
                TextOrBlocks::Blocks(_) => None,
            },
            _ => None,
        })
        .collect()
}

/// Serves on loopback and returns the URL.
pub(crate) async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}
