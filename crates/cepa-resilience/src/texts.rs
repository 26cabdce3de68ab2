//! The texts that these layers write.
