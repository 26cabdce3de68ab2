//! The names of spans' attributes: those of the OpenTelemetry GenAI semantic conventions, and AgentScope 2.0.11's own.
//!
//! A list of our own: the constants of the `opentelemetry-semantic-conventions` crate are all deprecated, since these
//! conventions have moved to a repository of theirs.

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $value:literal;)*) => {
        $($(#[$doc])* pub const $name: &str = $value;)*
    };
}

names! {
    /// What is done: `invoke_agent`, `chat` or `execute_tool`.
    OPERATION_NAME = "gen_ai.operation.name";
    /// Who runs the model.
    PROVIDER_NAME = "gen_ai.provider.name";
    /// The session.
    CONVERSATION_ID = "gen_ai.conversation.id";
    /// Why something failed, in one word.
    ERROR_TYPE = "error.type";

    /// The agent.
    AGENT_NAME = "gen_ai.agent.name";
    /// What the agent is.
    AGENT_DESCRIPTION = "gen_ai.agent.description";
    /// `json` where a structured output is asked for.
    OUTPUT_TYPE = "gen_ai.output.type";
    /// What went in, as JSON: messages of a role and parts.
    INPUT_MESSAGES = "gen_ai.input.messages";
    /// What came out, as JSON.
    OUTPUT_MESSAGES = "gen_ai.output.messages";
    /// The tools that are offered, as JSON.
    TOOL_DEFINITIONS = "gen_ai.tool.definitions";

    /// The model that is asked.
    REQUEST_MODEL = "gen_ai.request.model";
    /// Sampling temperature.
    REQUEST_TEMPERATURE = "gen_ai.request.temperature";
    /// Nucleus sampling.
    REQUEST_TOP_P = "gen_ai.request.top_p";
    /// Sampling among so many tokens.
    REQUEST_TOP_K = "gen_ai.request.top_k";
    /// The most tokens of the answer.
    REQUEST_MAX_TOKENS = "gen_ai.request.max_tokens";
    /// Penalty on tokens that have occurred.
    REQUEST_PRESENCE_PENALTY = "gen_ai.request.presence_penalty";
    /// Penalty on tokens that occur often.
    REQUEST_FREQUENCY_PENALTY = "gen_ai.request.frequency_penalty";
    /// Texts that end the answer, as a JSON list.
    REQUEST_STOP_SEQUENCES = "gen_ai.request.stop_sequences";
    /// Seed of sampling.
    REQUEST_SEED = "gen_ai.request.seed";

    /// The answer's id.
    RESPONSE_ID = "gen_ai.response.id";
    /// The model that answered, as the server says.
    RESPONSE_MODEL = "gen_ai.response.model";
    /// Why the answer ended, as a JSON list.
    RESPONSE_FINISH_REASONS = "gen_ai.response.finish_reasons";
    /// Seconds until the first piece of the answer.
    TIME_TO_FIRST_CHUNK = "gen_ai.response.time_to_first_chunk";
    /// How often the model sent its request again, within the one call.
    REQUEST_RESEND_COUNT = "http.request.resend_count";
    /// Tokens sent.
    INPUT_TOKENS = "gen_ai.usage.input_tokens";
    /// Tokens written.
    OUTPUT_TOKENS = "gen_ai.usage.output_tokens";
    /// Sent tokens that came from the provider's cache.
    CACHE_READ_INPUT_TOKENS = "gen_ai.usage.cache_read.input_tokens";
    /// Sent tokens that were put into the provider's cache.
    CACHE_CREATION_INPUT_TOKENS = "gen_ai.usage.cache_creation.input_tokens";
    /// AgentScope's name of [`CACHE_READ_INPUT_TOKENS`].
    AGENTSCOPE_CACHE_INPUT_TOKENS = "agentscope.usage.cache_input_tokens";
    /// AgentScope's name of [`CACHE_CREATION_INPUT_TOKENS`].
    AGENTSCOPE_CACHE_CREATION_INPUT_TOKENS = "agentscope.usage.cache_creation_input_tokens";

    /// The tool.
    TOOL_NAME = "gen_ai.tool.name";
    /// `function`.
    TOOL_TYPE = "gen_ai.tool.type";
    /// What the tool does.
    TOOL_DESCRIPTION = "gen_ai.tool.description";
    /// The call.
    TOOL_CALL_ID = "gen_ai.tool.call.id";
    /// Its arguments, as JSON.
    TOOL_CALL_ARGUMENTS = "gen_ai.tool.call.arguments";
    /// Its result, as JSON.
    TOOL_CALL_RESULT = "gen_ai.tool.call.result";

    /// The reply. The spans of a reply that was paused and went on have the same one.
    REPLY_ID = "agentscope.agent.reply_id";
    /// The tools that wait for a person, as a JSON list of names.
    HITL_PENDING_TOOLS = "agentscope.agent.hitl_pending_tools";
    /// The tools that run elsewhere, as a JSON list of names.
    EXTERNAL_EXECUTION_PENDING_TOOLS = "agentscope.agent.external_execution_pending_tools";
    /// What a paused reply goes on with.
    INCOMING_EVENT_TYPE = "agentscope.agent.incoming_event_type";
    /// The tool ran elsewhere: its span is the moment in which the result came.
    IS_EXTERNAL_EXECUTION = "agentscope.agent.is_external_execution";

    /// What a model call is for, where it is no step of the reply: `summary`, `routing`, ….
    MODEL_CALL_PURPOSE = "cepa.model_call.purpose";
    /// Cut off: by an interrupt, or because nobody listened any more.
    CANCELLED = "cepa.cancelled";
}
