//! From a file to its chunks, unless they are there already. All of it is work of a thread.

use std::sync::Arc;

use cepa_core::OutputBlock;

use super::{Inner, folder::Source, version::Fingerprint};
use crate::{Chunk, DocumentSummary, File, RagError, metadata::not_finite};

/// What is to be done for a file.
#[derive(Debug)]
pub(super) enum Work {
    /// It is there, whole, and in no other version.
    Nothing,
    /// It is there, and other versions are left over.
    DeleteOthers { version: String },
    /// It is to be kept.
    Keep { version: String, chunks: Vec<Chunk>, problems: Vec<RagError> },
}

/// Reads, and cuts if it has changed.
pub(super) async fn prepare(
    inner: &Arc<Inner>,
    fingerprint: &Fingerprint,
    source: Source,
    known: Vec<DocumentSummary>,
) -> Result<Work, RagError> {
    let (inner, fingerprint, name) = (inner.clone(), fingerprint.clone(), source.name().to_owned());
    let limit = inner.limits.timeout;
    let work = tokio::task::spawn_blocking(move || {
        if !inner.parsers.supports(source.name()) {
            // It says why not, and the file need not be read for that.
            inner.parsers.parse(&File::new(source.name(), Vec::new()))?;
        }
        let file = source.read(inner.limits.max_file_bytes)?;
        let version = fingerprint.file(&file.name, &file.bytes);
        let is_there = |summary: &DocumentSummary| summary.version == version && summary.is_whole();
        match known.iter().any(is_there) {
            true if known.len() == 1 => Ok(Work::Nothing),
            true => Ok(Work::DeleteOthers { version }),
            false => cut(&inner, &file).map(|(chunks, problems)| Work::Keep { version, chunks, problems }),
        }
    });
    match tokio::time::timeout(limit, work).await {
        Ok(Ok(work)) => work,
        // A parser that panics loses its file and nothing else.
        Ok(Err(error)) => Err(RagError::parse(name, format!("what reads it failed ({error})"))),
        // Nothing can stop its thread.
        Err(_) => {
            let reason = format!("it took longer than {limit:?}, the `timeout` of its knowledge base");
            Err(RagError::parse(name, reason))
        }
    }
}

fn cut(inner: &Inner, file: &File) -> Result<(Vec<Chunk>, Vec<RagError>), RagError> {
    let parsed = inner.parsers.parse(file)?;
    let mut sections = parsed.sections;
    // Only texts are embedded, and only words are found without a model.
    sections.retain(
        |section| matches!(&section.content, OutputBlock::Text(text) if !text.text.trim().is_empty()),
    );
    let chunks = if sections.is_empty() { Vec::new() } else { inner.chunker.chunk(sections) };
    // What a store refuses would end the run, and this is about one file.
    if let Some((field, value)) = chunks.iter().find_map(|chunk| not_finite(&chunk.metadata)) {
        return Err(RagError::parse(
            file.name.as_str(),
            format!("its `{field}` is {value}, no finite number"),
        ));
    }
    Ok((chunks, parsed.problems))
}
