//! [`OrderRule`]: where a layer belongs beside another.

use crate::{chain::Listed, middleware::Middleware};

/// Where a layer belongs beside another, and what goes wrong otherwise. Layers name theirs in
/// [`Middleware::order`]; the builder of an agent warns (by `tracing`) where the list says otherwise.
///
/// ```
/// use cepa_core::{Cx, Middleware, Msg, Next, OrderRule, Reply, ReplyInput, Result, middleware};
///
/// struct Timing;
///
/// #[middleware]
/// impl Middleware for Timing {
///     fn order(&self) -> &'static [OrderRule] {
///         const RULES: &[OrderRule] =
///             &[OrderRule::outside_of("RateLimit", "inside, the time of waiting is not measured")];
///         RULES
///     }
///
///     async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
///         next.run(input).await
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderRule {
    side: Side,
    other: &'static str,
    why: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Outside,
    Inside,
}

impl OrderRule {
    /// The layer belongs outside of the one of this [name](Middleware::name). `why`: what goes wrong inside of it.
    pub const fn outside_of(other: &'static str, why: &'static str) -> Self {
        Self { side: Side::Outside, other, why }
    }

    /// The layer belongs inside of the one of this [name](Middleware::name). `why`: what goes wrong outside of it.
    pub const fn inside_of(other: &'static str, why: &'static str) -> Self {
        Self { side: Side::Inside, other, why }
    }

    /// Whether a layer at one position and the other at another are on the wrong sides.
    fn is_broken(&self, own: usize, other: usize) -> bool {
        match self.side {
            Side::Outside => own > other,
            Side::Inside => own < other,
        }
    }
}

/// Warns of each pair of layers that is the wrong way round.
pub(crate) fn warn_of_order(agent: &str, layers: &[Listed<dyn Middleware>]) {
    for own in layers {
        for rule in own.layer.order() {
            let others = layers.iter().filter(|other| *other.name == *rule.other);
            for other in others.filter(|other| rule.is_broken(own.position, other.position)) {
                let (is, should) = match rule.side {
                    Side::Outside => ("inside", "outside"),
                    Side::Inside => ("outside", "inside"),
                };
                tracing::warn!(
                    agent,
                    "`{}` (layer {}) stands {is} of `{}` (layer {}) and belongs {should}: {}",
                    own.name,
                    own.position,
                    other.name,
                    other.position,
                    rule.why,
                );
            }
        }
    }
}
