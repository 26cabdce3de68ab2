//! [`ImageParser`].

use base64::{Engine, prelude::BASE64_STANDARD};
use cepa_core::{DataBlock, Source};

use crate::{File, Parsed, Parser, RagError, Section};

/// Takes pictures as they are, for models that can embed them. What they are is read from their first bytes: the name
/// may be wrong.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImageParser;

impl Parser for ImageParser {
    fn extensions(&self) -> &[&str] {
        &["png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff"]
    }

    fn parse(&self, file: &File) -> Result<Parsed, RagError> {
        let media_type = match file.bytes.as_slice() {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => "image/png",
            [0xFF, 0xD8, 0xFF, ..] => "image/jpeg",
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => "image/gif",
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
            [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => "image/bmp",
            [b'I', b'I', b'*', 0, ..] | [b'M', b'M', 0, b'*', ..] => "image/tiff",
            _ => {
                return Err(RagError::parse(
                    &*file.name,
                    "it does not begin as a PNG, JPEG, GIF, WebP, BMP or TIFF picture",
                ));
            }
        };
        let source = Source::base64(BASE64_STANDARD.encode(&file.bytes), media_type);
        let name = file.name.rsplit('/').next().unwrap_or_default();
        Ok(vec![Section::new(file.name.as_str(), DataBlock::new(source).with_name(name))].into())
    }
}
