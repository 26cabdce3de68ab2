//! WAV that is a stream: its header may lie about the length, and several of them may follow each other.

use cepa_models::AudioChunk;

/// What a WAV header says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Header {
    pub(crate) format: u16,
    pub(crate) channels: u16,
    pub(crate) sample_rate: u32,
    pub(crate) bits: u16,
    /// Where the samples begin.
    pub(crate) data: usize,
    /// How many bytes of samples there are; `None` for all that come.
    pub(crate) length: Option<usize>,
}

/// What the beginning of some data is.
pub(crate) enum Beginning {
    Wav(Header),
    /// It may be a header, of which more is needed.
    Undecided,
    Other,
}

/// Lengths from here on are not meant: they stand where the length was not known when the header was written.
const UNKNOWN: u32 = 0x7fff_0000;

/// Reads the header that the data begins with.
pub(crate) fn beginning(data: &[u8]) -> Beginning {
    let is = |at: usize, name: &[u8; 4]| data.iter().skip(at).zip(name).all(|(a, b)| a == b);
    if !is(0, b"RIFF") || !is(8, b"WAVE") {
        return Beginning::Other;
    }
    let (mut at, mut format) = (12, None);
    loop {
        let (Some(name), Some(length)) = (bytes::<4>(data, at), number(data, at.saturating_add(4))) else {
            return Beginning::Undecided;
        };
        let body = at + 8;
        match &name {
            b"fmt " => {
                let (Some(tag), Some(channels), Some(sample_rate), Some(bits)) =
                    (half(data, body), half(data, body + 2), number(data, body + 4), half(data, body + 14))
                else {
                    return Beginning::Undecided;
                };
                format = Some((tag, channels, sample_rate, bits));
            }
            b"data" => {
                let Some((format, channels, sample_rate, bits)) = format else { return Beginning::Other };
                return Beginning::Wav(Header {
                    format,
                    channels,
                    sample_rate,
                    bits,
                    data: body,
                    length: (1..UNKNOWN).contains(&length).then_some(length as usize),
                });
            }
            _ => {}
        }
        // Chunks are padded to an even length.
        at = body.saturating_add(length as usize).saturating_add(length as usize % 2);
    }
}

fn bytes<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..)?.first_chunk().copied()
}

fn number(data: &[u8], at: usize) -> Option<u32> {
    bytes(data, at).map(u32::from_le_bytes)
}

fn half(data: &[u8], at: usize) -> Option<u16> {
    bytes(data, at).map(u16::from_le_bytes)
}

/// Makes one WAV of several that are spoken for one text block: of one header without a length, and all samples.
#[derive(Debug, Default)]
pub(crate) struct Joiner {
    /// The block is made of several texts.
    joins: bool,
    /// A header of the block went out.
    begun: bool,
    part: Part,
}

#[derive(Debug, Default)]
enum Part {
    /// The beginning of a WAV, while its header is not whole.
    Header(Vec<u8>),
    /// So many bytes of samples to come.
    Samples(usize),
    /// Not of a kind that needs joining.
    #[default]
    Other,
}

impl Joiner {
    /// A text of the block begins; `joins` when there may be several.
    pub(crate) fn begin(&mut self, joins: bool) {
        self.joins |= joins;
        self.part = if self.joins { Part::Header(Vec::new()) } else { Part::Other };
    }

    /// What of the audio goes out; `None` for nothing.
    pub(crate) fn pass(&mut self, mut chunk: AudioChunk) -> Option<AudioChunk> {
        if let Part::Header(held) = &mut self.part {
            held.append(&mut chunk.data);
            match beginning(held) {
                Beginning::Undecided => return None,
                Beginning::Other => {
                    chunk.data = std::mem::take(held);
                    self.part = Part::Other;
                }
                Beginning::Wav(header) => {
                    let mut bytes = std::mem::take(held);
                    let samples = bytes.split_off(header.data);
                    let begins = !std::mem::replace(&mut self.begun, true);
                    chunk.data = if begins { without_length(bytes) } else { Vec::new() };
                    self.part = Part::Samples(header.length.unwrap_or(usize::MAX));
                    chunk.data.extend(self.samples(samples));
                }
            }
        } else {
            chunk.data = self.samples(chunk.data);
        }
        (!chunk.data.is_empty()).then_some(chunk)
    }

    /// Without what stands behind the samples.
    fn samples(&mut self, mut data: Vec<u8>) -> Vec<u8> {
        if let Part::Samples(left) = &mut self.part {
            data.truncate(*left);
            *left -= data.len();
        }
        data
    }
}

/// A header that says that its length is not known.
fn without_length(mut header: Vec<u8>) -> Vec<u8> {
    let end = header.len();
    for at in [4, end.saturating_sub(4)] {
        if let Some(length) = header.get_mut(at..at + 4) {
            length.fill(0xff);
        }
    }
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A WAV with so many bytes of `value` as samples; a header that says `length`, and something behind the samples.
    fn wav(value: u8, samples: usize, length: u32) -> Vec<u8> {
        let mut data = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
        data.extend(22_050_u32.to_le_bytes());
        data.extend(44_100_u32.to_le_bytes());
        data.extend([2, 0, 16, 0]);
        data.extend(b"LIST\x02\0\0\0hidata");
        data.extend(length.to_le_bytes());
        data.extend(vec![value; samples]);
        data
    }

    fn joined(joiner: &mut Joiner, data: &[u8], size: usize) -> Vec<u8> {
        let chunks = data.chunks(size).map(|bytes| AudioChunk::new("audio/wav", bytes));
        chunks.filter_map(|chunk| joiner.pass(chunk)).flat_map(|chunk| chunk.data).collect()
    }

    #[test]
    fn several_wavs_become_one() {
        for size in [1, 7, 54, 1000] {
            let mut joiner = Joiner::default();
            joiner.begin(true);
            let mut first = wav(1, 4, 4);
            first.extend(b"LIST\x04\0\0\0tail");
            let mut all = joined(&mut joiner, &first, size);
            joiner.begin(true);
            all.extend(joined(&mut joiner, &wav(2, 6, 0x7fff_f000), size));
            let Beginning::Wav(header) = beginning(&all) else { panic!("no header") };
            assert_eq!((header.sample_rate, header.bits, header.length), (22_050, 16, None));
            assert_eq!(all[header.data..], [1, 1, 1, 1, 2, 2, 2, 2, 2, 2], "{size}");
        }
    }

    #[test]
    fn one_alone_stays_as_it_is_and_so_does_anything_else() {
        let mut joiner = Joiner::default();
        let alone = wav(1, 4, 4);
        assert_eq!(joined(&mut joiner, &alone, 7), alone);
        joiner.begin(true);
        assert_eq!(joined(&mut joiner, b"RIPP", 1), b"RIPP");
        assert_eq!(joiner.pass(AudioChunk::pcm(8000, [])), None);
    }
}
