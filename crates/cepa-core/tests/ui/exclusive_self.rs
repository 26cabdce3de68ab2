use cepa_core::{Cx, Middleware, Msg, Next, Reply, ReplyInput, Result, middleware};

struct Counter(usize);

#[middleware]
impl Middleware for Counter {
    async fn on_reply(&mut self, _cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        self.0 += 1;
        next.run(input).await
    }
}

fn main() {}
