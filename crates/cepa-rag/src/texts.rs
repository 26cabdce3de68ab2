//! What this crate writes to models, in its own words.
