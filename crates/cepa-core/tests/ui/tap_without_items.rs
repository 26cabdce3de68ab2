use cepa_core::{
    CheckPermission, Cx, Middleware, Next, PermissionDecision, PermissionRequest, Result, middleware,
};

struct Layer;

#[middleware]
impl Middleware for Layer {
    async fn on_check_permission(
        &self,
        _cx: Cx<CheckPermission>,
        request: PermissionRequest,
        next: Next<CheckPermission>,
    ) -> Result<PermissionDecision> {
        next.tap(request, |_item| {}).await
    }
}

fn main() {}
