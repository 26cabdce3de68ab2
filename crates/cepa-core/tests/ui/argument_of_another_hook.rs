use cepa_core::{Cx, Middleware, Msg, Next, Reasoning, Reply, ReplyInput, Result, middleware};

struct Layer;

#[middleware]
impl Middleware for Layer {
    async fn on_reply(&self, _cx: Cx<Reasoning>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        next.run(input).await
    }
}

fn main() {}
