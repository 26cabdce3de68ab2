//! What shows replies to people: the spans below each reply are collected into a tree, which is shown when the reply
//! ends.
#![cfg_attr(
    not(feature = "html"),
    allow(dead_code, unused_imports, reason = "the terminal shows less of a reply than the page")
)]

mod collect;
#[cfg(test)]
pub(crate) mod scripted;
mod text;
mod tree;

pub(crate) use self::{
    collect::{Collector, Limits},
    text::{duration, visible},
    tree::{Event, Kind, Node, Row, Status, Tree},
};

/// Makes a type with a field `collector` and a method `show(&self, Tree)` a layer.
macro_rules! view {
    ($View:ident) => {
        impl $View {
            /// Up to which level of detail spans and events of the program's own are shown: [`INFO`](tracing::Level)
            /// by default. Those of agents are shown always.
            #[must_use]
            pub fn max_level(mut self, level: tracing::Level) -> Self {
                self.collector.level = level;
                self
            }

            /// Makes a subscriber of this layer alone the program's.
            ///
            /// # Errors
            /// When the program has a subscriber already.
            pub fn install(self) -> Result<(), crate::SetupError> {
                let level = self.collector.level;
                crate::setup::install(self, level)
            }
        }

        impl<S> tracing_subscriber::Layer<S> for $View
        where
            S: tracing::Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
        {
            fn on_new_span(
                &self,
                attributes: &tracing::span::Attributes<'_>,
                id: &tracing::span::Id,
                cx: tracing_subscriber::layer::Context<'_, S>,
            ) {
                self.collector.open(attributes, id, &cx);
            }

            fn on_record(
                &self,
                id: &tracing::span::Id,
                values: &tracing::span::Record<'_>,
                cx: tracing_subscriber::layer::Context<'_, S>,
            ) {
                if let Some(tree) = self.collector.record(id, values, &cx) {
                    self.show(&tree);
                }
            }

            fn on_event(&self, event: &tracing::Event<'_>, cx: tracing_subscriber::layer::Context<'_, S>) {
                self.collector.event(event, &cx);
            }

            fn on_close(&self, id: tracing::span::Id, cx: tracing_subscriber::layer::Context<'_, S>) {
                if let Some(tree) = self.collector.close(&id, &cx) {
                    self.show(&tree);
                }
            }
        }
    };
}
pub(crate) use view;
