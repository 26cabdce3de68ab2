//! A backend in this program, which keeps what it is told and finds it by words.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use cepa_core::{BoxError, BoxFuture};
use cepa_memory::mem0::{Mem0, Mem0Add, Mem0Added, Mem0Memory, Mem0Search};

/// How long each call takes, and what was asked.
#[derive(Clone, Default)]
pub(crate) struct Store(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    kept: Vec<(String, Option<String>, String)>,
    searches: Vec<Mem0Search>,
    adds: Vec<Mem0Add>,
    search_takes: Duration,
    add_takes: Duration,
    answers: Vec<Mem0Added>,
    fails: bool,
    adding_fails: bool,
    /// A query whose search fails.
    unsearchable: Option<String>,
}

impl Store {
    /// Each search takes so long.
    pub(crate) fn search_takes(self, time: Duration) -> Self {
        self.0.lock().unwrap().search_takes = time;
        self
    }

    /// Each addition takes so long.
    pub(crate) fn add_takes(self, time: Duration) -> Self {
        self.0.lock().unwrap().add_takes = time;
        self
    }

    /// What the next additions answer, in turn; then they are kept.
    pub(crate) fn answers(self, answers: impl IntoIterator<Item = Mem0Added>) -> Self {
        self.0.lock().unwrap().answers = answers.into_iter().collect();
        self
    }

    /// Everything fails.
    pub(crate) fn fails(self) -> Self {
        self.0.lock().unwrap().fails = true;
        self
    }

    /// Every addition fails, and nothing else.
    pub(crate) fn adding_fails(self) -> Self {
        self.0.lock().unwrap().adding_fails = true;
        self
    }

    /// The search for this fails.
    pub(crate) fn cannot_search(self, query: &str) -> Self {
        self.0.lock().unwrap().unsearchable = Some(query.to_owned());
        self
    }

    /// Knows this of a user.
    pub(crate) fn knows(self, user_id: &str, text: &str) -> Self {
        self.0.lock().unwrap().kept.push((user_id.to_owned(), None, text.to_owned()));
        self
    }

    pub(crate) fn searches(&self) -> Vec<Mem0Search> {
        self.0.lock().unwrap().searches.clone()
    }

    pub(crate) fn adds(&self) -> Vec<Mem0Add> {
        self.0.lock().unwrap().adds.clone()
    }

    /// What was added, as user, question and answer.
    pub(crate) fn turns(&self) -> Vec<(String, String, String)> {
        let said = |add: &Mem0Add, place: usize| add.messages[place].content.clone();
        self.adds().iter().map(|add| (add.user_id.clone(), said(add, 0), said(add, 1))).collect()
    }

    fn check(&self) -> Result<(), BoxError> {
        if self.0.lock().unwrap().fails { Err("the disk is full".into()) } else { Ok(()) }
    }
}

impl Mem0 for Store {
    fn search(&self, search: Mem0Search) -> BoxFuture<'_, Result<Vec<Mem0Memory>, BoxError>> {
        Box::pin(async move {
            let time = self.0.lock().unwrap().search_takes;
            self.0.lock().unwrap().searches.push(search.clone());
            tokio::time::sleep(time).await;
            self.check()?;
            let inner = self.0.lock().unwrap();
            if inner.unsearchable.as_ref() == Some(&search.query) {
                return Err("no such index".into());
            }
            let fits = |(user, agent, text): &&(String, Option<String>, String)| {
                *user == search.user_id
                    && search.agent_id.as_ref().is_none_or(|id| agent.as_ref() == Some(id))
                    && search.query.split_whitespace().any(|word| text.contains(word))
            };
            let found = inner.kept.iter().filter(fits).take(search.top_k);
            Ok(found.map(|(_, _, text)| Mem0Memory::new(text)).collect())
        })
    }

    fn add(&self, add: Mem0Add) -> BoxFuture<'_, Result<Mem0Added, BoxError>> {
        Box::pin(async move {
            let time = self.0.lock().unwrap().add_takes;
            tokio::time::sleep(time).await;
            let mut inner = self.0.lock().unwrap();
            inner.adds.push(add.clone());
            if inner.fails || inner.adding_fails {
                return Err("the disk is full".into());
            }
            if !inner.answers.is_empty() {
                return Ok(inner.answers.remove(0));
            }
            let texts: Vec<_> = add.messages.into_iter().map(|message| message.content).collect();
            inner.kept.extend(texts.iter().map(|t| (add.user_id.clone(), add.agent_id.clone(), t.clone())));
            Ok(Mem0Added::Done(texts.into_iter().map(Mem0Memory::new).collect()))
        })
    }
}
