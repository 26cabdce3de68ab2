//! The budget of a reply.

use std::sync::Arc;

use cepa_budget::ReplyBudgetControlMiddleware;

use super::{super::options::Options, BuiltinLayer};
use crate::{case::LayerSpec, error::RunError, world::World};

pub(super) fn build(spec: &LayerSpec, _world: &World) -> Result<Box<dyn BuiltinLayer>, RunError> {
    let options = Options::new(spec);
    let mut builder = ReplyBudgetControlMiddleware::builder(options.or_default::<f64>("token_budget")?);
    if let Some(weight) = options.get("input_token_weight")? {
        builder = builder.input_token_weight(weight);
    }
    if let Some(weight) = options.get("output_token_weight")? {
        builder = builder.output_token_weight(weight);
    }
    if let Some(hint) = options.get::<String>("hint_message")? {
        builder = builder.hint_message(hint);
    }
    Ok(Box::new(Arc::new(builder.build().map_err(RunError::layer(spec))?)))
}
