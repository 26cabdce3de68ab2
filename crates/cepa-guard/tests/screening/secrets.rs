use cepa_core::{
    Agent,
    serde_json::json,
    testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_guard::{ScreenError, SecretScrub};

use crate::support::talk;

const SECRETS: &[&str] = &[
    "correct horse battery",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "glpat-abcdefghij0123456789",
    "xoxb-123456789012-abcdefGHIJ",
    "sk_live_abcdefghijklmnop",
    "sk-proj-abcdefghijklmnopqrstuvwxyz",
    "AIzaSyA-abcdefghijklmnopqrstuvwxyz01234",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijkl",
    "Basic dXNlcjpwYXNzd29yZA==",
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
    "hunter2hunter2",
];

fn text() -> String {
    format!(
        "{} then {}\nauthorization: {}\n-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\n\
         postgres://admin:{}@db/x end",
        SECRETS[0],
        SECRETS[1..9].join(" "),
        SECRETS[9],
        SECRETS[10],
        SECRETS[11],
    )
}

#[tokio::test]
async fn no_secret_leaves_in_pieces_of_any_size() {
    for size in [1, 2, 3, 7, 31, 1000] {
        let text = text();
        let pieces = || text.as_bytes().chunks(size).map(|piece| String::from_utf8(piece.to_vec()).unwrap());
        let call = Answer::new().tool_call("env", json!({"like": text}));
        let model = ScriptedModel::new([call, Answer::new().texts(pieces())]);
        let env = ScriptedTool::new("env", [pieces().fold(ToolAnswer::new(), ToolAnswer::text)]);
        let scrub = SecretScrub::builder().secret("phrase", SECRETS[0]).build().unwrap();
        let builder = Agent::builder("Friday").tool(env.clone()).middleware(scrub);
        let (left, _) = talk(builder, &model, &[&text]).await;
        left.holds_none_of(SECRETS);
        assert!(left.events[0].text().ends_with(" end"), "{}", left.events[0].text());
        assert!(!env.calls()[0].to_string().contains(SECRETS[1]));
    }
}

#[tokio::test]
async fn a_secret_with_quotes_is_found_in_arguments() {
    let secret = "pass\"word\\1";
    let model = ScriptedModel::new([Answer::new().tool_call("run", json!({"env": secret})), "Done.".into()]);
    let run = ScriptedTool::echo("run");
    let scrub = SecretScrub::builder().secret("password", secret).build().unwrap();
    let builder = Agent::builder("Friday").tool(run.clone()).middleware(scrub);
    talk(builder, &model, &["Run"]).await;
    assert_eq!(run.calls(), [json!({"env": "[REDACTED:password]"})]);
}

#[tokio::test]
async fn a_secret_with_quotes_is_found_in_a_result_that_is_json() {
    let secret = "pass\"word\\1";
    let result = json!({"env": secret}).to_string();
    let model = ScriptedModel::new([Answer::new().tool_call("run", json!({})), "Done.".into()]);
    let run = ScriptedTool::new("run", [result.as_str()]);
    let scrub = SecretScrub::builder().secret("password", secret).build().unwrap();
    let (_, agent) = talk(Agent::builder("Friday").tool(run).middleware(scrub), &model, &["Run"]).await;
    let state = agent.state().unwrap();
    let output = state.context[1].tool_results().next().unwrap().output.text().into_owned();
    assert_eq!(output, r#"{"env":"[REDACTED:password]"}"#);
}

#[test]
fn secrets_are_long_enough_and_never_shown() {
    let short = SecretScrub::builder().secret("pin", "1234").build().unwrap_err();
    assert!(matches!(short, ScreenError::Secret { .. }));
    assert!(!short.to_string().contains("1234"));
    let builder = SecretScrub::builder().secret("phrase", SECRETS[0]);
    assert!(!format!("{builder:?}").contains(SECRETS[0]));
    assert!(!format!("{:?}", builder.build().unwrap()).contains(SECRETS[0]));
    let nothing = SecretScrub::builder().known_patterns(false).build().unwrap_err();
    assert_eq!(nothing, ScreenError::NoDetector);
}
