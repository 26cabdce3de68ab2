//! The span of a tool that runs: `execute_tool`.

use cepa_core::{
    Acting, ActingInput, Cx, Id, Inputs, Next, Reply, Result, ToolCallBlock, ToolCallState, ToolResponse,
    ToolResultBlock,
};
use opentelemetry::KeyValue;
use tracing::{Instrument as _, Span, field::Empty, info_span};

use crate::{
    TracingMiddleware,
    content::Writer,
    names,
    reply::within,
    span::{Open, tool_failure},
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
        let attributes = vec![
            KeyValue::new(names::OPERATION_NAME, "execute_tool"),
            KeyValue::new(names::TOOL_NAME, call.name.clone()),
        ];
        let span = within(&cx, || self.tool_span(&cx, &call, &session_id));
        let mut open = Open::new(span.clone(), self.instruments(), attributes);
        let result = match self.capture.reads_answers() {
            true => next.collect(input).instrument(span).await,
            false => next.run(input).instrument(span).await,
        };
        match &result {
            Ok(response) => self.end_tool(&mut open, &call, response),
            Err(error) => open.fail_with(error, &self.capture),
        }
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

    /// A span for each result of a tool that ran elsewhere: of the moment in which it came. None where the reply does not
    /// wait for all of them, as it takes none of them then.
    pub(crate) fn external_results(&self, cx: &Cx<Reply>, reply: &Span, inputs: &Inputs) -> Result<()> {
        let Inputs::ExternalExecutionResult(event) = inputs else { return Ok(()) };
        let (session_id, names) = {
            let state = cx.state()?;
            let waiting = state.awaiting_tool_calls(cx.agent_name());
            let name = |result: &ToolResultBlock| {
                let mut submitted = waiting.iter().filter(|call| call.state == ToolCallState::Submitted);
                submitted.find(|call| call.id == result.id).map(|call| call.name.clone())
            };
            let names: Option<Vec<_>> = event.execution_results.iter().map(name).collect();
            (state.session_id.to_string(), names.filter(|_| event.reply_id == *state.reply_id()))
        };
        let Some(names) = names else { return Ok(()) };
        for (result, name) in event.execution_results.iter().zip(&names) {
            let call = Call {
                result: Writer::new(&self.capture).map(|mut writer| writer.external_result(result)),
                is_external: Some(true),
                ..Call::new(name, &result.id, &session_id)
            };
            let mut open = Open::unmeasured(reply.in_scope(|| call.span()));
            match tool_failure(result.state, &result.output.text(), &self.capture) {
                Some(failure) => open.fail(&failure),
                None => open.succeed(),
            }
        }
        Ok(())
    }

    fn end_tool(&self, open: &mut Open<'_>, call: &ToolCallBlock, response: &ToolResponse) {
        if let Some(mut writer) = Writer::new(&self.capture) {
            open.span.record(names::TOOL_CALL_RESULT, writer.result(call, response));
        }
        match tool_failure(response.state, &response.output_text(), &self.capture) {
            None => open.succeed(),
            Some(failure) => open.fail(&failure),
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
