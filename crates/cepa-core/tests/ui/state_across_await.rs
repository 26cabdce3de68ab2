use cepa_core::{Cx, Middleware, Msg, Next, Reply, ReplyInput, Result, middleware};

struct Layer;

#[middleware]
impl Middleware for Layer {
    async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        let state = cx.state()?;
        let msg = next.run(input).await?;
        drop(state);
        Ok(msg)
    }
}

fn main() {}
