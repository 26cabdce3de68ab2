//! Sets of hooks.

use std::{fmt, ops};

/// Which hooks a layer implements.
///
/// ```
/// use cepa_core::HookSet;
///
/// let hooks = HookSet::REPLY | HookSet::ACTING;
/// assert!(hooks.contains(HookSet::REPLY));
/// assert_eq!(hooks.names().collect::<Vec<_>>(), ["on_reply", "on_acting"]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct HookSet(u8);

impl HookSet {
    /// No hook.
    pub const NONE: Self = Self(0);
    /// `on_reply`.
    pub const REPLY: Self = Self(1);
    /// `on_reasoning`.
    pub const REASONING: Self = Self(1 << 1);
    /// `on_model_call`.
    pub const MODEL_CALL: Self = Self(1 << 2);
    /// `on_check_permission`.
    pub const CHECK_PERMISSION: Self = Self(1 << 3);
    /// `on_acting`.
    pub const ACTING: Self = Self(1 << 4);
    /// `on_compress_context`.
    pub const COMPRESS_CONTEXT: Self = Self(1 << 5);
    /// `on_system_prompt`.
    pub const SYSTEM_PROMPT: Self = Self(1 << 6);
    /// Every hook.
    pub const ALL: Self = Self((1 << 7) - 1);

    const NAMED: [(Self, &'static str); 7] = [
        (Self::REPLY, "on_reply"),
        (Self::REASONING, "on_reasoning"),
        (Self::MODEL_CALL, "on_model_call"),
        (Self::CHECK_PERMISSION, "on_check_permission"),
        (Self::ACTING, "on_acting"),
        (Self::COMPRESS_CONTEXT, "on_compress_context"),
        (Self::SYSTEM_PROMPT, "on_system_prompt"),
    ];

    /// The hook with this name; [`HookSet::NONE`] if there is none.
    pub fn named(name: &str) -> Self {
        Self::NAMED.into_iter().find(|(_, known)| *known == name).map_or(Self::NONE, |(hook, _)| hook)
    }

    /// Whether all of `other` is in this set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether no hook is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The names of the hooks in it.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMED.into_iter().filter(move |(hook, _)| self.contains(*hook)).map(|(_, name)| name)
    }
}

impl ops::BitOr for HookSet {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}

impl FromIterator<HookSet> for HookSet {
    fn from_iter<I: IntoIterator<Item = Self>>(sets: I) -> Self {
        sets.into_iter().fold(Self::NONE, Self::union)
    }
}

impl fmt::Debug for HookSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}
