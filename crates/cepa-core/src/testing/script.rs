//! Where answers come from: a list, or a function of what was asked.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

type Function<Q, A> = Box<dyn Fn(&Q) -> A + Send + Sync>;

/// Answers to come, and what was asked so far.
pub(super) struct Script<Q, A> {
    list: Mutex<VecDeque<A>>,
    function: Option<Function<Q, A>>,
    asked: Mutex<Vec<Q>>,
}

impl<Q: Clone, A> Script<Q, A> {
    pub(super) fn of_list(answers: impl IntoIterator<Item = A>) -> Self {
        let list = Mutex::new(answers.into_iter().collect());
        Self { list, function: None, asked: Mutex::default() }
    }

    pub(super) fn of_function(answer: impl Fn(&Q) -> A + Send + Sync + 'static) -> Self {
        Self { list: Mutex::default(), function: Some(Box::new(answer)), asked: Mutex::default() }
    }

    /// Notes the question and gives its answer; the question's number if there is none left.
    pub(super) fn answer(&self, question: Q) -> Result<A, usize> {
        let answer = match &self.function {
            Some(function) => Some(function(&question)),
            None => lock(&self.list).pop_front(),
        };
        let mut asked = lock(&self.asked);
        asked.push(question);
        answer.ok_or(asked.len())
    }

    pub(super) fn asked(&self) -> Vec<Q> {
        lock(&self.asked).clone()
    }

    pub(super) fn remaining(&self) -> usize {
        lock(&self.list).len()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
