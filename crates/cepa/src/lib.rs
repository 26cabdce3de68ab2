//! Cepa.
