//! What a case says of a layer.

use cepa_core::HookSet;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{case::LayerSpec, error::RunError};

/// The options of a layer, each read when it is asked for.
pub(super) struct Options<'a>(&'a LayerSpec);

impl<'a> Options<'a> {
    pub(super) fn new(spec: &'a LayerSpec) -> Self {
        Self(spec)
    }

    /// The option as it is; `None` if it is not set.
    pub(super) fn raw(&self, key: &str) -> Option<&'a Value> {
        self.0.options.get(key).filter(|value| !value.is_null())
    }

    /// The option, read; `None` if it is not set.
    pub(super) fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, RunError> {
        let Some(value) = self.raw(key) else { return Ok(None) };
        let what = format!("`{key}` of layer {} ({})", self.0.label, self.0.kind);
        T::deserialize(value).map(Some).map_err(RunError::malformed(what))
    }

    /// The option, or what it is by default.
    pub(super) fn or_default<T: DeserializeOwned + Default>(&self, key: &str) -> Result<T, RunError> {
        Ok(self.get(key)?.unwrap_or_default())
    }

    /// The hooks that the layer is on.
    pub(super) fn hooks(&self) -> Result<HookSet, RunError> {
        let mut names: Vec<String> = self.or_default("hooks")?;
        names.extend(self.get::<String>("hook")?);
        names.iter().try_fold(HookSet::NONE, |hooks, name| match hook(name) {
            Some(hook) => Ok(hooks | hook),
            None => Err(RunError::not_supported(format!("hook {name}"))),
        })
    }
}

fn hook(name: &str) -> Option<HookSet> {
    Some(match name {
        "on_reply" => HookSet::REPLY,
        "on_reasoning" => HookSet::REASONING,
        "on_model_call" => HookSet::MODEL_CALL,
        "on_check_permission" => HookSet::CHECK_PERMISSION,
        "on_acting" => HookSet::ACTING,
        "on_compress_context" => HookSet::COMPRESS_CONTEXT,
        "on_system_prompt" => HookSet::SYSTEM_PROMPT,
        _ => return None,
    })
}
