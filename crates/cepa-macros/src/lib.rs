//! The attributes of Cepa.
