//! The header of a WAV file.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// A longer header is none.
const LONGEST: u32 = 4096;

/// Reads the header of a WAV file, up to its samples, and returns how many there are in a second. What it says of
/// lengths is not looked at: a program that writes into a pipe does not know them yet.
pub(super) async fn sample_rate(file: &mut (impl AsyncRead + Unpin)) -> io::Result<u32> {
    let mut head = [0; 12];
    file.read_exact(&mut head).await?;
    if &head[..4] != b"RIFF" || &head[8..] != b"WAVE" {
        return Err(wrong("it gives no WAV"));
    }
    let mut rate = None;
    loop {
        let (mut name, mut length) = ([0; 4], [0; 4]);
        file.read_exact(&mut name).await?;
        file.read_exact(&mut length).await?;
        let length = u32::from_le_bytes(length);
        if &name == b"data" {
            return rate.ok_or_else(|| wrong("its WAV has no format"));
        }
        if length > LONGEST {
            return Err(wrong("its WAV has a header that is too long"));
        }
        let mut chunk = vec![0; length as usize + length as usize % 2];
        file.read_exact(&mut chunk).await?;
        if &name == b"fmt " {
            rate =
                Some(mono_16_bits(&chunk).ok_or_else(|| wrong("its WAV is not of one channel of 16 bits"))?);
        }
    }
}

/// The sample rate of a format chunk, if it is PCM of one channel and 16 bits.
fn mono_16_bits(format: &[u8]) -> Option<u32> {
    let bits = format.get(14..16)?;
    (format[..4] == [1, 0, 1, 0] && bits == [16, 0])
        .then(|| u32::from_le_bytes([format[4], format[5], format[6], format[7]]))
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wav(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut file = b"RIFF\xff\xff\xff\xffWAVE".to_vec();
        for (name, data) in chunks {
            file.extend_from_slice(*name);
            file.extend_from_slice(&(data.len() as u32).to_le_bytes());
            file.extend_from_slice(data);
        }
        file
    }

    const FORMAT: &[u8] = &[1, 0, 1, 0, 0x22, 0x56, 0, 0, 0x44, 0xac, 0, 0, 2, 0, 16, 0];
    const STEREO: &[u8] = &[1, 0, 2, 0, 0x22, 0x56, 0, 0, 0x44, 0xac, 0, 0, 2, 0, 16, 0];

    #[tokio::test]
    async fn the_samples_begin_after_the_header() {
        let file = wav(&[(b"LIST", &[0, 1, 2, 3]), (b"fmt ", FORMAT), (b"data", &[7, 7])]);
        let mut rest = file.as_slice();
        assert_eq!(sample_rate(&mut rest).await.unwrap(), 22_050);
        assert_eq!(rest, [7, 7]);
    }

    #[tokio::test]
    async fn what_is_no_such_file_is_an_error() {
        let cases = [
            (b"this is text, not audio".to_vec(), "no WAV"),
            (wav(&[(b"data", &[])]), "no format"),
            (wav(&[(b"fmt ", STEREO)]), "one channel"),
            (wav(&[(b"fmt ", &[1, 0])]), "one channel"),
            (wav(&[(b"LIST", &[0; 5000])]), "too long"),
            (wav(&[(b"fmt ", FORMAT)]), "eof"),
        ];
        for (file, words) in cases {
            let error = sample_rate(&mut file.as_slice()).await.unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
