//! Every shape of producer at once, through every stack, again and again.

use std::sync::Arc;

use futures_util::{StreamExt, future, stream::FuturesUnordered};

use super::{
    harness::{Token, core, count_events, done, within},
    stacks::nine,
};
use crate::chain::{Core, Cx, Reply};

/// Rounds of a normal test run; `CEPA_STRESS` sets another number.
const ROUNDS: usize = 200;

/// How many events [`all_at_once`] emits.
const EVENTS: usize = 100 + 100 + 100 + 200 + 50;

async fn emit_times(cx: &Cx<Reply>, token: &Token, times: usize) {
    for _ in 0..times {
        cx.emit(token.event()).await;
    }
}

async fn emit_and_yield(cx: &Cx<Reply>, token: &Token, times: usize) {
    for _ in 0..times {
        cx.emit(token.event()).await;
        tokio::task::yield_now().await;
    }
}

fn all_at_once(token: &Token) -> Arc<dyn Core<Reply>> {
    let token = token.clone();
    core(move |cx: Cx<Reply>, _| {
        let token = token.clone();
        async move {
            tokio::join!(emit_times(&cx, &token, 50), emit_and_yield(&cx, &token, 50));
            future::join(emit_times(&cx, &token, 50), emit_times(&cx, &token, 50)).await;
            let task = {
                let (cx, token) = (cx.clone(), token.clone());
                tokio::spawn(async move { emit_times(&cx, &token, 100).await })
            };
            let mut emitters: FuturesUnordered<_> =
                (0..10).map(|_| emit_and_yield(&cx, &token, 20)).collect();
            let all = async { while emitters.next().await.is_some() {} };
            tokio::join!(all, emit_times(&cx, &token, 50));
            task.await.unwrap();
            Ok(done())
        }
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_lost_and_nothing_hangs() {
    let rounds = std::env::var("CEPA_STRESS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS);
    for round in 0..rounds {
        for (number, layers) in nine().into_iter().enumerate() {
            let token = Token::new();
            let producer = all_at_once(&token);
            let task = tokio::spawn(async move { count_events(&layers, producer).await });
            assert_eq!(within(task).await.unwrap(), EVENTS, "round {round}, stack {number}");
            token.alone().await;
        }
    }
}
