//! The builder warns of layers that are the wrong way round.

use cepa_core::{
    Cx, Middleware, MiddlewareExt, Msg, Next, OrderRule, Reply, ReplyInput, Result, middleware,
    testing::{Logged, ScriptedModel},
};

use super::builder;

struct Watch;
struct Guard;

#[middleware]
impl Middleware for Watch {
    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[OrderRule::outside_of("Guard", "it sees nothing of what is refused")];
        RULES
    }

    async fn on_reply(&self, _cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        next.run(input).await
    }
}

#[middleware]
impl Middleware for Guard {
    async fn on_reply(&self, _cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        next.run(input).await
    }
}

#[test]
fn layers_the_wrong_way_round_are_warned_of_with_the_reason() {
    let model = ScriptedModel::new([""; 0]);
    let warnings = Logged::warnings("cepa_core");
    builder(&model).middleware(Watch).middleware(Guard).define().unwrap();
    assert_eq!(warnings.take(), [""; 0]);

    builder(&model).middleware(Guard).middleware(Watch.keyed("under another key")).define().unwrap();
    let warning = warnings.take().join("");
    let says = "`Watch` (layer 2) stands inside of `Guard` (layer 1) and belongs outside: it sees nothing of what is refused";
    assert!(warning.contains(says), "{warning}");
}
