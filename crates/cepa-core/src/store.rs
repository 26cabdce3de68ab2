//! [`Store`]: what layers remember, by key.

mod error;
mod key;

pub use error::StoreError;
pub use key::MiddlewareKey;

use std::{
    any::{Any, type_name},
    collections::{BTreeMap, btree_map},
    fmt,
    sync::{Mutex, PoisonError},
};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::DeserializeOwned,
    ser::{Error, SerializeMap},
};
use serde_json::Value;

/// Key → value: what each layer keeps in the state of a session, AgentScope's `middle_context`.
///
/// A value is decoded on first use, kept as its Rust type, and encoded when the state is saved. One that nobody asks
/// for is passed on as it came.
///
/// ```
/// use cepa_core::{MiddlewareKey, Store};
///
/// let key = MiddlewareKey::from("Counter");
/// let mut store: Store = serde_json::from_str(r#"{"Counter": 41}"#)?;
/// store.update(&key, |count: &mut u32| *count += 1)?;
/// assert_eq!(store.get::<u32>(&key)?, Some(42));
/// assert_eq!(serde_json::to_string(&store)?, r#"{"Counter":42}"#);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Store {
    cells: BTreeMap<MiddlewareKey, Cell>,
}

enum Cell {
    /// As it came.
    Raw(Value),
    /// Decoded. The lock is there to make the store `Sync` for values that are only `Send`; whoever holds `&mut` does
    /// not take it, so it is never waited for.
    Live(Mutex<Box<dyn Kept>>),
}

/// A decoded value.
trait Kept: Any + Send {
    fn encode(&self) -> serde_json::Result<Value>;
    fn type_name(&self) -> &'static str;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<T: Serialize + Send + 'static> Kept for T {
    fn encode(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }

    fn type_name(&self) -> &'static str {
        type_name::<T>()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

impl Store {
    /// Calls `change` with the value of `key`, which is the default if there is none yet.
    ///
    /// # Errors
    ///
    /// [`StoreError::Decode`] if the value that is there does not decode as `T`, [`StoreError::Type`] if it was used
    /// as another type before. It is left as it is then.
    pub fn update<T, R>(
        &mut self,
        key: &MiddlewareKey,
        change: impl FnOnce(&mut T) -> R,
    ) -> Result<R, StoreError>
    where
        T: Serialize + DeserializeOwned + Default + Send + 'static,
    {
        match self.cells.entry(key.clone()) {
            btree_map::Entry::Vacant(place) => {
                let mut value = T::default();
                let result = change(&mut value);
                place.insert(Cell::live(value));
                Ok(result)
            }
            btree_map::Entry::Occupied(place) => place.into_mut().decoded(key).map(change),
        }
    }

    /// A copy of the value of `key`, if there is one.
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update).
    pub fn get<T: DeserializeOwned + Clone + 'static>(
        &self,
        key: &MiddlewareKey,
    ) -> Result<Option<T>, StoreError> {
        match self.cells.get(key) {
            None => Ok(None),
            Some(Cell::Raw(value)) => decode(key, value).map(Some),
            Some(Cell::Live(kept)) => {
                let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let kept: &dyn Kept = &**kept;
                let value = kept.as_any().downcast_ref::<T>().cloned();
                value.map(Some).ok_or_else(|| wrong_type::<T>(key, kept.type_name()))
            }
        }
    }

    /// Sets the value of `key`, whatever was there.
    pub fn set<T: Serialize + Send + 'static>(&mut self, key: MiddlewareKey, value: T) {
        self.cells.insert(key, Cell::live(value));
    }

    /// Takes `key` out, and says whether it was there.
    pub fn remove(&mut self, key: &MiddlewareKey) -> bool {
        self.cells.remove(key).is_some()
    }

    /// Whether `key` has a value.
    #[must_use]
    pub fn contains(&self, key: &MiddlewareKey) -> bool {
        self.cells.contains_key(key)
    }

    /// The keys that have a value, sorted.
    pub fn keys(&self) -> impl Iterator<Item = &MiddlewareKey> {
        self.cells.keys()
    }

    /// The first value that does not encode, if there is one: serde's errors are texts only.
    pub(crate) fn unencodable(&self) -> Option<StoreError> {
        self.cells.iter().find_map(|(key, cell)| match cell {
            Cell::Raw(_) => None,
            Cell::Live(kept) => encode(key, kept).err(),
        })
    }

    /// Whether there is no value at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }
}

impl Cell {
    fn live<T: Serialize + Send + 'static>(value: T) -> Self {
        Self::Live(Mutex::new(Box::new(value)))
    }

    /// The value as a `T`, decoded if it is not yet.
    fn decoded<T>(&mut self, key: &MiddlewareKey) -> Result<&mut T, StoreError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        if let Self::Raw(value) = self {
            *self = Self::live(decode::<T>(key, value)?);
        }
        let held = match self {
            Self::Live(kept) => {
                let kept: &mut dyn Kept = &mut **kept.get_mut().unwrap_or_else(PoisonError::into_inner);
                let held = kept.type_name();
                if let Some(value) = kept.as_any_mut().downcast_mut() {
                    return Ok(value);
                }
                held
            }
            Self::Raw(_) => "JSON",
        };
        Err(wrong_type::<T>(key, held))
    }
}

fn decode<T: DeserializeOwned>(key: &MiddlewareKey, value: &Value) -> Result<T, StoreError> {
    T::deserialize(value).map_err(|source| StoreError::Decode {
        key: key.to_string(),
        asked: type_name::<T>(),
        source,
    })
}

fn encode(key: &MiddlewareKey, kept: &Mutex<Box<dyn Kept>>) -> Result<Value, StoreError> {
    let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let encoded = (**kept).encode();
    encoded.map_err(|source| StoreError::Encode { key: key.to_string(), held: (**kept).type_name(), source })
}

#[cold]
fn wrong_type<T>(key: &MiddlewareKey, held: &'static str) -> StoreError {
    StoreError::Type { key: key.to_string(), held, asked: type_name::<T>() }
}

/// The keys only: values may be anybody's secrets.
impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.keys()).finish()
    }
}

impl Serialize for Store {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.cells.len()))?;
        for (key, cell) in &self.cells {
            match cell {
                Cell::Raw(value) => map.serialize_entry(key, value)?,
                Cell::Live(kept) => {
                    map.serialize_entry(key, &encode(key, kept).map_err(S::Error::custom)?)?;
                }
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Store {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = BTreeMap::<MiddlewareKey, Value>::deserialize(deserializer)?;
        Ok(Self { cells: values.into_iter().map(|(key, value)| (key, Cell::Raw(value))).collect() })
    }
}
