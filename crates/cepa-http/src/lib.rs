//! JSON over HTTP for Cepa's clients of services: each call ends in time, no answer is too large, and no key is told.
//!
//! Layers and stores are made with it; programs rarely need it.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use cepa_http::{Http, Method};
//! use serde_json::json;
//!
//! # async fn run() -> Result<(), cepa_http::ServerError> {
//! let http = Http::new("the shop", "http://127.0.0.1:8000", Duration::from_secs(10))?;
//! let answer = http.call(Method::POST, "orders", Some(&json!({"tea": 2}))).await?;
//! let Some(id) = answer["id"].as_u64() else { return Err(http.nonsense("an order without `id`")) };
//! # let _ = id; Ok(()) }
//! ```
#![forbid(unsafe_code)]

mod error;
mod http;

pub use reqwest::{
    Method,
    header::{AUTHORIZATION, HeaderName},
};
pub use secrecy::SecretString;

pub use self::{
    error::ServerError,
    http::{Http, shown_url},
};
