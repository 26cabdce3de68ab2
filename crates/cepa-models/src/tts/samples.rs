//! Bytes of audio, cut so that each piece can be played.

use std::sync::Arc;

use super::AudioChunk;

/// Makes pieces of audio out of bytes that come in pieces of their own.
pub(crate) struct Cutter {
    media_type: Arc<str>,
    /// Whether the bytes are samples of 16 bits.
    samples: bool,
    /// The first half of a sample whose second half has not come.
    half: Option<u8>,
}

impl Cutter {
    /// For PCM: no piece ends within a sample.
    pub(crate) fn pcm(sample_rate: u32) -> Self {
        let media_type = AudioChunk::pcm(sample_rate, []).media_type;
        Self { media_type, samples: true, half: None }
    }

    /// For a format that may be cut anywhere.
    #[cfg(feature = "openai")]
    pub(crate) fn anywhere(media_type: &'static str) -> Self {
        Self { media_type: media_type.into(), samples: false, half: None }
    }

    /// The next piece, if the bytes make one.
    pub(crate) fn next(&mut self, bytes: &[u8]) -> Option<AudioChunk> {
        let mut data = Vec::with_capacity(bytes.len() + 1);
        data.extend(self.half.take());
        data.extend_from_slice(bytes);
        if self.samples && data.len() % 2 == 1 {
            self.half = data.pop();
        }
        (!data.is_empty()).then(|| AudioChunk::new(self.media_type.clone(), data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sample_is_cut_and_no_byte_is_lost() {
        let mut cutter = Cutter::pcm(8_000);
        let pieces: Vec<_> =
            [&[1u8][..], &[], &[2, 3], &[4, 5, 6, 7], &[8]].map(|bytes| cutter.next(bytes)).into();
        let data: Vec<_> = pieces.iter().flatten().map(|chunk| chunk.data.as_slice()).collect();
        assert_eq!(data, [&[1u8, 2][..], &[3, 4, 5, 6], &[7, 8]]);
        assert_eq!(&*pieces[2].as_ref().unwrap().media_type, "audio/pcm;rate=8000");
    }
}
