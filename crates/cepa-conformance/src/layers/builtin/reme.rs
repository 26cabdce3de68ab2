//! ReMe, with an app that holds what the case says.

use std::{sync::Arc, time::Duration};

use cepa_core::BoxFuture;
use cepa_memory::{JobAnswer, Mode, ReMe, ReMeError, ReMeMiddleware};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{super::options::Options, BuiltinLayer};
use crate::{case::LayerSpec, error::RunError, log::Log, world::World};

/// How long a search takes where the case does not say: a service never answers in no time at all.
const SEARCH: Duration = Duration::from_millis(1);
/// Longer than any scripted delay.
const FLUSH: Duration = Duration::from_secs(600);

pub(super) fn build(spec: &LayerSpec, world: &World) -> Result<Box<dyn BuiltinLayer>, RunError> {
    let options = Options::new(spec);
    let app = App { script: options.or_default("app")?, log: world.log.clone() };
    let mut builder = ReMeMiddleware::builder(app).mode(options.or_default::<Mode>("mode")?);
    if let Some(top_k) = options.get("top_k")? {
        builder = builder.top_k(top_k);
    }
    Ok(Box::new(Layer(Arc::new(builder.build().map_err(RunError::layer(spec))?))))
}

struct Layer(Arc<ReMeMiddleware>);

impl BuiltinLayer for Layer {
    fn middleware(&self) -> Arc<dyn cepa_core::Middleware> {
        self.0.clone()
    }

    fn flush(&self) -> BoxFuture<'_, ()> {
        Box::pin(async { _ = ReMeMiddleware::flush(&self.0, FLUSH).await })
    }
}

#[derive(Debug)]
struct App {
    script: Script,
    log: Log,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Script {
    memories: Vec<String>,
    search_delay_ms: Option<u64>,
    search_raise: Option<String>,
    write_raise: Option<String>,
    write_fails: bool,
}

impl ReMe for App {
    fn run<'a>(
        &'a self,
        job: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<JobAnswer, ReMeError>> {
        Box::pin(async move {
            let is_search = job == "search";
            if is_search {
                tokio::time::sleep(self.script.search_delay_ms.map_or(SEARCH, Duration::from_millis)).await;
            }
            let mut entry = json!({"backend": "reme", "op": "job", "job": job});
            if let Some(entry) = entry.as_object_mut() {
                entry.extend(arguments.clone());
            }
            self.log.backend(entry);
            let raise = if is_search { &self.script.search_raise } else { &self.script.write_raise };
            if let Some(message) = raise {
                return Err(ReMeError::Other(message.as_str().into()));
            }
            if !is_search && self.script.write_fails {
                return Err(ReMeError::Failed { job: job.to_owned(), words: "no".to_owned() });
            }
            let results: Vec<_> = self.script.memories.iter().map(|memory| json!({"text": memory})).collect();
            Ok(JobAnswer::new(Map::from_iter([("results".to_owned(), Value::from(results))])))
        })
    }

    fn jobs(&self) -> BoxFuture<'_, Result<Vec<String>, ReMeError>> {
        Box::pin(async { Ok(vec!["search".to_owned(), "auto_memory".to_owned()]) })
    }
}
