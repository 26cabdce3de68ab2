//! The audio of a reply as a file.

use std::{fs, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use cepa_core::{
    Agent, AgentEvent, BoxFuture, ConfirmResult, DataDelta, EventKind, Result, UserConfirmResultEvent,
    serde_json::json,
    testing::{Answer, EventLog, Logged, ScriptedModel, ScriptedTool},
};
use cepa_models::{AudioChunk, TtsAudio, TtsModel, TtsSession, TtsText};
use cepa_tts::{Per, RecordSpeech, TtsMiddleware, WavRecorder};
use hound::{SampleFormat, WavReader, WavSpec, WavWriter};

use crate::{
    support::{builder, log, within},
    voice::Voice,
};

/// The samples of a file.
fn samples(path: &std::path::Path) -> (WavSpec, Vec<i16>) {
    let mut reader = WavReader::open(path).unwrap();
    (reader.spec(), reader.samples().map(|sample| sample.unwrap()).collect())
}

/// The samples of a text that the voice of these tests says.
fn said(text: &str) -> Vec<i16> {
    text.as_bytes().chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect()
}

fn spec(sample_rate: u32, channels: u16) -> WavSpec {
    WavSpec { channels, sample_rate, bits_per_sample: 16, sample_format: SampleFormat::Int }
}

#[tokio::test]
async fn a_reply_is_written_to_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let of_reply = folder.path().to_owned();
    let model = ScriptedModel::new([
        Answer::new().text("Let me see").tool_call("look", json!({})),
        Answer::new().text("Done"),
    ]);
    let mut agent = builder(&model)
        .tool(ScriptedTool::echo("look"))
        .middleware(RecordSpeech::to_each(move |id| of_reply.join(format!("{id}.wav"))))
        .middleware(TtsMiddleware::new(Voice::new()))
        .build()
        .unwrap();
    let id = log(&mut agent).await.into_outcome().unwrap().id;
    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, [format!("{id}.wav").as_str()]);
    assert_eq!(samples(&folder.path().join(format!("{id}.wav"))), (spec(8_000, 1), said("Let me seeDone")));
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_a_warning() {
    let warnings = Logged::warnings("cepa_tts");
    let mut agent = builder(&ScriptedModel::new(["Hello!"]))
        .middleware(RecordSpeech::to("/nowhere/at all/reply.wav"))
        .middleware(TtsMiddleware::new(Voice::new()))
        .build()
        .unwrap();
    log(&mut agent).await.assert(["...", "REPLY_END completed"]);
    let warnings = warnings.take();
    assert!(warnings.len() == 1 && warnings[0].contains("/nowhere/at all/reply.wav"), "{warnings:?}");
}

/// An agent whose replies say "Well" where `first` is so, ask for a permission, and then say "Done".
fn asking(record: RecordSpeech, first: bool) -> Agent {
    let ask = Answer::new().tool_call("rm", json!({}));
    let model = ScriptedModel::new([
        if first { Answer::new().text("Well").tool_call("rm", json!({})) } else { ask },
        Answer::new().text("Done"),
    ]);
    builder(&model)
        .tool(ScriptedTool::echo("rm").asks())
        .middleware(record)
        .middleware(TtsMiddleware::new(Voice::new()))
        .build()
        .unwrap()
}

/// Says yes.
async fn confirm(agent: &mut Agent) {
    let waiting = agent.waiting_for().unwrap();
    let yes = UserConfirmResultEvent::new(
        waiting.reply_id.clone(),
        waiting.confirmations.into_iter().map(ConfirmResult::confirm),
    );
    within(EventLog::of(agent.reply(yes))).await.assert(["...", "REPLY_END completed"]);
}

#[tokio::test]
async fn a_reply_that_goes_on_after_a_pause_goes_on_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reply.wav");
    for record in [RecordSpeech::to(&path), {
        let path = path.clone();
        RecordSpeech::to_each(move |_| path.clone())
    }] {
        // Whatever was there is not of this reply.
        fs::write(&path, wav(16_000, 2, &[7, 7])).unwrap();
        let mut agent = asking(record, true);
        log(&mut agent).await;
        assert_eq!(samples(&path), (spec(8_000, 1), said("Well")));
        confirm(&mut agent).await;
        assert_eq!(samples(&path), (spec(8_000, 1), said("WellDone")));
    }
}

#[tokio::test]
async fn a_reply_does_not_go_on_with_the_file_of_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reply.wav");
    let record = RecordSpeech::to(&path);
    // Nothing was said before the pause, and the file is of another reply.
    fs::write(&path, wav(8_000, 1, &[7, 7])).unwrap();
    let mut silent = asking(record.clone(), false);
    log(&mut silent).await;
    confirm(&mut silent).await;
    assert_eq!(samples(&path).1, said("Done"));
    // Another reply comes between.
    let (mut first, mut second) = (asking(record.clone(), true), asking(record, true));
    log(&mut first).await;
    log(&mut second).await;
    confirm(&mut second).await;
    assert_eq!(samples(&path).1, said("WellDone"));
    confirm(&mut first).await;
    assert_eq!(samples(&path).1, said("Done"));
}

#[test]
fn a_file_that_cannot_be_gone_on_with_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reply.wav");
    for (file, expected) in
        [(b"no WAV".to_vec(), "reply.wav cannot be gone on with"), (wav(16_000, 1, &[1]), "16000 Hz")]
    {
        fs::write(&path, &file).unwrap();
        let mut recorder = WavRecorder::going_on(&path);
        block("b", "audio/pcm;rate=8000", &[&[0, 0]]).iter().for_each(|event| recorder.feed(event));
        let error = recorder.finish().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(fs::read(&path).unwrap(), file);
    }
    // Nothing new was said.
    assert_eq!(WavRecorder::going_on(&path).finish().unwrap(), None);
    // Nothing is there.
    let mut recorder = WavRecorder::going_on(folder.path().join("new.wav"));
    block("b", "audio/pcm;rate=8000", &[&[0, 0]]).iter().for_each(|event| recorder.feed(event));
    assert!(recorder.finish().unwrap().is_some());
}

#[test]
fn what_is_good_is_written_and_the_rest_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reply.wav");
    let good = |id| block(id, "audio/wav", &[&wav(8_000, 1, &[1, 2])]);
    for (other, expected) in [
        (block("x", "audio/wav", &[b"RIFF\0\0\0\0WAVE"]), "cut off"),
        (block("x", "audio/mpeg", &[b"ID3"]), "`audio/mpeg`"),
        (block("x", "audio/pcm;rate=16000", &[&[0, 0]]), "8000 Hz on 1 channel(s) and then 16000 Hz"),
    ] {
        for events in [[good("a"), other.clone(), good("b")].concat(), [good("a"), good("b"), other].concat()]
        {
            let mut recorder = WavRecorder::new(&path);
            events.iter().for_each(|event| recorder.feed(event));
            let recording = recorder.finish().unwrap().unwrap();
            assert_eq!(samples(&path), (spec(8_000, 1), vec![1, 2, 1, 2]));
            assert_eq!(recording.left_out.len(), 1);
            assert!(recording.left_out[0].contains(expected), "{recording:?}");
        }
    }
    // The last moment is cut off in its middle.
    let mut recorder = WavRecorder::new(&path);
    let stereo = block("b", "audio/pcm;rate=8000;channels=2", &[&[1, 0, 2, 0, 3, 0]]);
    stereo.iter().for_each(|event| recorder.feed(event));
    assert_eq!(recorder.finish().unwrap().unwrap().left_out, [""; 0]);
    assert_eq!(samples(&path), (spec(8_000, 2), vec![1, 2]));
}

#[tokio::test]
async fn what_a_layer_leaves_out_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reply.wav");
    let model = ScriptedModel::new([
        Answer::new().text("Let me see").tool_call("look", json!({})),
        Answer::new().text("Done"),
    ]);
    let relabels = cepa_core::on_reply(|_cx, input, next| async move {
        let mut blocks = 0;
        next.tap(input, move |event: &mut AgentEvent| {
            if let EventKind::DataBlockStart { media_type, .. } = &mut event.kind {
                blocks += 1;
                if blocks == 2 {
                    *media_type = "audio/flac".into();
                }
            }
        })
        .await
    });
    let warnings = Logged::warnings("cepa_tts");
    let mut agent = builder(&model)
        .tool(ScriptedTool::echo("look"))
        .middleware(RecordSpeech::to(&path))
        .middleware(relabels)
        .middleware(TtsMiddleware::new(Voice::new()))
        .build()
        .unwrap();
    log(&mut agent).await;
    assert_eq!(samples(&path).1, said("Let me see"));
    let warnings = warnings.take();
    assert!(warnings.len() == 1 && warnings[0].contains("`audio/flac`"), "{warnings:?}");
}

#[cfg(unix)]
#[test]
fn a_file_has_the_permissions_of_any_other_and_keeps_its_own() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("reply.wav"), folder.path().join("other"));
    fs::write(&other, "").unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode();
    let record = || {
        let mut recorder = WavRecorder::new(&path);
        block("b", "audio/pcm;rate=8000", &[&[0, 0]]).iter().for_each(|event| recorder.feed(event));
        recorder.finish().unwrap();
    };
    record();
    assert_eq!(mode(&path), mode(&other));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    record();
    assert_eq!(mode(&path) & 0o777, 0o640);
}

/// The events of one audio block with these pieces.
fn block(id: &str, media_type: &str, pieces: &[&[u8]]) -> Vec<AgentEvent> {
    let media_type: Arc<str> = media_type.into();
    let ids = || ("r".into(), id.into());
    let (reply_id, block_id) = ids();
    let start = EventKind::DataBlockStart { reply_id, block_id, media_type: media_type.clone(), name: None };
    let deltas = pieces.iter().map(|piece| {
        let ((reply_id, block_id), delta) = (ids(), DataDelta::Base64(STANDARD.encode(piece)));
        EventKind::DataBlockDelta { reply_id, block_id, media_type: media_type.clone(), delta }
    });
    std::iter::once(start).chain(deltas).map(AgentEvent::new).collect()
}

fn wav(sample_rate: u32, channels: u16, samples: &[i16]) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut writer = WavWriter::new(&mut bytes, spec(sample_rate, channels)).unwrap();
    samples.iter().for_each(|sample| writer.write_sample(*sample).unwrap());
    writer.finalize().unwrap();
    bytes.into_inner()
}

/// A WAV as a program writes it that does not know its length.
fn unknown_length(mut wav: Vec<u8>) -> Vec<u8> {
    wav[4..8].fill(0xff);
    wav[40..44].fill(0xff);
    wav
}

#[test]
fn pcm_and_wav_are_written_whatever_pieces_they_come_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reply.wav");
    let stereo = wav(24_000, 2, &[1, 2, 3, 4]);
    let two = [wav(24_000, 1, &[1, 2]), unknown_length(wav(24_000, 1, &[3, 4]))].concat();
    let samples_in_pieces: [&[u8]; 3] = [&[1], &[0, 2, 0, 3], &[0, 4, 0]];
    for (media_type, pieces, channels) in [
        ("audio/pcm;rate=24000", &samples_in_pieces[..], 1),
        ("Audio/PCM; channels=2; rate=24000", &samples_in_pieces, 2),
        ("audio/wav", &[&stereo[..9], &stereo[9..]], 2),
        ("audio/x-wav", &[&two], 1),
    ] {
        let mut recorder = WavRecorder::new(&path);
        block("b", media_type, pieces).iter().for_each(|event| recorder.feed(event));
        let recording = recorder.finish().unwrap().unwrap();
        assert_eq!((recording.sample_rate, recording.channels), (24_000, channels), "{media_type}");
        assert_eq!(
            recording.length.as_nanos(),
            4_000_000_000 / 24_000 / u128::from(channels),
            "{media_type}"
        );
        assert_eq!(samples(&path), (spec(24_000, channels), vec![1, 2, 3, 4]), "{media_type}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_cannot_be_written_is_named_and_what_was_there_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reply.wav");
    fs::write(&path, "before").unwrap();
    let url = |id: &str| {
        let (reply_id, block_id, media_type) = ("r".into(), id.into(), "audio/wav".into());
        let delta = DataDelta::Url("https://a.b/c.wav".to_owned());
        AgentEvent::new(EventKind::DataBlockDelta { reply_id, block_id, media_type, delta })
    };
    let mut wav_of_24_bits = wav(8_000, 1, &[1, 2, 3]);
    wav_of_24_bits[34] = 24;
    for (events, expected) in [
        (block("b", "audio/mpeg", &[b"ID3"]), "`audio/mpeg`"),
        (block("b", "audio/pcm", &[&[0, 0]]), "`audio/pcm` does not tell the sample rate"),
        (block("b", "audio/wav", &[b"RIFF"]), "cut off"),
        (block("b", "audio/wav", &[b"<html>"]), "no WAV"),
        (block("b", "audio/wav", &[&wav_of_24_bits]), "24 bits"),
        ([block("b", "audio/wav", &[]), vec![url("b")]].concat(), "https://a.b/c.wav"),
    ] {
        let mut recorder = WavRecorder::new(&path);
        events.iter().for_each(|event| recorder.feed(event));
        let error = recorder.finish().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
    }
    // Nothing was said, or nothing that is audio.
    let mut recorder = WavRecorder::new(&path);
    block("b", "image/png", &[b"x"]).iter().for_each(|event| recorder.feed(event));
    assert_eq!(recorder.finish().unwrap(), None);
}

/// Answers each text with a WAV of its own, of as many samples as the text has characters.
#[derive(Debug)]
struct WavVoice;

impl TtsModel for WavVoice {
    fn name(&self) -> &str {
        "wav"
    }

    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn TtsSession>>> {
        Box::pin(async { Ok(Box::new(Self) as Box<dyn TtsSession>) })
    }
}

impl TtsSession for WavVoice {
    fn speak<'a>(&'a mut self, mut text: TtsText, audio: TtsAudio) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let text = text.next().await.unwrap_or_default();
            let samples: Vec<i16> = text.bytes().map(i16::from).collect();
            for piece in wav(22_050, 1, &samples).chunks(10) {
                audio.send(AudioChunk::new("audio/wav", piece)).await;
            }
            Ok(())
        })
    }
}

#[tokio::test]
async fn sentences_that_come_as_files_are_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reply.wav");
    let speech = TtsMiddleware::builder(WavVoice).per(Per::Sentence).build().unwrap();
    let mut agent = builder(&ScriptedModel::new(["One. Two."]))
        .middleware(RecordSpeech::to(&path))
        .middleware(speech)
        .build()
        .unwrap();
    let log = log(&mut agent).await;
    let text: Vec<i16> = "One. Two.".bytes().map(i16::from).collect();
    assert_eq!(samples(&path), (spec(22_050, 1), text));
    // Also for whoever plays the block as it is: one header.
    let data: Vec<u8> = log
        .events()
        .iter()
        .flat_map(|event| match &event.kind {
            EventKind::DataBlockDelta { delta: DataDelta::Base64(data), .. } => {
                STANDARD.decode(data).unwrap()
            }
            _ => Vec::new(),
        })
        .collect();
    assert_eq!(data.windows(4).filter(|window| *window == b"RIFF").count(), 1);
}
