//! Choosing for Cepa agents: the model of a reply, the tools and the context of a request.
#![forbid(unsafe_code)]
