//! The core of Cepa.
