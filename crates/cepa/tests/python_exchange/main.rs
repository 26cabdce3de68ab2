//! Sessions that AgentScope 2.0.11 and Cepa have by turns: each scenario is played by either side alone and by both in
//! turn, and comes to the same.
//!
//! AgentScope runs in the interpreter that `CEPA_PYTHON` names; `cargo xtask python` sets one up.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests"
)]

mod friday;
mod shape;
mod turn;

use cepa::{
    AgentState, ContentBlock, PermissionBehavior, PermissionRule, ToolCallState,
    serde_json::{self, Value, json},
};

use self::{
    friday::Verdict,
    turn::{
        Input::{Allow, Result, Say},
        Outcome,
        Side::{self, Python, Rust},
        Sides, Turn, calls, says,
    },
};

/// Who has the turns, over and over.
const WAYS: [[Side; 2]; 4] = [[Python, Python], [Rust, Rust], [Python, Rust], [Rust, Python]];

/// A turn, and who had it.
struct Played {
    way: [Side; 2],
    outcome: Outcome,
    state: AgentState,
}

/// Plays a scenario in every way and compares the sessions after each turn; gives the turns by way.
async fn play(start: Option<Value>, turns: &[Turn]) -> Vec<Vec<Played>> {
    let Some(mut sides) = Sides::start() else { return Vec::new() };
    let mut all: Vec<Vec<Played>> = Vec::new();
    for way in WAYS {
        let mut saved = start.as_ref().map(Value::to_string);
        let mut played = Vec::new();
        for (number, (turn, side)) in turns.iter().zip(way.iter().cycle()).enumerate() {
            let outcome = sides.play(*side, turn.clone(), saved.as_deref()).await;
            let state: AgentState = serde_json::from_str(&outcome.state).unwrap();
            assert_eq!(outcome.unsaid, 0, "turn {number} of {way:?}: the model was not asked for everything");
            outcome.requests.iter().for_each(shape::assert_paired);
            assert_eq!(shape::times_told(&state), 1, "turn {number} of {way:?}: {}", outcome.state);
            if let Some(first) = all.first() {
                let (expected, got) = (shape::of_session(&first[number].state), shape::of_session(&state));
                assert_eq!(got, expected, "turn {number} of {way:?}");
                assert_eq!(outcome.ran, first[number].outcome.ran, "turn {number} of {way:?}");
                let offers = |outcome: &Outcome| {
                    let choices = outcome.requests.iter().map(|request| request.tool_choice.clone());
                    choices.collect::<Vec<_>>()
                };
                assert_eq!(offers(&outcome), offers(&first[number].outcome), "turn {number} of {way:?}");
            }
            saved = Some(outcome.state.clone());
            played.push(Played { way, outcome, state });
        }
        all.push(played);
    }
    all
}

fn spent(state: &AgentState) -> Value {
    let store = serde_json::to_value(&state.middle_context).unwrap();
    store["ReplyBudgetControlMiddleware"].clone()
}

#[tokio::test]
async fn a_confirmed_call_runs_once_and_the_budget_goes_on() {
    let turns = [
        Turn::new(Say("Pay 5."), [calls("p1", "pay", json!({"amount": 5})).costing(60, 10)]),
        Turn::new(
            Allow(Vec::new()),
            [calls("l1", "look", json!({})).costing(25, 5), says("Paid.").costing(8, 2)],
        ),
        Turn::new(Say("Thanks."), [says("You are welcome.").costing(3, 4)]),
    ];
    for played in play(None, &turns).await {
        let [parked, paid, thanked] = &played[..] else { panic!() };
        let reply_id = parked.state.reply_id().to_string();
        let call = parked.state.context[1].tool_call(&"p1".into()).unwrap();
        assert_eq!(call.state, ToolCallState::Asking);
        assert_eq!(parked.state.reply_context.cur_iter, 0);
        assert!(parked.outcome.ran.is_empty() && thanked.outcome.ran.is_empty());
        assert_eq!(spent(&parked.state), json!({ reply_id.as_str(): 70 }));

        // 70 and 30: the budget of 100 is spent, so that the last round may not call a tool.
        assert_eq!(paid.outcome.ran, ["pay 5", "look"], "{:?}", paid.way);
        assert_eq!(spent(&paid.state), json!({ reply_id.as_str(): 110 }));
        assert_eq!(paid.outcome.requests[1].tool_choice.as_deref(), Some("none"));
        assert_eq!(paid.outcome.message.id, *reply_id);
        assert_eq!(paid.state.context[1].id, parked.state.context[1].id);

        assert_eq!(spent(&thanked.state), json!({ thanked.state.reply_id().to_string(): 7 }));
        assert_eq!(thanked.state.session_id, parked.state.session_id);
    }
}

#[tokio::test]
async fn a_result_from_outside_is_taken_in_by_the_other_side() {
    let turns = [
        Turn::new(Say("Fetch it."), [calls("f1", "fetch", json!({"what": "milk"}))]),
        Turn::new(Result("a pint of milk"), [says("Here it is.")]),
        Turn::new(Say("Thanks."), [says("You are welcome.")]),
    ];
    for played in play(None, &turns).await {
        let call = played[0].state.context[1].tool_call(&"f1".into()).unwrap();
        assert_eq!(call.state, ToolCallState::Submitted);
        let result = played[1].state.context[1].tool_result(&"f1".into()).unwrap();
        assert_eq!(result.output.text(), "a pint of milk");
    }
}

#[tokio::test]
async fn a_group_that_one_side_switches_on_is_on_for_the_other() {
    let turns = [
        Turn::new(Say("Get ready."), [calls("r1", "reset_tools", json!({"digging": true})), says("Ready.")]),
        Turn::new(Say("Dig."), [calls("d1", "dig", json!({})), says("Gold.")]),
    ];
    for played in play(None, &turns).await {
        assert_eq!(played[0].state.tool_context.activated_groups, ["digging"]);
        let offered = |request: usize| &played[request].outcome.requests[0].tools;
        assert!(!offered(0).iter().any(|tool| tool == "dig"));
        assert!(offered(1).iter().any(|tool| tool == "dig"), "{:?}", played[1].way);
        assert_eq!(played[1].outcome.ran, ["dig"]);
    }
}

#[tokio::test]
async fn tasks_are_worked_on_by_turns() {
    let create = json!({"subject": "Wash up", "description": "All of it."});
    let turns = [
        Turn::new(Say("Plan."), [calls("t1", "TaskCreate", create), says("Planned.")]),
        Turn::new(
            Say("Begin."),
            [calls("t2", "TaskUpdate", json!({"task_id": "$task", "status": "in_progress"})), says("Begun.")],
        ),
        Turn::new(
            Say("End."),
            [calls("t3", "TaskUpdate", json!({"task_id": "$task", "status": "completed"})), says("Done.")],
        ),
    ];
    for played in play(None, &turns).await {
        let states: Vec<_> = played
            .iter()
            .map(|played| serde_json::to_value(played.state.tasks_context.tasks[0].state).unwrap())
            .collect();
        assert_eq!(states, ["pending", "in_progress", "completed"]);
    }
}

#[tokio::test]
async fn a_rule_that_a_person_accepted_holds_on_the_other_side() {
    let rule = PermissionRule::new("pay", PermissionBehavior::Allow, "session");
    let turns = [
        Turn::new(Say("Pay 5."), [calls("p1", "pay", json!({"amount": 5}))]),
        Turn::new(Allow(vec![rule]), [says("Paid.")]),
        Turn::new(Say("Pay 6."), [calls("p2", "pay", json!({"amount": 6})), says("Paid again.")]),
    ];
    for played in play(None, &turns).await {
        assert_eq!(played[2].outcome.ran, ["pay 6"], "{:?}", played[2].way);
    }
}

#[tokio::test]
async fn a_summary_stands_before_the_context() {
    let start = json!({"session_id": "s1", "summary": "They like onions.", "context": []});
    let turns =
        [Turn::new(Say("What do I like?"), [says("Onions.")]), Turn::new(Say("Right."), [says("I know.")])];
    for played in play(Some(start), &turns).await {
        for turn in &played {
            let summary = &turn.outcome.requests[0].messages[1];
            assert_eq!(summary.text().as_deref(), Some("They like onions."), "{:?}", turn.way);
        }
    }
}

#[tokio::test]
async fn a_structured_output_is_owed_over_a_pause() {
    let output = |output: Value| calls(&format!("s{output}"), "GenerateStructuredOutput", output);
    let turns = [
        Turn::new(Say("Pay 5 and judge."), [calls("p1", "pay", json!({"amount": 5}))]).structured(),
        Turn::new(
            Allow(Vec::new()),
            [output(json!({"answer": "good"})), output(json!({"answer": "good", "score": 3}))],
        ),
        Turn::new(Say("Thanks."), [says("You are welcome.")]),
    ];
    for played in play(None, &turns).await {
        assert!(played[0].state.reply_context.structured_schema.is_some());
        let verdict: Verdict = played[1].outcome.message.structured().unwrap();
        assert_eq!(verdict, Verdict { answer: "good".to_owned(), score: 3 }, "{:?}", played[1].way);
        assert_eq!(played[2].outcome.message.structured_output, None);
    }
}

#[tokio::test]
async fn unknown_fields_are_kept_here_and_do_no_harm_there() {
    let Some(mut sides) = Sides::start() else { return };
    let begun = Turn::new(Say("Pay 5."), [calls("p1", "pay", json!({"amount": 5}))]);
    let parked = sides.play(Python, begun, None).await;
    let mut state: Value = serde_json::from_str(&parked.state).unwrap();
    let call = state["context"][1]["content"].as_array().unwrap().len() - 1;
    let places = ["", "/reply_context", "/tool_context", "/context/0", &format!("/context/1/content/{call}")];
    for place in places {
        state.pointer_mut(place).unwrap()["of_tomorrow"] = json!({"at": place});
    }

    let paid = Turn::new(Allow(Vec::new()), [says("Paid.")]);
    let paid = sides.play(Rust, paid, Some(&state.to_string())).await;
    let kept: Value = serde_json::from_str(&paid.state).unwrap();
    for place in places {
        assert_eq!(kept.pointer(place).unwrap()["of_tomorrow"], json!({"at": place}), "{place:?}");
    }

    let thanks = Turn::new(Say("Thanks."), [says("You are welcome.")]);
    let thanked = sides.play(Python, thanks, Some(&paid.state)).await;
    assert!(!thanked.state.contains("of_tomorrow"), "AgentScope drops what it does not know");
    let state: AgentState = serde_json::from_str(&thanked.state).unwrap();
    let said = |block: &ContentBlock| block.as_text() == Some("Paid.");
    assert!(state.context[1].content.iter().any(said));
    assert_eq!(state.context.len(), 4);
}
