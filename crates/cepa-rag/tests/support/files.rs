//! What the tests of parsers share.
#![allow(dead_code, reason = "each test takes some of it")]

use cepa_rag::{File, Parsed, Parsers, RagError, Section};

/// A document beside the tests.
pub(crate) fn document(name: &str) -> File {
    let path = format!("{}/tests/documents/{name}", env!("CARGO_MANIFEST_DIR"));
    File::new(name, std::fs::read(path).unwrap())
}

pub(crate) fn parse(name: &str, bytes: impl Into<Vec<u8>>) -> Result<Parsed, RagError> {
    Parsers::default().parse(&File::new(name, bytes))
}

/// Why a file cannot be read; it must say which file that is.
pub(crate) fn error(name: &str, bytes: impl Into<Vec<u8>>) -> String {
    let error = parse(name, bytes).unwrap_err();
    assert!(matches!(&error, RagError::Parse { file, .. } if file == name), "{error:?}");
    error.to_string()
}

pub(crate) fn text(section: &Section) -> &str {
    section.content.as_text().unwrap()
}

/// The same bytes on every run that look like none of any format.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    })
    .flatten()
    .take(len)
    .collect()
}
