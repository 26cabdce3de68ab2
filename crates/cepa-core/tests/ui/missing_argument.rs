use cepa_core::{Middleware, Msg, Next, Reply, ReplyInput, Result, middleware};

struct Layer;

#[middleware]
impl Middleware for Layer {
    async fn on_reply(&self, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        next.run(input).await
    }
}

fn main() {}
