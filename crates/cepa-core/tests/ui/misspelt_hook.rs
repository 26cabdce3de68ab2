use cepa_core::{Cx, Middleware, ModelCall, ModelRequest, Next, Result, ChatResponse, middleware};

struct Layer;

#[middleware]
impl Middleware for Layer {
    async fn on_model_cal(
        &self,
        _cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        next.run(request).await
    }
}

fn main() {}
