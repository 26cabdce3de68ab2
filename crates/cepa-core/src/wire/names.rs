//! Enums that are written as fixed texts.

/// Gives a fieldless enum its texts: `as_str`, `Display`, `Serialize` and `Deserialize` (which lists the known ones
/// when it meets another).
macro_rules! names {
    ($ty:ident, $what:literal, { $($variant:ident = $name:literal),+ $(,)? }) => {
        impl $ty {
            /// The text that stands for the value in JSON.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $name, )+
                }
            }
        }

        impl std::fmt::Display for $ty {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl serde::Serialize for $ty {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $ty {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct NameVisitor;

                impl serde::de::Visitor<'_> for NameVisitor {
                    type Value = $ty;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($what)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$ty, E> {
                        match text {
                            $( $name => Ok($ty::$variant), )+
                            other => Err(E::unknown_variant(other, &[$($name),+])),
                        }
                    }
                }

                deserializer.deserialize_str(NameVisitor)
            }
        }
    };
}

pub(crate) use names;
