//! Samples out of audio.

use std::{fmt, time::Duration};

use super::RecordError;
use crate::wav::{Beginning, Header, beginning};

/// Samples of 16 bits.
#[derive(Debug, PartialEq)]
pub(super) struct Samples {
    pub(super) sample_rate: u32,
    pub(super) channels: u16,
    pub(super) data: Vec<i16>,
}

impl Samples {
    fn of(sample_rate: u32, channels: u16, data: &[u8]) -> Self {
        // The last ones may be cut off.
        let frames = data.chunks_exact(2 * usize::from(channels.max(1)));
        let data = frames
            .flat_map(|frame| frame.chunks_exact(2))
            .map(|pair| i16::from_le_bytes([pair[0], pair[1]]))
            .collect();
        Self { sample_rate, channels, data }
    }

    pub(super) fn append(&mut self, mut more: Self) -> Result<(), RecordError> {
        if (self.sample_rate, self.channels) != (more.sample_rate, more.channels) {
            return Err(RecordError::Formats { first: self.to_string(), then: more.to_string() });
        }
        self.data.append(&mut more.data);
        Ok(())
    }

    pub(super) fn length(&self) -> Duration {
        let frames = (self.data.len() / usize::from(self.channels.max(1))) as u64;
        Duration::from_nanos(frames * 1_000_000_000 / u64::from(self.sample_rate.max(1)))
    }
}

impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Hz on {} channel(s)", self.sample_rate, self.channels)
    }
}

/// The samples of one audio block; several where it has several WAVs.
pub(super) fn read(media_type: &str, data: &[u8]) -> Result<Vec<Samples>, RecordError> {
    let mut parts = media_type.split(';').map(str::trim);
    match parts.next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "audio/pcm" => {
            let number = |name: &str| {
                let mut values = parts.clone().filter_map(|part| part.split_once('='));
                let (_, value) = values.find(|(key, _)| key.trim().eq_ignore_ascii_case(name))?;
                value.trim().trim_matches('"').parse::<u32>().ok().filter(|number| *number > 0)
            };
            let rate = number("rate")
                .ok_or_else(|| RecordError::NoSampleRate { media_type: media_type.to_owned() })?;
            let channels = number("channels").and_then(|channels| u16::try_from(channels).ok()).unwrap_or(1);
            Ok(vec![Samples::of(rate, channels, data)])
        }
        "audio/wav" | "audio/wave" | "audio/x-wav" | "audio/vnd.wave" => wavs(data),
        _ => Err(RecordError::MediaType { media_type: media_type.to_owned() }),
    }
}

fn wavs(mut data: &[u8]) -> Result<Vec<Samples>, RecordError> {
    let mut all = Vec::new();
    while !data.is_empty() {
        match beginning(data) {
            Beginning::Wav(header) => {
                let (samples, rest) = samples(&header, data)?;
                all.push(samples);
                data = rest;
            }
            // What stands behind the samples of a file is not of them.
            _ if !all.is_empty() => break,
            Beginning::Undecided => return Err(RecordError::Wav { what: "WAV that is cut off".to_owned() }),
            Beginning::Other => return Err(RecordError::Wav { what: "no WAV".to_owned() }),
        }
    }
    Ok(all)
}

/// The samples of the WAV that the data begins with, and what follows it.
fn samples<'a>(header: &Header, data: &'a [u8]) -> Result<(Samples, &'a [u8]), RecordError> {
    // 0xfffe says that the format is told elsewhere in the header; of 16 bits it is integers.
    if !matches!(header.format, 1 | 0xfffe) || header.bits != 16 || header.channels == 0 {
        let what = format!(
            "WAV of format {} with {} bits on {} channel(s)",
            header.format, header.bits, header.channels
        );
        return Err(RecordError::Wav { what });
    }
    let data = data.get(header.data..).unwrap_or_default();
    let (samples, rest) = data.split_at(header.length.unwrap_or(usize::MAX).min(data.len()));
    Ok((Samples::of(header.sample_rate, header.channels, samples), rest))
}
