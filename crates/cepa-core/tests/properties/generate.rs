//! Making up scripts. Simple things come first in each choice: failing cases shrink towards them.

use proptest::{collection::vec, prelude::*, sample::select};

use super::script::{
    Answer, Arguments, Call, CallId, Does, End, HookKind, Layer, LayerDoes, Piece, Round, Script, Settings,
    Summary, ToolKind, Turn,
};

pub(crate) fn scripts() -> impl Strategy<Value = Script> {
    let parts = (vec(round(), 0..6), vec(layer(), 0..4), vec(turn(), 1..4), vec(answer(), 1..5), settings());
    parts.prop_map(|(rounds, layers, turns, answers, settings)| Script {
        rounds,
        layers,
        turns,
        answers,
        settings,
    })
}

/// Scripts whose layers only pass on.
pub(crate) fn scripts_of_passing_layers() -> impl Strategy<Value = Script> {
    (scripts(), vec((hook(), select(PASSING)), 0..4)).prop_map(|(mut script, layers)| {
        script.layers =
            layers.into_iter().map(|(hook, does)| Layer { hook, does, skips: 0, times: 1 }).collect();
        script
    })
}

const PASSING: &[LayerDoes] = &[
    LayerDoes::Run,
    LayerDoes::Tap,
    LayerDoes::TapShared,
    LayerDoes::Stream,
    LayerDoes::ReadThenSend,
    LayerDoes::Collect,
];

fn settings() -> impl Strategy<Value = Settings> {
    let compression = prop_oneof![
        3 => Just(None),
        1 => select(vec![Summary::Good, Summary::Useless, Summary::Fails]).prop_map(Some),
    ];
    let switches = (any::<bool>(), prop::bool::weighted(0.2), prop::bool::weighted(0.2), any::<bool>());
    (select(vec![6_u32, 1, 0, 2, 3]), 0..2_u32, switches, compression).prop_map(
        |(max_iters, model_retries, switches, compression)| {
            let (has_fallback, stop_on_reject, interrupt_is_error, injects) = switches;
            Settings {
                max_iters,
                model_retries,
                has_fallback,
                stop_on_reject,
                interrupt_is_error,
                injects,
                compression,
            }
        },
    )
}

fn round() -> impl Strategy<Value = Round> {
    let end = prop_oneof![
        8 => Just(End::Streamed),
        2 => Just(End::Own),
        1 => Just(End::Error),
        1 => Just(End::Slow),
        1 => Just(End::Hang),
    ];
    (vec(piece(), 0..5), end).prop_map(|(pieces, end)| Round { pieces, end })
}

fn piece() -> impl Strategy<Value = Piece> {
    let text =
        || select(vec!["hello ", "", "a longer text with \"quotes\" and\na second line ", "é{x}</tag>"]);
    prop_oneof![
        3 => text().prop_map(Piece::Text),
        6 => call().prop_map(Piece::Call),
        2 => (call(), call()).prop_map(|(one, other)| Piece::Calls(one, other)),
        1 => (text(), call()).prop_map(|(text, call)| Piece::TextAndCall(text, call)),
        1 => text().prop_map(Piece::Thinking),
        1 => Just(Piece::Empty),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    use {Does::*, ToolKind::*};
    let id = prop_oneof![6 => Just(CallId::Fresh), 1 => Just(CallId::Repeated), 1 => Just(CallId::Empty)];
    let tool =
        select(vec![Safe, Safe, Safe, Serial, Serial, Asks, Asks, External, Unknown, Structured, Compress]);
    let does = select(vec![Ok, Ok, Error, Stream, StreamThenFail, Slow, Hang, DeveloperError, Note]);
    let arguments = prop_oneof![
        8 => Just(Arguments::Good),
        1 => select(vec![Arguments::Cut, Arguments::Empty, Arguments::NoObject, Arguments::WrongType]),
    ];
    (id, tool, does, arguments, any::<bool>()).prop_map(|(id, tool, does, arguments, in_two)| Call {
        id,
        tool,
        does,
        arguments,
        in_two,
    })
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        4 => Just(Turn::Say),
        1 => Just(Turn::SayWithSchema),
        1 => Just(Turn::Nothing),
        1 => Just(Turn::Observe),
    ]
}

fn answer() -> impl Strategy<Value = Answer> {
    use Answer::*;
    select(vec![
        Confirm,
        Confirm,
        ConfirmWithRules,
        Refuse,
        Edit,
        Rename,
        Partial,
        Stale,
        Unknown,
        Interrupt,
        SayInstead,
        ObserveFirst,
    ])
}

fn hook() -> impl Strategy<Value = HookKind> {
    use HookKind::*;
    select(vec![
        Reply,
        Reply,
        Reasoning,
        ModelCall,
        ModelCall,
        Acting,
        Acting,
        CheckPermission,
        Compress,
        SystemPrompt,
    ])
}

fn layer() -> impl Strategy<Value = Layer> {
    use LayerDoes::*;
    let does = select(vec![
        Run,
        Tap,
        TapShared,
        Stream,
        ReadThenSend,
        Collect,
        Hold,
        DropSome,
        DropAllInTap,
        SwallowEnd,
        SwallowEnd,
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
        Note,
        Refuse,
        Ask,
        Rename,
        JumpToEnd,
        JumpToModel,
    ]);
    let times = prop_oneof![Just(1_u8), Just(2), Just(u8::MAX)];
    (hook(), does, 0..3_u8, times).prop_map(|(hook, does, skips, times)| Layer { hook, does, skips, times })
}
