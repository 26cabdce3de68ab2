//! The span of a tool that runs: `execute_tool`.

use cepa_core::{Acting, ActingInput, Cx, Next, Result, ToolCallBlock, ToolResponse};
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
        let result = match self.capture.is_off() {
            true => next.run(input).instrument(open.span.clone()).await,
            false => next.collect(input).instrument(open.span.clone()).await,
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
        let (name, id) = (&*call.name, call.id.to_string());
        let arguments = Writer::new(&self.capture).map(|mut writer| writer.arguments(call));
        info_span!(
            target: "cepa_tracing",
            "execute_tool",
            otel.name = %format_args!("execute_tool {name}"),
            otel.status_code = Empty,
            otel.status_description = Empty,
            { names::OPERATION_NAME } = "execute_tool",
            { names::CONVERSATION_ID } = session_id,
            { names::TOOL_NAME } = name,
            { names::TOOL_TYPE } = "function",
            { names::TOOL_DESCRIPTION } = cx.toolkit().tool(name).map(|tool| tool.description()),
            { names::TOOL_CALL_ID } = id.as_str(),
            { names::TOOL_CALL_ARGUMENTS } = arguments.as_deref(),
            { names::TOOL_CALL_RESULT } = Empty,
            { names::ERROR_TYPE } = Empty,
            { names::CANCELLED } = Empty,
        )
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
