//! Values by their type: what layers share during a reply, and what the caller gives to it.

use std::{
    any::{Any, TypeId, type_name},
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

type Slots = Vec<(TypeId, &'static str, Box<dyn Any + Send>)>;

/// What layers share during one reply, by type; never saved.
///
/// Use a type of your own, so that no other layer means another thing by it.
#[derive(Default)]
pub struct Scratch(Mutex<Slots>);

impl Scratch {
    /// Puts a value in and returns the one of this type that was there.
    pub fn insert<T: Send + 'static>(&self, value: T) -> Option<T> {
        let mut slots = self.lock();
        let before = take(&mut slots);
        slots.push((TypeId::of::<T>(), type_name::<T>(), Box::new(value)));
        before
    }

    /// Takes the value of this type out.
    pub fn take<T: Send + 'static>(&self) -> Option<T> {
        take(&mut self.lock())
    }

    /// A copy of the value of this type.
    pub fn get<T: Clone + Send + 'static>(&self) -> Option<T> {
        let slots = self.lock();
        let (_, _, value) = slots.iter().find(|(id, ..)| *id == TypeId::of::<T>())?;
        value.downcast_ref().cloned()
    }

    /// Changes the value of this type in place; it starts as `T::default()`. The scratch space must not be used
    /// inside `change`: take the value out for that.
    pub fn update<T: Default + Send + 'static, R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        // Taken out meanwhile, so that no foreign code runs under the lock.
        let mut value = self.take::<T>().unwrap_or_default();
        let result = change(&mut value);
        self.insert(value);
        result
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn take<T: Send + 'static>(slots: &mut Slots) -> Option<T> {
    let place = slots.iter().position(|(id, ..)| *id == TypeId::of::<T>())?;
    let (_, _, value) = slots.swap_remove(place);
    value.downcast().ok().map(|value| *value)
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.lock().iter().map(|(_, name, _)| name)).finish()
    }
}

/// What the caller gives to a reply, by type; does not change.
#[derive(Default)]
pub(crate) struct TypedContext(Vec<(TypeId, Box<dyn Any + Send + Sync>)>);

impl TypedContext {
    pub(crate) fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.0.retain(|(id, _)| *id != TypeId::of::<T>());
        self.0.push((TypeId::of::<T>(), Box::new(value)));
    }

    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let (_, value) = self.0.iter().find(|(id, _)| *id == TypeId::of::<T>())?;
        value.downcast_ref()
    }
}

impl fmt::Debug for TypedContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TypedContext({})", self.0.len())
    }
}
