//! Settings of an agent, from the JSON of AgentScope.

use cepa_core::{ContextConfig, InjectionConfig, ReactConfig};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::RunError;

type Settings = Map<String, Value>;

/// Sets the named fields of a configuration; any other setting is not supported.
macro_rules! set {
    ($config:ident, $settings:ident, $($field:ident)*) => {
        for (key, value) in $settings.iter().filter(|(_, value)| is_set(value)) {
            match key.as_str() {
                $(stringify!($field) => $config.$field = read(key, value)?,)*
                _ => return Err(RunError::not_supported(format!("setting `{key}`"))),
            }
        }
    };
}

/// A text that is a tag stands for the library's own.
fn is_set(value: &Value) -> bool {
    !value.is_null() && !value.as_str().is_some_and(|text| text.starts_with("<<"))
}

fn read<T: DeserializeOwned>(key: &str, value: &Value) -> Result<T, RunError> {
    T::deserialize(value).map_err(RunError::malformed(format!("setting `{key}`")))
}

pub(super) fn react(settings: &Settings) -> Result<ReactConfig, RunError> {
    let mut config = ReactConfig::default();
    set!(config, settings, max_iters structured_output_grace_iters stop_on_reject interruption_message
        interruption_raise_cancelled_error);
    Ok(config)
}

pub(super) fn context(settings: &Settings) -> Result<ContextConfig, RunError> {
    let mut config = ContextConfig::default();
    set!(config, settings, trigger_ratio reserve_ratio context_buffer_ratio compression_prompt summary_template
        summary_schema tool_result_limit compression_fallback_to_truncation compression_tool_enabled max_image_num);
    Ok(config)
}

/// The runtime state is not injected unless the case says so.
pub(super) fn injection(settings: &Settings) -> Result<InjectionConfig, RunError> {
    let mut config = InjectionConfig::default();
    config.inject_runtime_state = false;
    set!(config, settings, inject_runtime_state timezone time_format time_interval tool_retries_limit
        tool_retries_hint template injection_source task_tool_names extra_fields emit_hint_event);
    Ok(config)
}
