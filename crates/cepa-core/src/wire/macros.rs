//! The macros that write an object's fields in order and read them in any order.

/// The JSON key of a field: its name, unless `as "…"` gives another one.
macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

/// Writes bindings as entries of a `SerializeMap`, in the order given.
macro_rules! put {
    ($map:ident, $($field:ident $(as $key:literal)?),* $(,)?) => {{
        $( serde::ser::SerializeMap::serialize_entry(&mut $map, $crate::wire::key!($field $($key)?), $field)?; )*
    }};
}

/// Reads a `MapAccess` to its end into a struct or struct-like variant. `field` is required, `field = default` is
/// not; all other entries go to `$rest.keep(key, &mut map)`; `+ { … }` are fields that do not come from the map.
/// The last of several entries with one key counts, as in Python.
macro_rules! read {
    (
        $map:ident, $rest:ident,
        $($path:ident)::+ { $($field:ident $(as $key:literal)? $(= $default:expr)?),* $(,)? } $(+ { $($more:tt)* })?
    ) => {{
        $( let mut $field = None; )*
        while let Some(key) = serde::de::MapAccess::next_key::<$crate::wire::Key<'_>>(&mut $map)? {
            match key.as_str() {
                $( $crate::wire::key!($field $($key)?) => {
                    $field = Some($crate::wire::field(&mut $map, $crate::wire::key!($field $($key)?))?);
                } )*
                _ => $rest.keep(key, &mut $map)?,
            }
        }
        $($path)::+ {
            $( $field: $crate::wire::read!(@end $field ($crate::wire::key!($field $($key)?)) $(= $default)?), )*
            $($($more)*)?
        }
    }};
    (@end $field:ident ($key:expr)) => { $crate::wire::required($field, $key)? };
    (@end $field:ident ($key:expr) = None) => { $field.unwrap_or(None) };
    (@end $field:ident ($key:expr) = $default:expr) => { $field.unwrap_or_else(|| $default) };
}

/// `Serialize`, `Deserialize` and `FromMap` of a struct whose unknown fields live in `extra: Fields`.
///
/// `tag "…"` is the constant `type` written first; `check` is a function that judges what was read.
macro_rules! wire {
    (
        $ty:ident, $what:literal $(, tag $tag:literal)? $(, check $check:path)?,
        { $($field:ident $(as $key:literal)? $(= $default:expr)?),* $(,)? }
    ) => {
        impl serde::Serialize for $ty {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let Self { $($field,)* extra } = self;
                let mut map = serializer.serialize_map(None)?;
                $( serde::ser::SerializeMap::serialize_entry(&mut map, "type", $tag)?; )?
                $crate::wire::put!(map, $($field $(as $key)?),*);
                extra.write_into(&mut map)?;
                serde::ser::SerializeMap::end(map)
            }
        }
        $crate::wire::wire!(@read $ty, $what $(, tag $tag)? $(, check $check)?,
            { $($field $(as $key)? $(= $default)?),* });
    };
    (
        @read $ty:ident, $what:literal $(, tag $tag:literal)? $(, check $check:path)?,
        { $($fields:tt)* }
    ) => {
        impl $crate::wire::FromMap for $ty {
            const WHAT: &'static str = $what;

            fn from_map<'de, A: serde::de::MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
                let mut extra = $crate::fields::Fields::default();
                #[allow(unused_mut, reason = "only a tag changes what was read")]
                let mut read = $crate::wire::read!(map, extra, $ty { $($fields)* } + { extra });
                $( read.extra.expect_tag($tag)?; )?
                $( $check(&read).map_err(serde::de::Error::custom)?; )?
                Ok(read)
            }
        }

        impl<'de> serde::Deserialize<'de> for $ty {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::wire::object(deserializer)
            }
        }
    };
}

pub(crate) use {key, put, read, wire};
