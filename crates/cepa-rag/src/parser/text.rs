//! Parsers of files that are text: [`TextParser`], [`MarkdownParser`], [`CodeParser`].

use cepa_core::TextBlock;

use crate::{File, Parsed, Parser, Position, RagError, Section, SectionKind};

/// Reads plain text: UTF-8, or UTF-16 with a byte order mark.
///
/// Text in another encoding is refused with the line where that shows, and so is what is no text at all: no file is
/// indexed as something else than it says.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextParser;

/// Reads Markdown; chunks of it know the headings above them. Encodings are those of [`TextParser`].
#[derive(Clone, Copy, Debug, Default)]
pub struct MarkdownParser;

/// Reads the source code of programs and settings, by the endings of common languages. Encodings are those of
/// [`TextParser`].
#[derive(Clone, Copy, Debug, Default)]
pub struct CodeParser;

impl Parser for TextParser {
    fn extensions(&self) -> &[&str] {
        &["txt", "text", "log", "rst", "adoc", "asciidoc", "org", "tex"]
    }

    fn parse(&self, file: &File) -> Result<Parsed, RagError> {
        Ok(parsed(file, decoded(file)?, SectionKind::Prose))
    }
}

impl Parser for MarkdownParser {
    fn extensions(&self) -> &[&str] {
        &["md", "markdown", "mdx", "mkd"]
    }

    fn parse(&self, file: &File) -> Result<Parsed, RagError> {
        Ok(parsed(file, decoded(file)?, SectionKind::Markdown))
    }
}

impl Parser for CodeParser {
    fn extensions(&self) -> &[&str] {
        &[
            "bash", "c", "cc", "clj", "cpp", "cs", "css", "cxx", "dart", "el", "erl", "ex", "exs", "fs",
            "go", "gradle", "graphql", "groovy", "h", "hh", "hpp", "hs", "ini", "java", "jl", "js", "json",
            "json5", "jsonl", "jsx", "kt", "kts", "lisp", "lua", "m", "ml", "mli", "mm", "nim", "php", "pl",
            "pm", "proto", "ps1", "py", "pyi", "r", "rb", "rs", "scala", "scm", "scss", "sh", "sql",
            "svelte", "swift", "tf", "toml", "ts", "tsx", "vb", "vue", "xml", "yaml", "yml", "zig", "zsh",
        ]
    }

    fn parse(&self, file: &File) -> Result<Parsed, RagError> {
        Ok(parsed(file, decoded(file)?, SectionKind::Code(file.extension())))
    }
}

/// The whole text of a file as its only section.
pub(super) fn parsed(file: &File, text: String, kind: SectionKind) -> Parsed {
    if text.trim().is_empty() {
        return Parsed::default();
    }
    let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    let section = Section::new(file.name.as_str(), TextBlock::new(text)).with_kind(kind);
    vec![section.with_position(Position::new().with_lines(1, lines))].into()
}

/// The text of a file, without its byte order mark.
pub(super) fn decoded(file: &File) -> Result<String, RagError> {
    let text = match file.bytes.as_slice() {
        [0xFF, 0xFE, bytes @ ..] => utf16(file, bytes, u16::from_le_bytes)?,
        [0xFE, 0xFF, bytes @ ..] => utf16(file, bytes, u16::from_be_bytes)?,
        [0xEF, 0xBB, 0xBF, bytes @ ..] | bytes => utf8(file, bytes)?.to_owned(),
    };
    match text.contains('\0') {
        true => Err(no_text(file)),
        false => Ok(text),
    }
}

fn utf8<'a>(file: &File, bytes: &'a [u8]) -> Result<&'a str, RagError> {
    std::str::from_utf8(bytes).map_err(|error| {
        if bytes.contains(&0) {
            return no_text(file);
        }
        let line = memchr::memchr_iter(b'\n', &bytes[..error.valid_up_to()]).count() + 1;
        RagError::Parse {
            file: file.name.clone(),
            place: Some(format!("line {line}")),
            reason: "it is not text in UTF-8; save the file in UTF-8, if it is text".into(),
        }
    })
}

fn utf16(file: &File, bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, RagError> {
    let (units, rest) = bytes.as_chunks::<2>();
    let text: Result<String, _> = char::decode_utf16(units.iter().map(|bytes| unit(*bytes))).collect();
    match text {
        Ok(text) if rest.is_empty() => Ok(text),
        _ => Err(RagError::parse(&*file.name, "it begins as text in UTF-16 and goes on as something else")),
    }
}

fn no_text(file: &File) -> RagError {
    RagError::parse(&*file.name, "it is no text: there are zero bytes in it")
}
