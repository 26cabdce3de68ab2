//! Speech for Cepa agents: the reply, spoken while it is written.
#![forbid(unsafe_code)]
