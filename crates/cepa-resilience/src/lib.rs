//! Resilience for Cepa agents: retries, fallbacks, limits, timeouts, circuit breakers, background tools.
#![forbid(unsafe_code)]
