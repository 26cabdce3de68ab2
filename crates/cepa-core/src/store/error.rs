//! [`StoreError`].

/// A value of the store that cannot be used. It is never replaced by another one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The saved value is not what the layer expects.
    #[error("the saved state of middleware `{key}` does not decode as `{asked}`: {source}")]
    #[non_exhaustive]
    Decode {
        /// The key of the value.
        key: String,
        /// The type that was asked for.
        asked: &'static str,
        /// What does not fit.
        source: serde_json::Error,
    },
    /// The value cannot be saved.
    #[error("the state of middleware `{key}`, a `{held}`, does not encode: {source}")]
    #[non_exhaustive]
    Encode {
        /// The key of the value.
        key: String,
        /// The type of the value.
        held: &'static str,
        /// What does not fit into JSON.
        source: serde_json::Error,
    },
    /// The value is in use as another type.
    #[error(
        "the state of middleware `{key}` is held as `{held}` and was asked for as `{asked}`: use one type per key"
    )]
    #[non_exhaustive]
    Type {
        /// The key of the value.
        key: String,
        /// The type of the value.
        held: &'static str,
        /// The type that was asked for.
        asked: &'static str,
    },
}
