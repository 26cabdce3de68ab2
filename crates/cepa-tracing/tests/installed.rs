//! A view as the program's subscriber. A program of its own with one test, as there is one subscriber in a program, and
//! as only there does an event arrive that is made inside of another one.

use std::fmt;

use cepa_core::{
    Agent,
    serde_json::json,
    testing::{Answer, ScriptedModel},
    tool,
};
use cepa_tracing::{SetupError, TracingMiddleware, html, terminal};
use tracing::info_span;

/// Says something while it is written.
struct Talks;

impl fmt::Debug for Talks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        tracing::info!("talking");
        f.write_str("talks")
    }
}

/// Has a value that talks.
#[tool(permission = "allow")]
async fn talks() -> String {
    info_span!("inside", value = ?Talks).in_scope(|| tracing::info!(value = ?Talks, "an event"));
    "yes".to_owned()
}

#[tokio::test]
async fn one_can_be_installed_and_values_that_make_events_while_they_are_written_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.html");
    html(&path).install().unwrap();
    let error = terminal().install().unwrap_err();
    assert!(matches!(error, SetupError::AlreadySet));
    assert!(error.to_string().contains("registry().with("), "{error}");

    let model = ScriptedModel::new([Answer::new().tool_call("talks", json!({})), "Done".into()]);
    let friday = Agent::builder("Friday").model(model).tool(talks).middleware(TracingMiddleware::new());
    friday.build().unwrap().reply("Go").await.unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("talking") && page.contains("an event"), "{page}");
}
