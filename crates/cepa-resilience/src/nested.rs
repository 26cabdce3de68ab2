//! Whether a call runs inside of another one that the same layer let through.
//!
//! A layer inside may ask a model on its own account, and a tool may run an agent with the same limits: such a call comes
//! by the same layer again while the outer one is held there. It would wait for itself, so it goes through on the outer
//! one's account. Calls that merely run beside each other are not inside of one another, in the same task neither.

use std::{future::Future, sync::Arc};

tokio::task_local! {
    static OUTER: Arc<Link>;
}

struct Link {
    id: usize,
    outer: Option<Arc<Link>>,
}

/// Runs what is inside of a call that the layer with this id let through.
pub(crate) fn inside<F: Future>(id: usize, inner: F) -> impl Future<Output = F::Output> {
    let outer = OUTER.try_with(Arc::clone).ok();
    OUTER.scope(Arc::new(Link { id, outer }), inner)
}

/// Whether this runs inside of such a call.
pub(crate) fn is_inside(id: usize) -> bool {
    let found = OUTER.try_with(|link| {
        let mut link = Some(link);
        while let Some(this) = link {
            if this.id == id {
                return true;
            }
            link = this.outer.as_ref();
        }
        false
    });
    found.unwrap_or(false)
}

/// The id of a layer, or of a part of it: where it is kept.
pub(crate) fn id_of<T>(part: &Arc<T>) -> usize {
    Arc::as_ptr(part).cast::<()>() as usize
}
