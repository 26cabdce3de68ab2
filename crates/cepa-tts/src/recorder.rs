//! Writing the audio of a reply to a WAV file.

mod error;
mod layer;
mod samples;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use cepa_core::{AgentEvent, DataDelta, EventKind, Id};
use hound::{SampleFormat, WavSpec, WavWriter};

use self::samples::Samples;
pub use self::{error::RecordError, layer::RecordSpeech};

/// Writes what a reply says to a WAV file: shown the reply's events, it keeps the audio, and writes the file when it is
/// told that the reply is over.
///
/// The audio may be PCM of 16 bits (`audio/pcm;rate=24000`, with `;channels=2` where there are two) or WAV of 16 bits. A
/// file that was there before is replaced at once, when the new one is whole, and keeps its permissions. What cannot be
/// written is left out, and the [`Recording`] says so.
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
    /// What is in the file stays at its beginning.
    goes_on: bool,
    /// The audio blocks, in the order in which they began.
    blocks: Vec<Block>,
    failures: Vec<RecordError>,
}

#[derive(Debug)]
struct Block {
    id: Id,
    media_type: String,
    data: Vec<u8>,
    /// A piece was no data: no more of it is taken.
    broken: bool,
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
    /// What was said and is not in the file, and why. Empty as a rule.
    pub left_out: Vec<String>,
}

impl WavRecorder {
    /// A recorder for a file in a folder that exists.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), goes_on: false, blocks: Vec::new(), failures: Vec::new() }
    }

    /// A recorder that goes on with the WAV file that is there, if one is: for a reply that went on after a pause, which
    /// takes several calls. All that is said must have the format of that file.
    pub fn going_on(path: impl Into<PathBuf>) -> Self {
        Self { goes_on: true, ..Self::new(path) }
    }

    /// Takes what the event has of audio. Other events, and data that is no audio, are passed over.
    pub fn feed(&mut self, event: &AgentEvent) {
        match &event.kind {
            EventKind::DataBlockStart { block_id, media_type, .. } if is_audio(media_type) => {
                let (id, media_type) = (block_id.clone(), media_type.to_string());
                self.blocks.push(Block { id, media_type, data: Vec::new(), broken: false });
            }
            EventKind::DataBlockDelta { block_id, delta, .. } => {
                let block = self.blocks.iter_mut().find(|block| block.id == *block_id);
                let Some(block) = block.filter(|block| !block.broken) else { return };
                let added = match delta {
                    DataDelta::Base64(data) => {
                        STANDARD.decode(data).map(|data| block.data.extend(data)).map_err(RecordError::Base64)
                    }
                    DataDelta::Url(url) => Err(RecordError::Elsewhere { url: url.clone() }),
                };
                if let Err(failure) = added {
                    // What comes after the gap is not where it belongs.
                    block.broken = true;
                    self.failures.push(failure);
                }
            }
            _ => {}
        }
    }

    /// Writes the file. `None` where there was no audio: then no file is written.
    ///
    /// # Errors
    /// Audio of which nothing can be written: of a media type that is not known here, of another format than the file
    /// that it goes on with, or broken; a file that cannot be read or written.
    pub fn finish(self) -> Result<Option<Recording>, RecordError> {
        let Self { path, goes_on, blocks, mut failures } = self;
        let mut whole = if goes_on { read(&path)? } else { None };
        let before = whole.as_ref().map_or(0, |samples| samples.data.len());
        for block in blocks {
            let added = samples::read(&block.media_type, &block.data).and_then(|all| {
                let mut all = all.into_iter().filter(|samples| !samples.data.is_empty());
                all.try_for_each(|samples| match &mut whole {
                    Some(whole) => whole.append(samples),
                    None => {
                        whole = Some(samples);
                        Ok(())
                    }
                })
            });
            failures.extend(added.err());
        }
        let Some(samples) = whole.filter(|samples| samples.data.len() > before) else {
            return failures.into_iter().next().map_or(Ok(None), Err);
        };
        write(&path, &samples).map_err(|source| RecordError::Write { path: path.clone(), source })?;
        let (length, Samples { sample_rate, channels, .. }) = (samples.length(), samples);
        let left_out = failures.iter().map(ToString::to_string).collect();
        Ok(Some(Recording { path, length, sample_rate, channels, left_out }))
    }
}

/// What is in the file; `None` where it is not there.
fn read(path: &Path) -> Result<Option<Samples>, RecordError> {
    let wrong = |source| RecordError::GoOn { path: path.to_owned(), source };
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(error.into())),
    };
    let samples = samples::read("audio/wav", &bytes).map_err(|error| wrong(error.into()))?;
    Ok(samples.into_iter().next())
}

fn is_audio(media_type: &str) -> bool {
    media_type.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("audio/"))
}

/// Writes a file in place of another one at once.
fn write(path: &Path, samples: &Samples) -> Result<(), hound::Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let replaced = fs::metadata(path).ok();
    let mut builder = tempfile::Builder::new();
    // As for any file, not as for a temporary one: less what the program's umask takes away.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    let Samples { channels, sample_rate, .. } = *samples;
    let spec = WavSpec { channels, sample_rate, bits_per_sample: 16, sample_format: SampleFormat::Int };
    let mut writer = WavWriter::new(io::BufWriter::new(&mut file), spec)?;
    for sample in &samples.data {
        writer.write_sample(*sample)?;
    }
    writer.finalize()?;
    if let Some(replaced) = replaced {
        file.as_file().set_permissions(replaced.permissions())?;
    }
    file.persist(path).map_err(io::Error::from)?;
    Ok(())
}
