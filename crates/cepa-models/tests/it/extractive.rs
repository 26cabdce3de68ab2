//! The extractive model on files it has never seen, through tools of several kinds.

use std::sync::Arc;

use cepa_core::{
    ChatResponse, ContentBlock, GENERATE_STRUCTURED_OUTPUT, HintBlock, ModelRequest, Msg, Purpose,
    ToolChoice, ToolResultBlock, ToolResultState, ToolSchema, generate,
};
use cepa_models::ExtractiveModel;
use serde_json::{Value, json};

const FILES: &[(&str, &str)] = &[
    (
        "manual/pump-x200.md",
        "# X200 pump\n\nThe X200 is our largest pump. It lifts five tonnes of water an hour and was first sold\n\
         in the spring of 2019.\n\n## Warranty\n\nWe repair every pump free of charge for 24 months after the day of \
         purchase.\nSeals and filters are excluded.\n\n## Maintenance\n\n- Grease the bearings every 500 hours.\n\
         - Replace the filter once a year.\n",
    ),
    (
        "manual/pump-x100.md",
        "# X100 pump\n\nThe X100 lifts one tonne of water an hour. Its weight is 12.5 kg.\n",
    ),
    (
        "team.txt",
        "Ada Kowalska: head of sales\nJun Tanaka: maintains the order system\nMusa Bello: accounting\n",
    ),
    ("说明书.md", "# 水泵\n\n水泵的保修期为两年。每五百小时给轴承加一次油。\n"),
];

fn schema(name: &str, description: &str, arguments: &[&str]) -> ToolSchema {
    let properties: serde_json::Map<String, Value> =
        arguments.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    ToolSchema::new(
        name,
        description,
        json!({"type": "object", "properties": properties, "required": arguments}),
    )
}

/// What the tools do.
fn run(tool: &str, input: &Value) -> String {
    let text = |name: &str| input[name].as_str().unwrap_or_default();
    let lines = |matches: &dyn Fn(&str) -> bool| {
        let mut hits = Vec::new();
        for (path, content) in FILES {
            for (line, number) in content.lines().zip(1..) {
                if matches(line) {
                    hits.push(format!("{path}:{number}: {line}"));
                }
            }
        }
        if hits.is_empty() { "No matches.".to_owned() } else { hits.join("\n") }
    };
    let file = |path: &str| FILES.iter().find(|(known, _)| *known == path).map(|(_, content)| *content);
    match tool {
        "grep" => lines(&|line| line.contains(text("pattern"))),
        "search_files" => {
            let query = text("query").to_lowercase();
            let words: Vec<_> =
                query.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3).collect();
            lines(&|line| words.iter().any(|word| line.to_lowercase().contains(word)))
        }
        "read_file" => {
            let content = file(text("path")).unwrap_or("no such file");
            content.lines().zip(1..).map(|(line, number)| format!("{number:>6}\t{line}\n")).collect()
        }
        "list_files" => {
            FILES.iter().map(|(path, content)| format!("{path} ({} bytes)\n", content.len())).collect()
        }
        other => panic!("`{other}` must not be called"),
    }
}

/// A little agent: asks, runs the calls, asks again. The answer and the names of the tools that were called.
async fn agent(question: &str, tools: &[ToolSchema]) -> (String, Vec<String>) {
    let mut reply = Msg::assistant("bot", Vec::new());
    let mut called = Vec::new();
    for _round in 0..10 {
        let messages = [Msg::user("user", question), reply.clone()];
        let request = ModelRequest::new(messages).with_tools(Arc::from(tools));
        let response = generate(&ExtractiveModel::new(), request).await.unwrap();
        let usage = response.usage.as_ref().unwrap();
        assert!(usage.input_tokens > 0 && usage.output_tokens > 0);
        let calls: Vec<_> =
            response.content.blocks().iter().filter_map(ContentBlock::as_tool_call).cloned().collect();
        if calls.is_empty() {
            return (response.text(), called);
        }
        reply.content.extend(response.content.into_blocks());
        for call in calls {
            let output = run(&call.name, &serde_json::from_str(&call.input).unwrap());
            called.push(call.name.to_string());
            let result = ToolResultBlock::new(call.id, call.name, output, ToolResultState::Success);
            reply.content.push(result.into());
        }
    }
    panic!("no answer after ten rounds: {called:?}");
}

fn search() -> ToolSchema {
    schema("search_files", "Searches the texts of all files.", &["query"])
}

fn grep() -> ToolSchema {
    schema("grep", "Lines that hold the pattern, case-sensitive.", &["pattern"])
}

fn read() -> ToolSchema {
    schema("read_file", "The text of a file.", &["path"])
}

fn list() -> ToolSchema {
    schema("list_files", "Names all files.", &[])
}

fn change() -> ToolSchema {
    schema("write_file", "Writes a file, to be searched and read later.", &["path", "text"])
}

const QUESTIONS: &[(&str, &str, &str)] = &[
    ("How much water does the X200 lift per hour?", "lifts five tonnes of water", "manual/pump-x200.md:3"),
    ("What is the weight of the X100?", "12.5 kg", "manual/pump-x100.md:3"),
    ("Who maintains the order system?", "Jun Tanaka", "team.txt:2"),
    ("When do I have to replace the filter?", "once a year", "manual/pump-x200.md:14"),
];

#[tokio::test]
async fn answers_with_the_sentence_and_its_source() {
    let toolkits = [
        vec![search(), read()],
        vec![search()],
        vec![change(), list(), grep(), read()],
        vec![list(), read(), change()],
    ];
    for tools in &toolkits {
        for (question, answer, source) in QUESTIONS {
            let (text, called) = agent(question, tools).await;
            let first = text.lines().next().unwrap();
            assert!(first.contains(answer) && first.contains(source), "{question}: {text} ({called:?})");
        }
    }
}

#[tokio::test]
async fn chinese_questions_too() {
    for tools in [vec![grep(), read()], vec![list(), read()]] {
        let (text, called) = agent("水泵的保修期是多久？", &tools).await;
        assert!(text.contains("水泵的保修期为两年。 (说明书.md:3)"), "{text} ({called:?})");
    }
}

#[tokio::test]
async fn searches_before_it_lists() {
    let (_, called) = agent(QUESTIONS[0].0, &[list(), read(), search()]).await;
    assert_eq!(called[0], "search_files");
    assert!(called.contains(&"read_file".to_owned()) && !called.contains(&"list_files".to_owned()));
}

#[tokio::test]
async fn says_so_when_the_files_hold_no_answer() {
    for tools in [vec![search(), read()], vec![grep(), read()], vec![list(), read()]] {
        for question in
            ["What is the capital of Mongolia?", "How many moons orbit Jupiter?", "谁发明了电话？"]
        {
            let (text, called) = agent(question, &tools).await;
            assert!(text.starts_with("I am sorry, I found nothing") && text.contains(question), "{text}");
            assert!(!called.is_empty() && called.len() <= 16, "{called:?}");
        }
    }
}

async fn once(request: ModelRequest) -> ChatResponse {
    generate(&ExtractiveModel::new(), request).await.unwrap()
}

fn first_call(response: &ChatResponse) -> (String, Value) {
    let call = response.content.blocks().iter().find_map(ContentBlock::as_tool_call).expect("a call");
    (call.name.to_string(), serde_json::from_str(&call.input).unwrap())
}

#[tokio::test]
async fn without_tools_it_answers_from_what_it_was_told() {
    let hint = HintBlock::new("The office is closed on Fridays. Lunch is at noon.");
    let messages = || {
        vec![Msg::assistant("bot", hint.clone()), Msg::user("user", "On which days is the office closed?")]
    };
    let response = once(ModelRequest::new(messages())).await;
    assert!(response.text().starts_with("The office is closed on Fridays."), "{}", response.text());
    // tools are there, but must not be used
    let request = ModelRequest::new(messages()).with_tools([search()]).with_tool_choice(ToolChoice::none());
    assert!(once(request).await.text().starts_with("The office is closed on Fridays."));
}

#[tokio::test]
async fn a_forced_tool_is_called() {
    let request = |choice| {
        ModelRequest::new([Msg::user("user", "What is the weight of the X100?")])
            .with_tools([change(), search(), read()])
            .with_tool_choice(choice)
    };
    let (name, input) = first_call(&once(request(ToolChoice::tool("search_files"))).await);
    assert_eq!(name, "search_files");
    assert_eq!(input, json!({"query": "X100 weight"}));
    assert_eq!(first_call(&once(request(ToolChoice::required())).await).0, "search_files");
    // what is forced is called, whatever it does
    let narrowed = ToolChoice::required().with_tools(["write_file"]);
    assert_eq!(first_call(&once(request(narrowed)).await).0, "write_file");
}

#[tokio::test]
async fn structured_output_is_filled_with_sentences() {
    let parameters = json!({
        "type": "object",
        "properties": {"answer": {"type": "string"}, "weight": {"type": "number"}},
        "required": ["answer", "weight"],
    });
    let tool = ToolSchema::new(GENERATE_STRUCTURED_OUTPUT, "Gives the final answer.", parameters);
    let request = ModelRequest::new([
        Msg::user("user", "The weight of the X100 is 12.5 kg. It is red."),
        Msg::user("user", "What is the weight of the X100?"),
    ])
    .with_tools([tool, search()]);
    let forced = request.clone().with_tool_choice(ToolChoice::tool(GENERATE_STRUCTURED_OUTPUT));
    let unforced = ToolChoice::auto().with_tools([GENERATE_STRUCTURED_OUTPUT]);
    for request in [forced, request.clone().with_tool_choice(unforced)] {
        let (name, input) = first_call(&once(request).await);
        assert_eq!(name, GENERATE_STRUCTURED_OUTPUT);
        assert_eq!(input, json!({"answer": "The weight of the X100 is 12.5 kg.", "weight": 12.5}));
    }
    assert_eq!(first_call(&once(request).await).0, "search_files", "it looks before it answers");
}

#[tokio::test]
async fn a_summary_is_about_what_everyone_said() {
    let parameters = json!({"type": "object", "properties": {"next_steps": {"type": "string"}}});
    let tool = ToolSchema::new("summarise", "", parameters);
    let request = ModelRequest::new([
        Msg::user("user", "We want to sell the old pumps."),
        Msg::assistant("bot", cepa_core::TextBlock::new("The next step is to call the dealer.")),
        Msg::user("user", "Sum up the conversation."),
    ])
    .with_tools([tool])
    .with_tool_choice(ToolChoice::required())
    .with_purpose(Purpose::Summary);
    let (_, input) = first_call(&once(request).await);
    assert_eq!(input, json!({"next_steps": "The next step is to call the dealer."}));
}

#[tokio::test]
async fn nonsense_does_no_harm() {
    let odd = ToolSchema::new("search", "", json!(null));
    for question in ["", "???", "\u{0}\u{feff}", "the of and", &"long ".repeat(5000)] {
        let request = ModelRequest::new([Msg::user("user", question)]).with_tools([odd.clone(), search()]);
        let response = once(request).await;
        assert!(!response.content.blocks().is_empty(), "{question:?}");
    }
    let failed = ToolResultBlock::new("a", "search_files", "boom", ToolResultState::Error);
    let call = cepa_core::ToolCallBlock::new("a", "search_files", "not json");
    let reply = Msg::assistant("bot", vec![call.into(), failed.into()]);
    let request = ModelRequest::new([Msg::user("user", "boom pump"), reply]).with_tools([search()]);
    assert_eq!(first_call(&once(request).await).0, "search_files");
    assert!(once(ModelRequest::new(Vec::<Msg>::new())).await.text().starts_with("Please ask"));
}
