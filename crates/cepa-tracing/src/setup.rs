//! Making something the program's subscriber.

/// Why a subscriber could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The program has a subscriber of `tracing` already, and it can have one only.
    #[error(
        "the program has a subscriber of `tracing` already: add this as a layer to it, with \
         `tracing_subscriber::registry().with(…)`, or set this one up first"
    )]
    AlreadySet,
}

/// Makes a layer the program's subscriber, for spans and events up to a level; Cepa's own are always taken.
#[cfg(any(feature = "html", feature = "terminal"))]
pub(crate) fn install<L>(layer: L, level: tracing::Level) -> Result<(), SetupError>
where
    L: tracing_subscriber::Layer<
            tracing_subscriber::layer::Layered<
                tracing_subscriber::filter::Targets,
                tracing_subscriber::Registry,
            >,
        > + Send
        + Sync,
{
    use tracing_subscriber::{filter::Targets, layer::SubscriberExt as _};

    let filter = Targets::new().with_default(level).with_target("cepa_tracing", tracing::Level::TRACE);
    let subscriber = tracing_subscriber::registry().with(filter).with(layer);
    tracing::subscriber::set_global_default(subscriber).map_err(|_| SetupError::AlreadySet)
}
