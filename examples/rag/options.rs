//! What is read on the command line.

use std::path::PathBuf;

const USAGE: &str = "usage: rag [FOLDER QUESTION] [--store embedded|qdrant|chroma|pgvector] [--url URL] \
     [--embedding none|minilm|openai] [--model NAME] [--index FOLDER] [--static]";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Embedded,
    Qdrant,
    Chroma,
    PgVector,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Embedding {
    None,
    MiniLm,
    OpenAi,
}

pub(crate) struct Options {
    pub(crate) folder: PathBuf,
    pub(crate) question: String,
    pub(crate) store: Store,
    pub(crate) url: Option<String>,
    pub(crate) embedding: Embedding,
    /// A language model over the API of `OPENAI_BASE_URL`.
    pub(crate) model: Option<String>,
    /// Where the embedded store and what was embedded are kept.
    pub(crate) index: PathBuf,
    /// Whether the layer searches, rather than the model.
    pub(crate) is_static: bool,
}

impl Options {
    pub(crate) fn of_command_line() -> Result<Self, String> {
        let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut options = Self {
            folder: repository.join("docs"),
            question: "How do items pass a layer?".to_owned(),
            store: Store::Embedded,
            url: None,
            embedding: Embedding::None,
            model: None,
            index: repository.join("target/rag-example"),
            is_static: false,
        };
        let mut words = Vec::new();
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value\n{USAGE}"));
            match argument.as_str() {
                "--store" => {
                    options.store = match value()?.as_str() {
                        "embedded" => Store::Embedded,
                        "qdrant" => Store::Qdrant,
                        "chroma" => Store::Chroma,
                        "pgvector" => Store::PgVector,
                        other => return Err(format!("there is no store `{other}`\n{USAGE}")),
                    };
                }
                "--embedding" => {
                    options.embedding = match value()?.as_str() {
                        "none" => Embedding::None,
                        "minilm" => Embedding::MiniLm,
                        "openai" => Embedding::OpenAi,
                        other => return Err(format!("there is no embedding `{other}`\n{USAGE}")),
                    };
                }
                "--url" => options.url = Some(value()?),
                "--model" => options.model = Some(value()?),
                "--index" => options.index = value()?.into(),
                "--static" => options.is_static = true,
                _ if argument.starts_with("--") => return Err(USAGE.to_owned()),
                _ => words.push(argument),
            }
        }
        match &words[..] {
            [] => {}
            [folder, question @ ..] if !question.is_empty() => {
                (options.folder, options.question) = (folder.into(), question.join(" "));
            }
            _ => return Err(USAGE.to_owned()),
        }
        Ok(options)
    }
}
