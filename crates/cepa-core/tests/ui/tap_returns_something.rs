use cepa_core::{Cx, Middleware, Msg, Next, Reply, ReplyInput, Result, middleware};

struct Layer;

#[middleware]
impl Middleware for Layer {
    async fn on_reply(&self, _cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        next.tap(input, |_event| true).await
    }
}

fn main() {}
