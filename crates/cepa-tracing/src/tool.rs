//! The span of a tool that runs: `execute_tool`.

use cepa_core::{Acting, ActingInput, Cx, Id, Inputs, Next, Reply, Result, ToolCallBlock, ToolResponse};
use opentelemetry::{KeyValue, StringValue};
use tracing::{Instrument as _, Span, field::Empty, info_span};

use crate::{
    TracingMiddleware,
    content::Writer,
    names,
    reply::within,
    span::{Open, error_type, tool_failure},
};

impl TracingMiddleware {
    pub(crate) async fn tool(
        &self,
        cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> Result<ToolResponse> {
        let call = input.tool_call.clone();
        let session_id = cx.state()?.session_id.to_string();
        let open = Open::new(within(&cx, || self.tool_span(&cx, &call, &session_id)));
        let result = match self.capture.reads_answers() {
            true => next.collect(input).instrument(open.span.clone()).await,
            false => next.run(input).instrument(open.span.clone()).await,
        };
        let seconds = open.seconds();
        let failed = match &result {
            Ok(response) => self.end_tool(open, &call, response),
            Err(error) => {
                open.fail_with(error, &self.capture);
                Some(StringValue::from(error_type(error)))
            }
        };
        let mut attributes = vec![
            KeyValue::new(names::OPERATION_NAME, "execute_tool"),
            KeyValue::new(names::TOOL_NAME, call.name.clone()),
        ];
        attributes.extend(failed.map(|error_type| KeyValue::new(names::ERROR_TYPE, error_type)));
        self.instruments().operation(seconds, &attributes);
        result
    }

    fn tool_span(&self, cx: &Cx<Acting>, call: &ToolCallBlock, session_id: &str) -> Span {
        let tool = cx.toolkit().tool(&call.name);
        let call = Call {
            description: tool.map(|tool| tool.description()),
            arguments: Writer::new(&self.capture).map(|mut writer| writer.arguments(call)),
            ..Call::new(&call.name, &call.id, session_id)
        };
        call.span()
    }

    /// A span for each result of a tool that ran elsewhere: of the moment in which it came.
    pub(crate) fn external_results(&self, cx: &Cx<Reply>, reply: &Span, inputs: &Inputs) -> Result<()> {
        let Inputs::ExternalExecutionResult(event) = inputs else { return Ok(()) };
        let session_id = cx.state()?.session_id.to_string();
        for result in &event.execution_results {
            let call = Call {
                result: Writer::new(&self.capture).map(|mut writer| writer.external_result(result)),
                is_external: Some(true),
                ..Call::new(&result.name, &result.id, &session_id)
            };
            let open = Open::new(reply.in_scope(|| call.span()));
            match tool_failure(result.state, &result.output.text(), &self.capture) {
                Some(failure) => open.fail(&failure),
                None => open.succeed(),
            }
        }
        Ok(())
    }

    /// Returns what the failure is called, if it is one.
    fn end_tool(&self, open: Open, call: &ToolCallBlock, response: &ToolResponse) -> Option<StringValue> {
        if let Some(mut writer) = Writer::new(&self.capture) {
            open.span.record(names::TOOL_CALL_RESULT, writer.result(call, response));
        }
        match tool_failure(response.state, &response.output_text(), &self.capture) {
            None => {
                open.succeed();
                None
            }
            Some(failure) => {
                if failure.error_type == "cancelled" {
                    open.span.record(names::CANCELLED, true);
                }
                let error_type = failure.error_type.clone();
                open.fail(&failure);
                Some(StringValue::from(error_type))
            }
        }
    }
}

/// What is known of a call when its span begins.
struct Call<'a> {
    name: &'a str,
    id: String,
    session_id: &'a str,
    description: Option<&'a str>,
    arguments: Option<String>,
    result: Option<String>,
    is_external: Option<bool>,
}

impl<'a> Call<'a> {
    fn new(name: &'a str, id: &Id, session_id: &'a str) -> Self {
        let (description, arguments, result, is_external) = (None, None, None, None);
        Self { name, id: id.to_string(), session_id, description, arguments, result, is_external }
    }

    fn span(&self) -> Span {
        let name = self.name;
        info_span!(
            target: "cepa_tracing",
            "execute_tool",
            otel.name = %format_args!("execute_tool {name}"),
            otel.status_code = Empty,
            otel.status_description = Empty,
            { names::OPERATION_NAME } = "execute_tool",
            { names::CONVERSATION_ID } = self.session_id,
            { names::TOOL_NAME } = name,
            { names::TOOL_TYPE } = "function",
            { names::TOOL_DESCRIPTION } = self.description,
            { names::TOOL_CALL_ID } = self.id.as_str(),
            { names::TOOL_CALL_ARGUMENTS } = self.arguments.as_deref(),
            { names::TOOL_CALL_RESULT } = self.result.as_deref(),
            { names::IS_EXTERNAL_EXECUTION } = self.is_external,
            { names::ERROR_TYPE } = Empty,
            { names::CANCELLED } = Empty,
        )
    }
}
