//! Cutting, tried on generated conversations.
