use std::rc::Rc;

use cepa_core::tool;

/// Waits.
#[tool]
async fn wait() {
    let held = Rc::new(());
    std::future::ready(()).await;
    drop(held);
}

fn main() {}
