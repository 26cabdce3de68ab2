//! The tools, with spans of their own inside.

use std::time::Duration;

use cepa::prelude::*;
use tracing::{Instrument as _, info_span};

/// Says when ferries leave for a port.
#[tool(read_only)]
pub(crate) async fn timetable(
    /// The port to go to.
    to: String,
) -> String {
    get("/timetable", 25).await;
    format!("To {to}: 08:15, 12:40, 17:05")
}

/// Says how rough the sea is.
#[tool(read_only)]
pub(crate) async fn sea_state(
    /// The port to go to.
    to: String,
) -> Result<String, ToolError> {
    get("/buoys", 12).await;
    tracing::warn!("the buoy does not answer");
    Err(ToolError::new(format!("there is no measurement on the way to {to}")))
}

/// Books a seat on a ferry. It costs money, so a person is asked.
#[tool(permission = "ask")]
pub(crate) async fn book_ferry(
    /// The port to go to.
    to: String,
    /// When it leaves, as in the timetable.
    at: String,
) -> String {
    get("/bookings", 40).await;
    format!("Booked: {to}, {at}, seat 14")
}

/// A request as a traced HTTP client makes it, but for the network.
async fn get(path: &'static str, milliseconds: u64) {
    let span = info_span!(
        "request",
        otel.name = %format_args!("GET {path}"),
        otel.kind = "client",
        http.request.method = "GET",
        url.path = path,
        http.response.status_code = 200_i64,
    );
    tokio::time::sleep(Duration::from_millis(milliseconds)).instrument(span).await;
}
