//! What must hold whatever models, tools, layers and people do: over made-up scripts.
//!
//! `CEPA_CASES=10` makes ten times as many scripts as usual; a failure says with which `CEPA_SEED` it comes again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod context;
mod drive;
mod events;
mod generate;
mod layers;
mod model;
mod script;
mod tools;
mod world;

use std::{collections::hash_map::RandomState, env, hash::BuildHasher, str::FromStr};

use proptest::{
    arbitrary::any,
    sample::Index,
    strategy::Strategy,
    test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner},
};

use tokio::runtime::Builder;

use self::{
    context::Normal,
    drive::{Case, Conversation, Cut, How, Violation, Way},
    generate::{scripts, scripts_of_passing_layers},
    script::Script,
};

/// Tries so many scripts.
fn for_all<S: Strategy>(cases: u32, scripts: S, holds: impl AsyncFn(S::Value) -> Result<(), Violation>) {
    let times: u32 = number("CEPA_CASES").unwrap_or(1);
    let seed: u64 = number("CEPA_SEED").unwrap_or_else(any_seed);
    let config = Config {
        cases: cases * times,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: number("CEPA_SHRINK").unwrap_or(4_000),
        ..Config::default()
    };
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let outcome = TestRunner::new(config)
        .run(&scripts, |script| runtime.block_on(holds(script)).map_err(TestCaseError::fail));
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, script)) => panic!("CEPA_SEED={seed}: {reason}\n{script:?}"),
        Err(TestError::Abort(reason)) => panic!("CEPA_SEED={seed}: {reason}"),
    }
}

fn number<N: FromStr>(variable: &str) -> Option<N> {
    env::var(variable).ok()?.parse().ok()
}

/// Something else each time.
fn any_seed() -> u64 {
    RandomState::new().hash_one(0)
}

/// Leads the whole conversation in one way, and then says one more thing.
async fn talk(case: &Case, way: Way) -> Result<Conversation, Violation> {
    let mut talk = case.talk(way).await?;
    case.check_calm_turn(&mut talk).await?;
    Ok(talk)
}

/// Cuts the conversation off at this event, in each way.
async fn cut_at(case: &Case, at: usize) -> Result<(), Violation> {
    for how in [How::Drop, How::Interrupt, How::StopReading] {
        let cut = Some(Cut { at, how });
        talk(case, Way { cut, ..Way::default() })
            .await
            .map_err(|violation| format!("{how:?} at event {at}: {violation}"))?;
    }
    Ok(())
}

#[test]
fn whatever_happens_the_rules_hold() {
    for_all(4_000, scripts(), async |script| talk(&Case::new(script), Way::default()).await.map(drop));
}

#[test]
fn cut_off_anywhere_nothing_lives_on_and_the_next_message_is_answered() {
    for_all(2_000, (scripts(), any::<Index>()), async |(script, at)| {
        let case = Case::new(script);
        let events = talk(&case, Way::default()).await?.events.len();
        cut_at(&case, at.index(events + 1)).await
    });
}

#[test]
fn cut_off_everywhere() {
    for_all(100, scripts(), async |script| {
        let case = Case::new(script);
        for at in 0..=talk(&case, Way::default()).await?.events.len() {
            cut_at(&case, at).await?;
        }
        Ok(())
    });
}

#[test]
fn unheard_a_reply_does_the_same() {
    for_all(2_000, scripts(), async |script| {
        let case = Case::new(script);
        let heard = case.talk(Way::default()).await?;
        let unheard = case.talk(Way { unheard: true, ..Way::default() }).await?;
        same("the results", &heard.results, &unheard.results)?;
        same("the state", &*heard.agent.state().unwrap(), &*unheard.agent.state().unwrap())
    });
}

#[test]
fn saved_and_loaded_it_goes_on_as_if_nothing_had_been() {
    for_all(2_000, scripts(), async |script| {
        let case = Case::new(script);
        let at_once = case.talk(Way::default()).await?;
        let reloaded = case.talk(Way { reloads: true, ..Way::default() }).await?;
        same("the results", &at_once.results, &reloaded.results)?;
        same("the events", &at_once.events, &reloaded.events)?;
        same("the state", &*at_once.agent.state().unwrap(), &*reloaded.agent.state().unwrap())
    });
}

#[test]
fn layers_that_pass_on_change_nothing() {
    for_all(1_000, scripts_of_passing_layers(), async |script| {
        let bare = Case::new(Script { layers: Vec::new(), ..script.clone() }).talk(Way::default()).await?;
        let layered = Case::new(script).talk(Way::default()).await?;
        same("the results", &bare.results, &layered.results)?;
        same("the events", &bare.events, &layered.events)?;
        same("the state", &*bare.agent.state().unwrap(), &*layered.agent.state().unwrap())
    });
}

fn same<T: serde::Serialize>(what: &str, one: &T, other: &T) -> Result<(), Violation> {
    let (one, other) = (Normal::of(one), Normal::of(other));
    if one == other { Ok(()) } else { Err(format!("{what} differ:\n{one}\n{other}")) }
}
