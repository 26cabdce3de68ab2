//! What happens in one generated case: what the model says, what the layers do, what the person answers.

/// One case.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// What the model answers, request by request; after that it only says `done`.
    pub(crate) rounds: Vec<Round>,
    /// Outermost first.
    pub(crate) layers: Vec<Layer>,
    pub(crate) turns: Vec<Turn>,
    /// What a person answers to a parked reply, by turns.
    pub(crate) answers: Vec<Answer>,
    pub(crate) settings: Settings,
}

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) max_iters: u32,
    pub(crate) model_retries: u32,
    /// Whether there is a second model, which says `fallback`.
    pub(crate) has_fallback: bool,
    pub(crate) stop_on_reject: bool,
    pub(crate) interrupt_is_error: bool,
    pub(crate) injects: bool,
    /// How the summary is answered, where the context is so small that summaries are needed.
    pub(crate) compression: Option<Summary>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Summary {
    Good,
    Useless,
    Fails,
}

/// One answer of the model.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Streamed,
    /// Not streamed: returned as a whole.
    Own,
    Error,
    Slow,
    Hang,
}

/// What comes in one chunk.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Text(&'static str),
    Thinking(&'static str),
    /// Text beside a call.
    TextAndCall(&'static str, Call),
    Call(Call),
    Calls(Call, Call),
    Empty,
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) id: CallId,
    pub(crate) tool: ToolKind,
    pub(crate) does: Does,
    pub(crate) arguments: Arguments,
    /// Whether the arguments come in two chunks.
    pub(crate) in_two: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallId {
    Fresh,
    Repeated,
    Empty,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolKind {
    /// May run beside others.
    Safe,
    /// May not.
    Serial,
    Asks,
    External,
    Unknown,
    Structured,
    Compress,
}

/// What a tool does when it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    Ok,
    Error,
    Stream,
    StreamThenFail,
    Slow,
    Hang,
    DeveloperError,
    /// Says something to the context beside its result, as `observe` and memories do.
    Note,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arguments {
    Good,
    Cut,
    Empty,
    NoObject,
    WrongType,
}

/// What the user does when nothing is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Say,
    SayWithSchema,
    Nothing,
    Observe,
}

/// What a person answers when something is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Confirm,
    ConfirmWithRules,
    Refuse,
    Edit,
    Rename,
    /// The first call only.
    Partial,
    /// For another reply.
    Stale,
    /// For another call.
    Unknown,
    Interrupt,
    /// A message, though answers are waited for.
    SayInstead,
    ObserveFirst,
}

/// A layer for one hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layer {
    pub(crate) hook: HookKind,
    pub(crate) does: LayerDoes,
    /// So many calls are let through untouched first.
    pub(crate) skips: u8,
    /// In so many calls after those it does what it does.
    pub(crate) times: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookKind {
    Reply,
    Reasoning,
    ModelCall,
    CheckPermission,
    Acting,
    Compress,
    SystemPrompt,
}

/// What a layer does. What does not fit its hook is passing on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayerDoes {
    Run,
    Tap,
    TapShared,
    Stream,
    /// Reads everything, then sends it on.
    ReadThenSend,
    Collect,
    Hold,
    /// Drops every second item that is not an end.
    DropSome,
    DropAllInTap,
    /// Drops the end of the reply.
    SwallowEnd,
    /// Tries once more after an error.
    Retry,
    Short,
    RaiseBefore,
    RaiseAfter,
    RaiseInTap,
    WaitBefore,
    HangBefore,
    WaitAfter,
    HangAfter,
    AskModel,
    /// Says something to the context.
    Note,
    Refuse,
    Ask,
    Rename,
    JumpToEnd,
    JumpToModel,
}

impl Script {
    /// Whether a layer of the hook does this.
    pub(crate) fn has(&self, hook: HookKind, does: &[LayerDoes]) -> bool {
        self.layers.iter().any(|layer| layer.hook == hook && does.contains(&layer.does))
    }

    /// Whether no end of a reply gets out. One that a layer inside has held until the loop was over counts as delivered
    /// when it is dropped further out: the reply cannot go on then, and is ended for its reader.
    pub(crate) fn swallows_all_ends(&self) -> bool {
        let mut around = self.layers.iter().filter(|layer| layer.hook == HookKind::Reply);
        let swallows =
            |layer: &Layer| layer.does == LayerDoes::SwallowEnd && layer.skips == 0 && layer.times == u8::MAX;
        around.any(swallows) && around.all(|inside| inside.does != LayerDoes::ReadThenSend)
    }
}
