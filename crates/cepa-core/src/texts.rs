//! The texts that the core writes itself: to the model, into messages, into results. One place, own words.
//!
//! `{name}` in a template is a place to fill; [`fill`] leaves every other brace alone.

/// Fills the places of a template. Values are data: braces in them are not looked at again.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len() + 32);
    let mut rest = template;
    'next: while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        for (name, value) in values {
            let after = rest[1..].strip_prefix(name).and_then(|after| after.strip_prefix('}'));
            if let Some(after) = after {
                text.push_str(value);
                rest = after;
                continue 'next;
            }
        }
        text.push('{');
        rest = &rest[1..];
    }
    text.push_str(rest);
    text
}

/// Declares texts, and lists them with their names for whoever wants to know them again.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        $($(#[$doc])* pub const $name: &str = $text;)*

        /// Every text with its name.
        pub const ALL: &[(&str, &str)] = &[$((stringify!($name), $text),)*];
    };
}

texts! {
    /// Hint before the forced last answer.
    HINT_MAX_ITERS = "<system-reminder>All {n} rounds of this reply are used up. Answer now, in plain text and without calling a tool: what was done, what was found, and what is left open.</system-reminder>";
    /// Hint while a structured output is owed.
    HINT_STRUCTURED_OUTPUT = "<system-reminder>This reply ends with a structured output: when everything that it needs is known, hand it over by calling the tool `GenerateStructuredOutput`.</system-reminder>";
    /// Hint when a structured output is owed and the rounds are used up.
    HINT_STRUCTURED_OUTPUT_FORCED = "<system-reminder>The rounds of this reply are used up. Call the tool `GenerateStructuredOutput` now, with the best structured output that can be given.</system-reminder>";
    /// Nudge after an empty answer.
    HINT_EMPTY_ANSWER = "<system-reminder>The last answer was empty. Answer the request, or call a tool.</system-reminder>";
    /// Message of a parked reply.
    MSG_WAITING_OUTSIDE = "I am waiting for a permission, or for a result from outside.";
    /// Message of an interrupted reply.
    MSG_INTERRUPTED = "I was interrupted. Tell me how to go on.";
    /// Message of a reply that gave its structured output.
    MSG_STRUCTURED_OUTPUT_READY = "The structured output is ready.";
    /// Message of a reply that used up its rounds without an answer.
    MSG_MAX_ITERS_EXCEEDED = "The rounds of this reply are used up, and there is no final answer.";
    /// Message of a reply that a layer ended early.
    MSG_ENDED_EARLY = "The reply was ended before there was an answer.";
    /// Message of a reply that stops because a person refused a call.
    MSG_STOPPED_ON_REJECT = "I have stopped, as the call was refused. Tell me how to go on.";
    /// Result of an interrupted call.
    TOOL_INTERRUPTED = "<system-reminder>This call was interrupted before it ended.</system-reminder>";
    /// Result of a call that was open when an error ended the reply.
    TOOL_ABORTED = "<system-reminder>This call did not come to an end: {error}</system-reminder>";
    /// Result of a call that a layer decided not to run.
    TOOL_NOT_RUN = "<system-reminder>This call was not run: the reply ended before it.</system-reminder>";
    /// Result of a call that a person refused.
    TOOL_DENIED_BY_USER = "<system-reminder>The user refused the call of `{name}`.</system-reminder>";
    /// Result of a call that a person refused, with the reason given.
    TOOL_DENIED_BY_USER_BECAUSE = "<system-reminder>The user refused the call of `{name}`, and says: {reason}</system-reminder>";
    /// Result of a structured output that was accepted.
    TOOL_STRUCTURED_OUTPUT_OK = "The structured output was accepted.";
    /// Result of a structured output that nobody asked for.
    TOOL_STRUCTURED_OUTPUT_NOT_REQUIRED = "No structured output is asked for now.";
    /// Result of a compression.
    TOOL_CONTEXT_COMPRESSED = "The context was compressed from {before} to {after} tokens.";
    /// Result of a compression that was not needed.
    TOOL_CONTEXT_UNCHANGED = "The context is short enough: it stays as it is, at {tokens} tokens.";
    /// Result of switching tool groups on.
    TOOL_GROUPS_ON = "These tool groups are on now: {groups}.{instructions}";
    /// Result of switching all tool groups off.
    TOOL_GROUPS_OFF = "All tool groups are off now.";
    /// Result of a call of a tool that is not there.
    ERROR_NOT_FOUND = "There is no tool named `{name}`.";
    /// Result of a call of a tool whose group is off.
    ERROR_GROUP_INACTIVE = "Tool `{name}` belongs to the group `{group}`, which is off. Switch the group on with the tool `reset_tools` first.";
    /// Result of a call of a tool that the request did not offer.
    ERROR_NOT_OFFERED = "Tool `{name}` was not offered for this answer, so the call was not run.";
    /// Result of a call although no tool might be called.
    ERROR_TOOLS_OFF = "No tool may be called now, so the call of `{name}` was not run. Answer in plain text.";
    /// Result of a call whose arguments break the schema.
    ERROR_SCHEMA = "The arguments of `{name}` do not fit its schema: {message} (at {path})";
    /// Result of a call whose arguments are not JSON.
    ERROR_JSON_DECODE = "<system-reminder>The arguments are not valid JSON: {message}. They begin with: {input}\nSend them again as one JSON object.</system-reminder>";
    /// Result of a call whose arguments hold NaN or an infinity.
    ERROR_JSON_NAN = "<system-reminder>The arguments hold NaN or Infinity, which JSON does not know. Send a number, or null.</system-reminder>";
    /// Result of a call whose arguments are JSON, but no object.
    ERROR_JSON_NOT_OBJECT = "<system-reminder>The arguments must be one JSON object; they are of the type {got}.</system-reminder>";
    /// Result of a structured output that breaks its schema.
    ERROR_STRUCTURED_OUTPUT_INVALID = "The structured output does not fit its schema: {message}";
    /// Result of a compression that failed.
    ERROR_CONTEXT_COMPRESSION = "The context could not be compressed: {error}";
    /// A deny rule.
    PERMISSION_DENIED_BY_RULE = "A rule denies the call of `{name}`.";
    /// Explore mode.
    PERMISSION_DENIED_EXPLORE = "`{name}` may change something, and only reading is allowed now.";
    /// Don't-ask mode.
    PERMISSION_DENIED_DONT_ASK = "The call of `{name}` needs a person's permission, and nobody may be asked.";
    /// A question.
    PERMISSION_REQUIRED = "The call of `{name}` needs a permission.";
    /// A permission.
    PERMISSION_GRANTED = "The call of `{name}` is allowed.";
    /// A permission that a person gave.
    PERMISSION_CONFIRMED = "A person allowed this call.";
    /// Instruction of a structured request.
    PROMPT_STRUCTURED_OUTPUT = "<system-reminder>Answer by one call of the tool `generate_structured_output`, and do nothing else.</system-reminder>";
    /// Description of the tool of a structured request.
    TOOL_DESCRIPTION_STRUCTURED = "Takes the structured answer.";
    /// Description of the tool that ends a structured reply.
    TOOL_DESCRIPTION_STRUCTURED_OUTPUT = "Hands over the structured output that this reply must end with. Its arguments are the output. Call it once, when everything that the output needs is known: the reply ends with it.";
    /// Description of the compression tool.
    TOOL_DESCRIPTION_COMPRESS = "Replaces the older part of this conversation by a summary and keeps the recent part. Call it between two tasks, when what was done can be summed up; not in the middle of one, and not while exact earlier details are needed.";
    /// Description of the tool that switches groups.
    TOOL_DESCRIPTION_RESET_TOOLS = "Chooses which groups of tools are on. Groups that are not named are switched off.";
    /// End of a cut tool result.
    TRUNCATED = "\n[cut: the rest was left out to save context]";
    /// End of a cut tool result whose rest is in a file.
    TRUNCATED_OFFLOADED = "\n[cut: the rest was left out to save context; it is in `{path}`]";
    /// The summary when no summary could be made.
    SUMMARY_TRUNCATED = "<system-reminder>Earlier messages were left out to save context.</system-reminder>";
    /// End of a summary whose messages are in a file.
    REMINDER_CONTEXT_OFFLOADED = "<system-reminder>The messages that were summed up are in `{path}`.</system-reminder>";
    /// In place of an image.
    REMINDER_IMAGE_REMOVED = "<system-reminder>An image {name}was here; it was removed to save context.</system-reminder>";
    /// In place of an image that is kept elsewhere.
    REMINDER_IMAGE_OFFLOADED = "<system-reminder>An image {name}was here; it is kept at {url}.</system-reminder>";
    /// In place of a file that the model cannot read.
    REMINDER_FILE_SAVED = "<system-reminder>A file {name}was attached; it is kept at {url}.</system-reminder>";
    /// In place of a file that the model cannot read and that is not kept.
    REMINDER_UNSUPPORTED_FILE = "<system-reminder>A file {name}of the type {media_type} was attached, which this model cannot read.</system-reminder>";
    /// The name in the three reminders above.
    REMINDER_NAMED = "named `{name}` ";
    /// Runtime-state hint.
    HINT_RUNTIME_STATE = "<system-reminder>The state of things:\n{runtime_state}\n</system-reminder>";
    /// Repeated-error line of the runtime-state hint.
    HINT_TOOL_ERROR = "The call of `{tool_name}` with the same arguments has failed {count} times in a row. Do something else.";
    /// Tasks line of the runtime-state hint.
    HINT_TASKS = "{in_progress} task(s) in progress, {pending} pending. `TaskList` shows them.";
    /// Context line of the runtime-state hint.
    HINT_CONTEXT_LENGTH = "The context holds {tokens} tokens; at {trigger} it is compressed.";
    /// Addition to the context line when the agent may compress by itself.
    HINT_CONTEXT_COMPRESS_TOOL = " No task is in progress: call `CompressContext` now if the details are no longer needed.";
    /// Request for a summary.
    PROMPT_COMPRESSION = "<system-reminder>It is {current_time}. The conversation so far is about to be replaced by a summary. Write one from which the work can go on without the messages: the request and its limits, where the work stands, what was found and decided (with exact names, paths, figures), what comes next, and what else must not be lost.</system-reminder>";
    /// How a summary is put together.
    SUMMARY_TEMPLATE = "<system-reminder>Summary of the conversation before this point:\n# Task\n{task_overview}\n# Where it stands\n{current_state}\n# Found and decided\n{important_discoveries}\n# Next\n{next_steps}\n# Also to be kept\n{context_to_preserve}\n</system-reminder>";
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn only_named_places_are_filled_and_values_are_data() {
        let text = fill("{a} {b} {{x} {c}", &[("a", "{b}"), ("b", "2")]);
        assert_eq!(text, "{b} 2 {{x} {c}");
    }
}
