//! What model requests have spent, for whoever is around them: also those that come to no end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Cx, ModelCall, Next};
use crate::{message::Usage, model::ChatUsage};

/// What the model requests inside of a layer have spent: see [`Next::metered`].
///
/// A response, or an error, tells what its own request has spent. What is missing there are requests that were given up
/// on their way, by a layer inside (a timeout, a race) or because nobody reads the reply any more.
///
/// ```
/// use cepa_core::{ChatResponse, Cx, ModelCall, ModelRequest, Next, Result};
///
/// /// Says how many tokens a model call has sent, with those of requests that were given up on the way.
/// async fn counted(_cx: Cx<ModelCall>, request: ModelRequest, next: Next<ModelCall>) -> Result<ChatResponse> {
///     let (next, meter) = next.metered();
///     let response = next.run(request).await?;
///     let told = response.usage.as_ref().map_or(0, |usage| usage.input_tokens);
///     let given_up: u64 = meter.given_up().iter().flatten().map(|usage| usage.input_tokens).sum();
///     println!("{} tokens sent", told + given_up);
///     Ok(response)
/// }
/// # let _ = cepa_core::on_model_call(counted);
/// ```
#[derive(Clone, Debug)]
pub struct Meter(Arc<Node>);

/// A meter, and the one around it.
#[derive(Debug)]
pub(crate) struct Node {
    requests: Mutex<Vec<Reported>>,
    outer: Option<Arc<Node>>,
}

/// What a model has said up to now that its request has spent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reported(Arc<Mutex<Request>>);

#[derive(Debug, Default)]
struct Request {
    usage: Option<ChatUsage>,
    /// Its response, or its error, has told.
    is_told: bool,
}

impl Meter {
    /// What those requests have spent of which no response and no error tells: one item for each, `None` where the server
    /// had not said anything yet. To be asked for when `next` has returned.
    pub fn given_up(&self) -> Vec<Option<Usage>> {
        self.requests(|request| !request.is_told)
    }

    /// What all requests have spent: for a layer that is dropped, and gets no response. Those that have ended without a word
    /// of what they cost are not among them.
    pub fn all(&self) -> Vec<Option<Usage>> {
        self.requests(|request| !request.is_told || request.usage.is_some())
    }

    fn requests(&self, wanted: impl Fn(&Request) -> bool) -> Vec<Option<Usage>> {
        let requests = self.0.requests();
        let usages = requests.iter().map(Reported::lock).filter(|request| wanted(request));
        usages.map(|request| request.usage.as_ref().map(Usage::from)).collect()
    }
}

impl Node {
    fn requests(&self) -> MutexGuard<'_, Vec<Reported>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reported {
    pub(crate) fn report(&self, usage: ChatUsage) {
        self.lock().usage = Some(usage);
    }

    /// The request has ended. Its response, or its error, is given what it has spent: what it says itself, or else what was
    /// reported.
    pub(crate) fn told(&self, own: Option<ChatUsage>) -> Option<ChatUsage> {
        let mut request = self.lock();
        request.is_told = true;
        request.usage = own.or(request.usage.take());
        request.usage.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Request> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Next<ModelCall> {
    /// The same rest of the chain, and a meter of what it spends: for a layer that counts, and wants to count also what is
    /// cut off. It may be asked in the `Drop` of a guard, when the layer gets no response.
    pub fn metered(mut self) -> (Self, Meter) {
        let meter = self.cx_mut().meter_mut();
        let node = Arc::new(Node { requests: Mutex::default(), outer: meter.take() });
        *meter = Some(node.clone());
        (self, Meter(node))
    }
}

impl Cx<ModelCall> {
    /// A request begins, which all meters around it see.
    pub(crate) fn begin_request(&self) -> Reported {
        let reported = Reported::default();
        let mut next = self.meter();
        while let Some(node) = next {
            node.requests().push(reported.clone());
            next = node.outer.as_ref();
        }
        reported
    }
}
