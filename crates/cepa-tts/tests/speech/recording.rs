//! The audio of a reply as a file.

use std::{fs, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use cepa_core::{
    AgentEvent, BoxFuture, DataDelta, EventKind, Result,
    serde_json::json,
    testing::{Answer, Logged, ScriptedModel, ScriptedTool},
};
use cepa_models::{AudioChunk, TtsAudio, TtsModel, TtsSession, TtsText};
use cepa_tts::{Per, RecordSpeech, TtsMiddleware, WavRecorder};
use hound::{SampleFormat, WavReader, WavSpec, WavWriter};

use crate::{
    support::{builder, log},
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
    let pcm = |id, rate| block(id, &format!("audio/pcm;rate={rate}"), &[&[0, 0]]);
    let mut wav_of_24_bits = wav(8_000, 1, &[1, 2, 3]);
    wav_of_24_bits[34] = 24;
    for (events, expected) in [
        (block("b", "audio/mpeg", &[b"ID3"]), "`audio/mpeg`"),
        (block("b", "audio/pcm", &[&[0, 0]]), "`audio/pcm` does not tell the sample rate"),
        (block("b", "audio/wav", &[b"RIFF"]), "cut off"),
        (block("b", "audio/wav", &[b"<html>"]), "no WAV"),
        (block("b", "audio/wav", &[&wav_of_24_bits]), "24 bits"),
        ([pcm("a", 8_000), pcm("b", 16_000)].concat(), "8000 Hz on 1 channel(s) and then 16000 Hz"),
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
