//! Memory in files, in a folder of the case's own.

use std::{collections::BTreeMap, fs, io, path::Path, sync::Arc};

use cepa_memory::AgenticMemoryMiddleware;
use serde_json::{Map, Value};

use super::{super::options::Options, BuiltinLayer};
use crate::{case::LayerSpec, error::RunError, world::World};

pub(super) fn build(spec: &LayerSpec, world: &World) -> Result<Box<dyn BuiltinLayer>, RunError> {
    let options = Options::new(spec);
    let folder = world.workdir.path().map_err(RunError::layer(spec))?.join("Memory");
    let files: BTreeMap<String, String> = options.or_default("files")?;
    put(&folder, &files).map_err(RunError::layer(spec))?;

    let parameters = LayerSpec {
        kind: spec.kind.clone(),
        label: spec.label.clone(),
        options: options.or_default::<Map<String, Value>>("parameters")?,
    };
    let parameters = Options::new(&parameters);
    let mut builder = AgenticMemoryMiddleware::builder(folder);
    if let Some(tokens) = parameters.get("memory_max_tokens")? {
        builder = builder.memory_max_tokens(tokens);
    }
    if let Some(text) = parameters.get::<String>("memory_instructions")? {
        builder = builder.memory_instructions(text);
    }
    if let Some(retrieval) = parameters.get("retrieval_async")? {
        builder = builder.retrieval(retrieval);
    }
    if let Some(label) = parameters.get::<String>("retrieval_model")? {
        builder = builder.retrieval_model(world.model(&label)?);
    }
    if let Some(text) = parameters.get::<String>("retrieval_instructions")? {
        builder = builder.retrieval_instructions(text);
    }
    if let Some(files) = parameters.get("retrieval_max_files")? {
        builder = builder.retrieval_max_files(files);
    }
    if let Some(tokens) = parameters.get("retrieval_max_tokens_per_md")? {
        builder = builder.retrieval_max_tokens_per_md(tokens);
    }
    if let Some(tokens) = parameters.get("retrieval_max_tokens_per_frontmatter")? {
        builder = builder.retrieval_max_tokens_per_frontmatter(tokens);
    }
    Ok(Box::new(Arc::new(builder.build().map_err(RunError::layer(spec))?)))
}

/// Puts the files of the case there; those that are there already stay, as a reloaded agent finds what the first one left.
fn put(folder: &Path, files: &BTreeMap<String, String>) -> io::Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        if !path.exists() {
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(path, text)?;
        }
    }
    Ok(())
}
