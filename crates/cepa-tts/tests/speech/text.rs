//! What of the text is spoken.

use cepa_core::{
    ChatChunk, EventKind, ModelCall, on_model_call, on_reply,
    testing::{Answer, ScriptedModel},
};
use cepa_tts::{Per, SpeechFilter, TtsMiddleware};

use crate::{
    support::{agent, builder, heard, log},
    voice::Voice,
};

const MARKDOWN: [&str; 7] = [
    "# Re",
    "sult\nSee [the do",
    "cs](http://a.b). *Now*:\n``",
    "`\nlet x = 1;\n`",
    "``\n| a | b |\n",
    "That **is",
    "** all.",
];

#[tokio::test(start_paused = true)]
async fn text_is_filtered_while_it_streams() {
    for (voice, per) in
        [(Voice::new(), Per::Block), (Voice::new(), Per::Sentence), (Voice::new().realtime(), Per::Block)]
    {
        let speech = TtsMiddleware::builder(voice.clone()).per(per).filter(SpeechFilter::markdown()).build();
        let mut agent = agent(&ScriptedModel::new([Answer::new().texts(MARKDOWN)]), speech.unwrap());
        let log = log(&mut agent).await;
        assert_eq!(voice.told().concat(), "Result\nSee the docs. Now:\nThat is all.");
        // Only speech is filtered.
        assert_eq!(log.text(), MARKDOWN.concat());
    }
}

#[tokio::test(start_paused = true)]
async fn text_of_which_a_filter_leaves_nothing_is_not_spoken() {
    for voice in [Voice::new(), Voice::new().realtime()] {
        let speech = TtsMiddleware::builder(voice.clone()).filter(SpeechFilter::markdown()).build().unwrap();
        let mut agent = agent(&ScriptedModel::new(["```\nlet x = 1;\n```\n"]), speech);
        assert_eq!(heard(log(&mut agent).await.events()), [""; 0]);
        assert_eq!(voice.sessions(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn marks_without_a_word_are_not_spoken() {
    // The last ones are marks where all else was filtered out.
    for text in ["...", "( )", "👍", "---\n", "**", ": ?!", "https://a.b/c.", "(https://a.b)"] {
        for (voice, per) in
            [(Voice::new(), Per::Block), (Voice::new(), Per::Sentence), (Voice::new().realtime(), Per::Block)]
        {
            let speech =
                TtsMiddleware::builder(voice.clone()).per(per).filter(SpeechFilter::markdown()).build();
            let model = ScriptedModel::new([Answer::new().texts(text.chars())]);
            assert_eq!(heard(log(&mut agent(&model, speech.unwrap())).await.events()), [""; 0], "{text}");
            assert_eq!((voice.sessions(), voice.told()), (0, vec![]), "{text}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_text_without_sentences_is_spoken_while_it_is_written() {
    let voice = Voice::new();
    let speech = TtsMiddleware::builder(voice.clone()).per(Per::Sentence).max_length(50).build().unwrap();
    let words = Answer::new().texts(["word "; 30]).delay(std::time::Duration::from_secs(60)).text("end");
    let log = log(&mut agent(&ScriptedModel::new([words]), speech)).await;
    assert_eq!(heard(log.events()), ["word ".repeat(30) + "end"]);
    assert!(voice.told().iter().all(|part| part.len() <= 50));
    let at = |event_type: &str| log.events().iter().position(|event| event.event_type() == event_type);
    assert!(at("DATA_BLOCK_DELTA") < at("TEXT_BLOCK_END"));
}

#[tokio::test(start_paused = true)]
async fn a_function_stands_in_for_a_filter() {
    let voice = Voice::new();
    let filter = SpeechFilter::function(|line| line.replace("NASA", "nasa"));
    let speech = TtsMiddleware::builder(voice.clone()).per(Per::Sentence).filter(filter).build().unwrap();
    let answer = Answer::new().texts(["NA", "SA flies.\nTo", " the moon."]);
    log(&mut agent(&ScriptedModel::new([answer]), speech)).await;
    assert_eq!(voice.told(), ["nasa flies.\n", "To the moon."]);
}

#[tokio::test(start_paused = true)]
async fn long_text_is_spoken_in_parts_in_one_block() {
    let voice = Voice::new();
    let speech = TtsMiddleware::builder(voice.clone()).max_length(16).build().unwrap();
    let text = "One two. Three. 你好。Four five six seven eight.";
    let mut agent = agent(&ScriptedModel::new([text]), speech);
    assert_eq!(heard(log(&mut agent).await.events()), [text]);
    assert_eq!(voice.told(), ["One two. Three. ", "你好。", "Four five six ", "seven eight."]);
}

#[tokio::test(start_paused = true)]
async fn what_a_layer_inside_hides_is_not_spoken() {
    let hides = on_model_call(|_cx: cepa_core::Cx<ModelCall>, request, next| async move {
        let hide = |chunk: &mut ChatChunk| {
            chunk.texts_mut().for_each(|text| *text = text.replace("secret", "***"));
        };
        next.tap(request, hide).await
    });
    let voice = Voice::new();
    let model = ScriptedModel::new(["The secret."]);
    let mut agent =
        builder(&model).middleware(TtsMiddleware::new(voice.clone())).middleware(hides).build().unwrap();
    log(&mut agent).await;
    assert_eq!(voice.told(), ["The ***."]);
}

#[tokio::test(start_paused = true)]
async fn the_final_text_is_spoken_where_nothing_was_spoken_yet() {
    for (voice, told) in [(Voice::new(), &["Right."][..]), (Voice::new().realtime(), &["Wro", "ng."])] {
        let corrects = on_reply(|_cx, input, next| async move {
            let correct = |event: &mut cepa_core::AgentEvent| {
                if let EventKind::TextBlockEnd { text, .. } = &mut event.kind {
                    *text = Some("Right.".to_owned());
                }
            };
            next.tap(input, correct).await
        });
        let model = ScriptedModel::new([Answer::new().texts(["Wro", "ng."])]);
        let mut agent = builder(&model)
            .middleware(TtsMiddleware::new(voice.clone()))
            .middleware(corrects)
            .build()
            .unwrap();
        log(&mut agent).await;
        assert_eq!(voice.told(), told);
    }
}
