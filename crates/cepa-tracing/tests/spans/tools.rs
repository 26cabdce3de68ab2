//! Tools that fail.

use cepa_core::testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer};
use cepa_tracing::{Capture, TracingMiddleware};
use opentelemetry::trace::Status;

use crate::support::{Collector, attribute, traced};

fn one_call() -> ScriptedModel {
    ScriptedModel::new([Answer::new().raw_tool_call("c1", "divide", "{}"), "Well.".into()])
}

#[tokio::test]
async fn r18_a_tool_that_fails_is_an_error_with_its_result() {
    let (collector, _guard) = Collector::listening();
    let tool = ScriptedTool::new("divide", [ToolAnswer::new().fails("division by zero")]);
    let tracing = TracingMiddleware::new().capture(Capture::full());
    traced(one_call(), tracing).tool(tool).build().unwrap().reply("Go").await.unwrap();
    let spans = collector.spans();
    let tool = spans.one("execute_tool divide");
    assert_eq!(tool.status, Status::error("division by zero"));
    assert_eq!(attribute(tool, "error.type"), "tool_error");
    let result = attribute(tool, "gen_ai.tool.call.result");
    assert!(result.contains("division by zero"), "{result}");
    // It is a result for the model: the reply is none.
    assert_eq!(spans.one("invoke_agent Friday").status, Status::Ok);
}

#[tokio::test]
async fn r18_a_tools_error_for_the_developer_fails_the_tool_and_the_reply() {
    let (collector, _guard) = Collector::listening();
    let tool = ScriptedTool::new("divide", [ToolAnswer::new().fails_for_developer("no divisor set")]);
    let tracing = TracingMiddleware::new().capture(Capture::off().error_texts(true));
    traced(one_call(), tracing).tool(tool).build().unwrap().reply("Go").await.unwrap_err();
    let spans = collector.spans();
    for name in ["execute_tool divide", "invoke_agent Friday"] {
        let span = spans.one(name);
        let Status::Error { description } = &span.status else { panic!("{:?}", span.status) };
        assert!(description.contains("no divisor set"), "{description}");
        assert_eq!(attribute(span, "error.type"), "tool");
        assert_eq!(span.events.iter().filter(|event| event.name == "exception").count(), 1);
    }
}
