//! Guards for Cepa agents: personal data, secrets, paths, arguments, audit.
#![forbid(unsafe_code)]
