//! The tools with which an agent keeps its list of tasks, and the cache of files that were read.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use cepa_core::{
    Agent, AgentState, InjectionConfig, PermissionContext, PermissionMode, Task, TaskState, ToolContext,
    ToolResultState, Toolkit,
    serde_json::{Map, Value, json},
    task_tools,
};

#[path = "support/scripted.rs"]
mod scripted;
use scripted::{Scripted, calls};

/// An agent that makes these calls one after the other, in a session that begins like this.
async fn run_in(state: AgentState, made: &[(&str, Value)]) -> Agent {
    let model = Scripted::new(calls(made.iter().map(|(name, input)| (*name, input.to_string()))));
    let mut quiet = InjectionConfig::default();
    quiet.inject_runtime_state = false;
    let agent = Agent::builder("Friday").model(model).tools(task_tools()).injection_config(quiet);
    let mut agent = agent.state(state).build().unwrap();
    agent.reply("go").await.unwrap();
    agent
}

async fn run(made: &[(&str, Value)]) -> Agent {
    run_in(AgentState::new(), made).await
}

/// What the calls answered.
fn results(agent: &Agent) -> Vec<(ToolResultState, String)> {
    let state = agent.state().unwrap();
    let results = state.context.iter().flat_map(|msg| msg.tool_results());
    results.map(|result| (result.state, result.output.text().into_owned())).collect()
}

/// The last answer, which must be a success.
fn answer(agent: &Agent) -> String {
    let (state, text) = results(agent).pop().unwrap();
    assert_eq!(state, ToolResultState::Success, "{text}");
    text
}

fn tasks(agent: &Agent) -> Vec<Task> {
    agent.state().unwrap().tasks_context.tasks.clone()
}

fn create(subject: &str) -> (&'static str, Value) {
    ("TaskCreate", json!({"subject": subject, "description": format!("All of {subject}")}))
}

fn update(input: Value) -> (&'static str, Value) {
    ("TaskUpdate", input)
}

fn list() -> (&'static str, Value) {
    ("TaskList", json!({}))
}

#[tokio::test]
async fn tasks_are_numbered_kept_and_listed() {
    let mut agent = run(&[list(), create("sow"), create("reap"), list()]).await;
    let texts: Vec<_> = results(&agent).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts[0], "There are no tasks.");
    assert_eq!(texts[1], "Task 1 is on the list: sow");
    assert_eq!(texts[3], "1 [pending] sow\n2 [pending] reap");

    // Part of what is saved.
    let json = serde_json::to_value(&*agent.state().unwrap()).unwrap();
    assert_eq!(json["tasks_context"]["tasks"][1]["description"], "All of reap");
    let state: AgentState = serde_json::from_value(json).unwrap();
    agent = run_in(state, &[create("rest")]).await;
    assert_eq!(answer(&agent), "Task 3 is on the list: rest");
}

#[tokio::test]
async fn ids_go_on_after_the_highest_number() {
    let mut state = AgentState::new();
    for id in ["7", "x9", "3"] {
        let mut task = Task::new("old", "old");
        task.id = id.into();
        state.tasks_context.tasks.push(task);
    }
    let agent = run_in(state, &[create("new")]).await;
    assert_eq!(tasks(&agent)[3].id, "8");
}

#[tokio::test]
async fn one_task_is_shown_in_full() {
    let created = json!({"subject": "sow", "description": "All", "metadata": {"field": "north", "rows": 4}});
    let changes = json!({"task_id": "1", "owner": "me", "status": "in_progress", "add_blocks": ["2"],
        "add_blocked_by": ["3"], "metadata": {"rows": null, "depth": 2}});
    let agent = run(&[
        ("TaskCreate", created),
        create("reap"),
        create("plough"),
        update(changes),
        list(),
        ("TaskGet", json!({"task_id": 1})),
    ])
    .await;
    let results = results(&agent);
    let changed = "Task 1 was changed: add_blocks, add_blocked_by, status, owner, metadata.";
    assert_eq!(results[3].1, changed);
    assert_eq!(
        results[4].1,
        "1 [in_progress] sow (me) [blocked by 3]\n2 [pending] reap [blocked by 1]\n3 [pending] plough"
    );
    assert_eq!(
        answer(&agent),
        "Task 1: sow\nStatus: in_progress\nDescription: All\nOwner: me\nBlocked by: 3\nBlocks: 2\n\
         Metadata: {\"depth\":2,\"field\":\"north\"}"
    );
}

#[tokio::test]
async fn subject_and_description_change_and_nothing_is_said() {
    let agent = run(&[
        create("sow"),
        update(json!({"task_id": "1", "subject": "sow rye", "description": ""})),
        update(json!({"task_id": "1", "subject": "", "metadata": {}, "add_blocks": null})),
    ])
    .await;
    let task = tasks(&agent).remove(0);
    assert_eq!((task.subject.as_str(), task.description.as_str()), ("sow rye", ""));
    assert_eq!(answer(&agent), "Nothing of task 1 was changed: give at least one field a new value.");
}

#[tokio::test]
async fn a_completed_task_sets_others_free_for_good() {
    let agent = run(&[
        create("sow"),
        create("reap"),
        update(json!({"task_id": "2", "add_blocked_by": ["1"]})),
        update(json!({"task_id": "1", "status": "completed"})),
    ])
    .await;
    assert!(answer(&agent).starts_with("Task 1 was changed: status.\n\nIt is completed."));
    let after = tasks(&agent);
    assert_eq!(after[0].state, TaskState::Completed);
    assert_eq!((after[0].blocks.len(), after[1].blocked_by.len()), (1, 0));

    // Nor does it hold them up later.
    let state = std::mem::replace(&mut *agent.state().unwrap(), AgentState::new());
    let agent =
        run_in(state, &[create("bake"), update(json!({"task_id": "3", "add_blocked_by": ["1"]}))]).await;
    assert_eq!(answer(&agent), "Task 3 was changed: add_blocked_by.");
    assert_eq!(tasks(&agent)[2].blocked_by.len(), 0);
}

#[tokio::test]
async fn a_deleted_task_is_gone_everywhere() {
    let agent = run(&[
        create("plough"),
        create("sow"),
        create("reap"),
        update(json!({"task_id": "2", "add_blocked_by": ["1"], "add_blocks": ["3"]})),
        update(json!({"task_id": "2", "status": "deleted", "subject": "never mind"})),
    ])
    .await;
    assert_eq!(answer(&agent), "Task 2 is off the list.");
    let left = tasks(&agent);
    assert_eq!(left.len(), 2);
    assert!(left.iter().all(|task| task.blocks.is_empty() && task.blocked_by.is_empty()));
}

#[tokio::test]
async fn no_task_waits_for_itself_or_for_none() {
    let agent =
        run(&[create("sow"), update(json!({"task_id": "1", "add_blocks": ["1"], "add_blocked_by": ["9"]}))])
            .await;
    let text = answer(&agent);
    assert!(
        text.starts_with("Nothing of task 1 was changed") && text.ends_with("No other tasks: 1, 9."),
        "{text}"
    );
    let task = &tasks(&agent)[0];
    assert!(task.blocks.is_empty() && task.blocked_by.is_empty());
}

#[tokio::test]
async fn what_is_not_there_is_an_error_for_the_model() {
    let agent = run(&[
        ("TaskGet", json!({"task_id": "4"})),
        update(json!({"task_id": "4", "status": "completed"})),
        update(json!({"task_id": "4", "status": "done"})),
        ("TaskCreate", json!({"subject": "sow"})),
    ])
    .await;
    let results = results(&agent);
    assert_eq!(results.len(), 4);
    for (place, part) in ["no task 4", "no task 4", "done", "description"].into_iter().enumerate() {
        let (state, text) = &results[place];
        assert_eq!(*state, ToolResultState::Error);
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn no_permission_is_needed_except_for_changes_while_exploring() {
    for (mode, allowed) in [
        (PermissionMode::Default, [true; 3]),
        (PermissionMode::DontAsk, [true; 3]),
        (PermissionMode::Explore, [false, true, false]),
    ] {
        let mut state = AgentState::new();
        state.permission_context = PermissionContext::new(mode);
        let agent =
            run_in(state, &[create("sow"), list(), update(json!({"task_id": "1", "owner": "me"}))]).await;
        let ran = results(&agent).into_iter().map(|(state, _)| state == ToolResultState::Success);
        assert_eq!(ran.collect::<Vec<_>>(), allowed, "{mode}");
    }
}

#[tokio::test]
async fn the_schemas_are_those_of_agentscope() {
    let fields = |name: &str| {
        let tool = task_tools().into_iter().find(|tool| tool.name() == name).unwrap();
        let schema = tool.input_schema();
        assert_eq!(schema["type"], "object");
        let names: Vec<String> = schema["properties"].as_object().unwrap().keys().cloned().collect();
        (names.join(" "), schema.get("required").cloned().unwrap_or_default())
    };
    assert_eq!(
        fields("TaskCreate"),
        ("description metadata subject".to_owned(), json!(["subject", "description"]))
    );
    assert_eq!(fields("TaskGet"), ("task_id".to_owned(), json!(["task_id"])));
    assert_eq!(fields("TaskList"), (String::new(), Value::Null));
    let all = "add_blocked_by add_blocks description metadata owner status subject task_id";
    assert_eq!(fields("TaskUpdate"), (all.to_owned(), json!(["task_id"])));
}

#[tokio::test]
async fn without_an_agent_there_is_no_list() {
    let toolkit = Toolkit::new(task_tools()).unwrap();
    assert!(toolkit.call("TaskList", Map::new()).await.is_err());
}

fn paths(tools: &ToolContext) -> Vec<&str> {
    tools.read_file_cache.iter().map(|entry| entry.file_path.as_str()).collect()
}

#[test]
fn the_file_cache_keeps_what_was_used_last() {
    let mut tools = ToolContext::default();
    tools.max_cache_files = 2;
    tools.cache_file("a", vec!["1".to_owned()], 1.0);
    tools.cache_file("b", vec!["1".to_owned()], 1.0);
    assert_eq!(tools.get_cache("a", Some(1.0)).unwrap().lines, ["1"]);
    tools.cache_file("c", vec!["1".to_owned()], 1.0);
    assert_eq!(paths(&tools), ["a", "c"]);
    tools.cache_file("a", vec!["2".to_owned()], 2.0);
    assert_eq!(paths(&tools), ["c", "a"]);
    tools.clean_file_cache(|path| path == "a");
    assert_eq!(paths(&tools), ["a"]);
}

#[test]
fn a_changed_file_is_not_in_the_cache_any_more() {
    let mut tools = ToolContext::default();
    for mtime in [Some(2.0), None] {
        tools.cache_file("a", vec!["1".to_owned()], 1.0);
        assert!(tools.get_cache("a", mtime).is_none());
        assert_eq!(paths(&tools), [""; 0]);
    }
    assert!(tools.get_cache("a", Some(1.0)).is_none());
}

#[test]
fn the_file_cache_keeps_to_its_size() {
    let kib = |kib: usize| vec!["x".repeat(1024); kib];
    let mut tools = ToolContext::default();
    tools.max_cache_bytes = 10.0; // KiB
    for (path, size) in [("a", 4), ("b", 4), ("c", 2)] {
        tools.cache_file(path, kib(size), 1.0);
    }
    assert_eq!(paths(&tools), ["a", "b", "c"]);
    tools.cache_file("d", kib(5), 1.0);
    assert_eq!(paths(&tools), ["c", "d"], "as many as needed give way");
    tools.cache_file("c", kib(11), 2.0);
    assert_eq!(paths(&tools), ["d"], "too large alone: only its own entry goes");
    assert_eq!(tools.read_file_cache[0].bytes, 5.0);
}
