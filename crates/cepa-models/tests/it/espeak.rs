//! The local voice, and programs that are none.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    time::Duration,
};

use cepa_core::ErrorType;
use cepa_models::{
    AudioChunk, ConfigError, EspeakTts, EspeakTtsBuilder, TtsModel, TtsText, synthesize, tts_audio,
};

use crate::speech::{info, joined, speak};

/// The model, or `None` where the program is missing; in CI it must not be.
fn espeak(voice: &str) -> Option<EspeakTts> {
    match EspeakTts::builder().voice(voice).build() {
        Err(error @ ConfigError::NoProgram { .. }) if std::env::var_os("CI").is_none() => {
            println!("skipped: {error}");
            None
        }
        built => Some(built.unwrap()),
    }
}

/// How long the audio is, in seconds, and how loud its loudest moment, from 0 to 1.
fn measure(chunks: &[AudioChunk]) -> (f64, f64) {
    assert!(chunks.iter().all(|chunk| &*chunk.media_type == "audio/pcm;rate=22050"), "{chunks:?}");
    assert!(chunks.iter().all(|chunk| chunk.data.len() % 2 == 0));
    let data = joined(chunks);
    let samples = data.chunks(2).map(|sample| i16::from_le_bytes([sample[0], sample[1]]));
    let loudest = samples.map(i16::unsigned_abs).max().unwrap_or(0);
    (data.len() as f64 / 2.0 / 22_050.0, f64::from(loudest) / 32_768.0)
}

#[tokio::test]
async fn speaks_english_and_chinese() {
    let cases = [
        ("en-us", "The quick brown fox jumps over the lazy dog.", 2.0..5.0),
        ("cmn", "敏捷的棕色狐狸跳过了懒狗。", 2.0..6.0),
    ];
    for (voice, text, length) in cases {
        let Some(model) = espeak(voice) else { return };
        assert!(!model.is_realtime() && model.name() == "espeak-ng");
        let chunks = synthesize(&model, text).await.unwrap();
        let (seconds, loudest) = measure(&chunks);
        assert!(length.contains(&seconds) && loudest > 0.1, "{voice}: {seconds} s, {loudest}");
        assert!(chunks.len() > 3, "{} pieces", chunks.len());
    }
}

#[tokio::test]
async fn sentences_follow_each_other_and_blank_ones_are_left_out() {
    let Some(model) = espeak("en-us") else { return };
    let mut session = model.connect().await.unwrap();
    let mut alone = 0.0;
    for sentence in ["One onion.", "Two onions."] {
        alone += measure(&synthesize(&model, sentence).await.unwrap()).0;
    }
    let (chunks, result) = speak(&mut *session, &["One onion.", " \n\0", "", "Two onions."]).await;
    result.unwrap();
    assert!((measure(&chunks).0 - alone).abs() < 0.01);
    let (chunks, result) = speak(&mut *session, &[" "]).await;
    result.unwrap();
    assert!(chunks.is_empty());
}

#[tokio::test]
async fn text_is_read_out_and_never_obeyed() {
    let Some(model) = espeak("en-us") else { return };
    for text in ["--help", "-w /tmp/x.wav", "<break time=\"60s\"/>", "[[h@loU]]", "\u{1}450S\0hello"] {
        let (seconds, loudest) = measure(&synthesize(&model, text).await.unwrap());
        assert!((0.3..8.0).contains(&seconds) && loudest > 0.1, "{text}: {seconds} s");
    }
    // As phonemes the first would be one short word.
    let spelt = measure(&synthesize(&model, "[[h@loU]]").await.unwrap()).0;
    let word = measure(&synthesize(&model, "hello").await.unwrap()).0;
    assert!(spelt > word * 1.3, "{spelt} {word}");
}

#[tokio::test]
async fn a_faster_voice_is_done_sooner() {
    let Some(model) = espeak("en-us") else { return };
    let fast = EspeakTts::builder().words_per_minute(350).build().unwrap();
    let text = "An onion has many layers, and each of them is thin.";
    let slow = measure(&synthesize(&model, text).await.unwrap()).0;
    let fast = measure(&synthesize(&fast, text).await.unwrap()).0;
    assert!(fast < slow * 0.75, "{fast} {slow}");
}

#[tokio::test]
async fn a_long_text_is_not_too_long() {
    let Some(model) = espeak("en-us") else { return };
    let text = "An onion has many layers. ".repeat(4000); // more than a pipe holds
    let mut session = model.connect().await.unwrap();
    let (audio, mut chunks) = tts_audio();
    let mut speaking = session.speak(TtsText::whole(text), audio);
    for _ in 0..200 {
        tokio::select! {
            chunk = chunks.next() => assert!(!chunk.unwrap().data.is_empty()),
            result = &mut speaking => panic!("{result:?}"),
        }
    }
}

#[test]
fn a_missing_program_is_named_with_its_package() {
    let error = EspeakTts::builder().program("/no/such/espeak-ng").build().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`/no/such/espeak-ng`") && text.contains("apt-get install espeak-ng"), "{text}");
    assert!(matches!(error, ConfigError::NoProgram { .. }));
}

#[test]
fn settings_that_cannot_work_are_refused() {
    if espeak("en-us").is_some() {
        let error = EspeakTts::builder().voice("klingonese").build().unwrap_err();
        assert!(matches!(error, ConfigError::BadVoice { .. }));
        assert!(error.to_string().contains("`klingonese`"), "{error}");
    }
    let settings = [
        (EspeakTts::builder().voice(""), "voice"),
        (EspeakTts::builder().words_per_minute(0), "words_per_minute"),
        (EspeakTts::builder().timeout(Duration::ZERO), "timeout"),
    ];
    for (builder, name) in settings {
        let error = builder.build().unwrap_err();
        assert!(matches!(&error, ConfigError::OutOfRange { setting, .. } if *setting == name), "{error}");
    }
}

/// A program that stands in for espeak-ng, in this role, and where it writes its process id.
fn stand_in(role: &str) -> (EspeakTtsBuilder, PathBuf) {
    let id = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("espeak-{role}.pid"));
    let voice = format!("{role}:{}", id.display());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/espeak.sh");
    (EspeakTts::builder().program(script).voice(voice), id)
}

/// Whether this process is there, and no corpse.
fn runs(id: &Path) -> bool {
    let id = fs::read_to_string(id).unwrap();
    match fs::read_to_string(format!("/proc/{}/stat", id.trim())) {
        Ok(stat) => !stat.contains(") Z "),
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => panic!("{error}"),
    }
}

/// Waits until the process is gone. It is killed at once; the system takes its time.
async fn gone(id: &Path) {
    let gone = async {
        while runs(id) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), gone).await.expect("the program still runs");
}

#[tokio::test]
async fn who_stops_it_leaves_no_process_behind() {
    let roles = if espeak("en-us").is_some() { &["endless", "real"][..] } else { &["endless"] };
    let long = "An onion has many layers. ".repeat(1000);
    for role in roles {
        let (model, id) = stand_in(role);
        let model = model.build().unwrap();
        for drop_reader in [false, true] {
            let mut session = model.connect().await.unwrap();
            let (audio, mut chunks) = tts_audio();
            let mut speaking = session.speak(TtsText::whole(&long), audio);
            let first = tokio::select! {
                chunk = chunks.next() => chunk.unwrap(),
                result = &mut speaking => panic!("{result:?}"),
            };
            assert_eq!(&*first.media_type, "audio/pcm;rate=22050");
            assert!(runs(&id));
            if drop_reader {
                drop(chunks);
                speaking.await.unwrap();
            } else {
                drop(speaking);
            }
            gone(&id).await;
        }
    }
}

#[tokio::test]
async fn a_program_that_fails_says_why() {
    let cases = [
        ("voiceless", "no such voice"),
        ("breathless", "out of breath"),
        ("mute", "exit status: 7"),
        ("empty", "ended early"),
        ("text", "no WAV"),
    ];
    for (role, words) in cases {
        let error = synthesize(&stand_in(role).0.build().unwrap(), "Hi.").await.unwrap_err();
        assert!(error.to_string().contains(words), "{role}: {error}");
        assert_eq!(info(&error), (ErrorType::Upstream, false), "{error}");
    }
}

#[tokio::test]
async fn a_program_that_hangs_is_killed() {
    let (model, id) = stand_in("hangs");
    let model = model.timeout(Duration::from_secs(1)).build().unwrap();
    let error = synthesize(&model, "Hi.").await.unwrap_err();
    assert!(error.to_string().contains("1s (`timeout`)"), "{error}");
    gone(&id).await;
}

#[tokio::test]
async fn a_program_that_is_gone_is_named() {
    let (model, id) = stand_in("gone");
    let link = id.with_extension("link");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/espeak.sh"), &link).unwrap();
    let model = model.program(&link).build().unwrap();
    fs::remove_file(&link).unwrap();
    let error = synthesize(&model, "Hi.").await.unwrap_err();
    assert!(error.to_string().contains("apt-get install espeak-ng"), "{error}");
    assert_eq!(info(&error).0, ErrorType::Setup);
}
