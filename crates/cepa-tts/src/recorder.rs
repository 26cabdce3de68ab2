//! Writing the audio of a reply to a WAV file.

mod error;
mod layer;
mod samples;

use std::path::{Path, PathBuf};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use cepa_core::{AgentEvent, DataDelta, EventKind, Id};
use hound::{SampleFormat, WavSpec, WavWriter};
use tempfile::NamedTempFile;

use self::samples::Samples;
pub use self::{error::RecordError, layer::RecordSpeech};

/// Writes what a reply says to a WAV file: shown the reply's events, it keeps the audio, and writes the file when it is
/// told that the reply is over.
///
/// The audio may be PCM of 16 bits (`audio/pcm;rate=24000`, with `;channels=2` where there are two) or WAV of 16 bits. A
/// file that was there before is replaced at once, when the new one is whole.
///
/// ```
/// use cepa_core::{AgentEvent, DataDelta, EventKind};
/// use cepa_tts::WavRecorder;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?; let path = folder.path().join("reply.wav");
/// let mut recorder = WavRecorder::new(path);
/// // while let Some(event) = stream.next().await { recorder.feed(&event); }
/// # let media_type: std::sync::Arc<str> = "audio/pcm;rate=8000".into();
/// # for kind in [
/// #     EventKind::DataBlockStart { reply_id: "r".into(), block_id: "b".into(), media_type: media_type.clone(), name: None },
/// #     EventKind::DataBlockDelta { reply_id: "r".into(), block_id: "b".into(), media_type, delta: DataDelta::Base64("AAEAAQ==".into()) },
/// # ] { recorder.feed(&AgentEvent::new(kind)); }
/// match recorder.finish()? {
///     Some(recording) => println!("{:?} in {}", recording.length, recording.path.display()),
///     None => println!("nothing was said"),
/// }
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct WavRecorder {
    path: PathBuf,
    /// The audio blocks, in the order in which they began.
    blocks: Vec<Block>,
    failure: Option<RecordError>,
}

#[derive(Debug)]
struct Block {
    id: Id,
    media_type: String,
    data: Vec<u8>,
}

/// A file with what a reply said.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Recording {
    /// The file.
    pub path: PathBuf,
    /// How long it plays.
    pub length: std::time::Duration,
    /// Samples in a second.
    pub sample_rate: u32,
    /// Samples at a time.
    pub channels: u16,
}

impl WavRecorder {
    /// A recorder for a file in a folder that exists.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), blocks: Vec::new(), failure: None }
    }

    /// Takes what the event has of audio. Other events, and data that is no audio, are passed over.
    pub fn feed(&mut self, event: &AgentEvent) {
        match &event.kind {
            EventKind::DataBlockStart { block_id, media_type, .. } if is_audio(media_type) => {
                let (id, media_type) = (block_id.clone(), media_type.to_string());
                self.blocks.push(Block { id, media_type, data: Vec::new() });
            }
            EventKind::DataBlockDelta { block_id, delta, .. } => {
                let Some(block) = self.blocks.iter_mut().find(|block| block.id == *block_id) else { return };
                let added = match delta {
                    DataDelta::Base64(data) => {
                        STANDARD.decode_vec(data, &mut block.data).map_err(RecordError::Base64)
                    }
                    DataDelta::Url(url) => Err(RecordError::Elsewhere { url: url.clone() }),
                };
                if let Err(failure) = added {
                    self.failure.get_or_insert(failure);
                }
            }
            _ => {}
        }
    }

    /// Writes the file. `None` where there was no audio: then no file is written.
    ///
    /// # Errors
    /// Audio of a media type that is not known here, or of several formats in one reply; data that is broken; a file that
    /// cannot be written.
    pub fn finish(self) -> Result<Option<Recording>, RecordError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let mut whole: Option<Samples> = None;
        for block in &self.blocks {
            for samples in samples::read(&block.media_type, &block.data)? {
                match &mut whole {
                    Some(whole) => whole.append(samples)?,
                    None => whole = Some(samples),
                }
            }
        }
        let Some(samples) = whole else { return Ok(None) };
        write(&self.path, &samples)
            .map_err(|source| RecordError::Write { path: self.path.clone(), source })?;
        let Samples { sample_rate, channels, .. } = samples;
        Ok(Some(Recording { path: self.path, length: samples.length(), sample_rate, channels }))
    }
}

fn is_audio(media_type: &str) -> bool {
    media_type.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("audio/"))
}

/// Writes a file in place of another one at once.
fn write(path: &Path, samples: &Samples) -> Result<(), hound::Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(folder)?;
    let Samples { channels, sample_rate, .. } = *samples;
    let spec = WavSpec { channels, sample_rate, bits_per_sample: 16, sample_format: SampleFormat::Int };
    let mut writer = WavWriter::new(std::io::BufWriter::new(&mut file), spec)?;
    for sample in &samples.data {
        writer.write_sample(*sample)?;
    }
    writer.finalize()?;
    file.persist(path).map_err(std::io::Error::from)?;
    Ok(())
}
