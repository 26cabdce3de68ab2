//! A run of indexing.

use std::{
    collections::{HashMap, HashSet},
    future::IntoFuture,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use cepa_core::BoxFuture;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{
    IndexReport, KnowledgeBase, Problem, Progress,
    document::Kept,
    folder::{self, Listing, Source},
    fresh::{self, Work},
    version::Fingerprint,
};
use crate::{DocumentSummary, File, RagError};

/// The metadata that says of a chunk which folder it is from.
const FOLDER: &str = "cepa_folder";

/// So many documents in a row that the model refuses mean that it is not about the documents.
const REFUSED: usize = 10;

type OnProgress<'a> = Box<dyn Fn(&Progress) + Send + Sync + 'a>;

/// A run of indexing that is being prepared: `.await` runs it.
///
/// A run that is dropped or ends with an error leaves what it has kept, and the next one does the rest.
#[must_use = "nothing is indexed until it is awaited"]
pub struct Index<'a> {
    knowledge_base: &'a KnowledgeBase,
    from: From<'a>,
    prefix: String,
    may_be_empty: bool,
    on_progress: OnProgress<'a>,
}

enum From<'a> {
    Folder(PathBuf),
    Files(Box<dyn Iterator<Item = File> + Send + 'a>),
}

impl std::fmt::Debug for Index<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("knowledge_base", &self.knowledge_base.inner.name)
            .finish_non_exhaustive()
    }
}

impl KnowledgeBase {
    /// Makes this knowledge base hold the files of a folder and of those below it: new ones are added, those that have
    /// changed are replaced, and documents whose files are gone are deleted, if they came from this folder. What has
    /// not changed is not even parsed, unless it has no text: nothing is kept of that. Hidden files and links are left
    /// out.
    ///
    /// A file's document has its path below the folder as its id, with `/`. Two folders in one knowledge base need a
    /// [`prefix`](Index::prefix) each: without one, the second would take the place of the first.
    ///
    /// A file that cannot be read is a problem in the report and keeps no other from being indexed.
    ///
    /// # Errors
    /// When the folder cannot be listed, or holds [no file any more](Index::may_be_empty); what keeps the model or the
    /// store from answering.
    pub fn index_folder<'a>(&'a self, folder: impl AsRef<Path>) -> Index<'a> {
        self.run(From::Folder(folder.as_ref().to_owned()))
    }

    /// Adds these files, or replaces those that have changed, by their names. Nothing is deleted.
    ///
    /// # Errors
    /// A [`prefix`](Index::prefix); what keeps the model or the store from answering.
    pub fn index<'a, I>(&'a self, files: I) -> Index<'a>
    where
        I: IntoIterator<Item = File>,
        I::IntoIter: Send + 'a,
    {
        self.run(From::Files(Box::new(files.into_iter())))
    }

    fn run<'a>(&'a self, from: From<'a>) -> Index<'a> {
        Index {
            knowledge_base: self,
            from,
            prefix: String::new(),
            may_be_empty: false,
            on_progress: Box::new(|_| {}),
        }
    }
}

impl<'a> Index<'a> {
    /// What the names of a folder's files begin with, before a `/`: `guide` makes `guide/install.md` of `install.md`.
    /// [`index`](KnowledgeBase::index) takes none: its files have the names that you give them.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into().trim_matches('/').to_owned();
        self
    }

    /// Whether a folder without any file is meant, and deletes all documents that came from it. By default it is an error:
    /// most often the disk is not there.
    pub fn may_be_empty(mut self, may_be_empty: bool) -> Self {
        self.may_be_empty = may_be_empty;
        self
    }

    /// Calls this after each document and each batch of chunks, and once before all. It should not take long.
    pub fn on_progress(mut self, on_progress: impl Fn(&Progress) + Send + Sync + 'a) -> Self {
        self.on_progress = Box::new(on_progress);
        self
    }

    async fn run(self) -> Result<IndexReport, RagError> {
        let Self { knowledge_base, from, prefix, may_be_empty, on_progress } = self;
        let _alone = knowledge_base.inner.indexing.lock().await;
        let (origin, listing) = match from {
            From::Files(_) if !prefix.is_empty() => {
                let reason = format!(
                    "`.prefix(\"{prefix}\")` is for the files of a folder: give the files names that begin with it"
                );
                return Err(RagError::Settings(reason));
            }
            From::Files(files) => (None, Listed::Files(files)),
            From::Folder(path) => {
                let origin = prefix.clone();
                let listing = tokio::task::spawn_blocking(move || folder::list(&path, &prefix)).await;
                let failed = |error: tokio::task::JoinError| RagError::Settings(error.to_string());
                (Some(origin), Listed::Folder(listing.map_err(failed)??))
            }
        };
        let known = knowledge_base.known().await?;
        let run = Run {
            knowledge_base,
            fingerprint: Fingerprint::of(&knowledge_base.inner, true).of_origin(origin.as_deref()),
            origin,
            known,
            on_progress,
            state: Mutex::default(),
        };
        if let Listed::Folder(listing) = &listing
            && listing.is_empty()
            && !may_be_empty
            && let count @ 1.. = run.gone().len()
        {
            return Err(RagError::Settings(format!(
                "the folder holds no file, and knowledge base `{}` has {count} documents from it: see that it is the \
                 right one and that its disk is there, or call `.may_be_empty(true)` to delete them",
                knowledge_base.inner.name
            )));
        }
        run.all(listing).await
    }
}

impl<'a> IntoFuture for Index<'a> {
    type Output = Result<IndexReport, RagError>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

enum Listed<'a> {
    Folder(Listing),
    Files(Box<dyn Iterator<Item = File> + Send + 'a>),
}

struct Run<'a> {
    knowledge_base: &'a KnowledgeBase,
    fingerprint: Fingerprint,
    /// The folder's prefix.
    origin: Option<String>,
    known: HashMap<String, Vec<DocumentSummary>>,
    on_progress: OnProgress<'a>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    progress: Progress,
    report: IndexReport,
    seen: HashSet<String>,
    /// Documents in a row that the model refused.
    refused: usize,
}

impl Run<'_> {
    fn note<R>(&self, note: impl FnOnce(&mut State) -> R) -> R {
        note(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn progress(&self, change: impl FnOnce(&mut Progress)) {
        self.note(|state| {
            change(&mut state.progress);
            (self.on_progress)(&state.progress);
        });
    }

    async fn all(self, listed: Listed<'_>) -> Result<IndexReport, RagError> {
        let (sources, is_complete): (Box<dyn Iterator<Item = Source> + Send + '_>, _) = match listed {
            Listed::Files(files) => (Box::new(files.map(Source::Memory)), false),
            Listed::Folder(Listing { sources, problems }) => {
                let is_complete = problems.is_empty();
                self.note(|state| state.report.problems = problems);
                (Box::new(sources.into_iter()), is_complete)
            }
        };
        self.progress(|progress| progress.documents = sources.size_hint().0);
        stream::iter(sources)
            .map(|source| self.one(source))
            .buffer_unordered(self.knowledge_base.inner.limits.concurrency)
            .try_collect::<()>()
            .await?;
        // What could not be listed is not gone.
        if is_complete {
            self.delete_gone().await?;
        }
        Ok(self.state.into_inner().unwrap_or_else(PoisonError::into_inner).report)
    }

    /// Brings one document up to date. What is wrong with it is noted; what is wrong with more is an error.
    async fn one(&self, source: Source) -> Result<(), RagError> {
        let name = source.name().to_owned();
        let is_first = self.note(|state| state.seen.insert(name.clone()));
        let updated = match is_first {
            true => self.update(&name, source).await,
            false => {
                Err(Failure::OfFile(RagError::parse(name.as_str(), "there is another file of this name")))
            }
        };
        match updated {
            Ok(()) => self.note(|state| state.refused = 0),
            Err(Failure::OfFile(error)) => {
                tracing::warn!(%error, file = name, "not indexed");
                self.note(|state| state.report.problems.push(Problem::new(name.as_str(), error)));
            }
            Err(Failure::OfMore(error)) => return Err(error),
        }
        self.done(name);
        Ok(())
    }

    /// What it means that chunks of a document are not kept. The store's failures are never about one document, a disk
    /// that is full among them, and of the model's only that it does not take these texts.
    fn not_kept(&self, error: RagError) -> Failure {
        let is_refused = matches!(&error, RagError::Model(error) if is_about_texts(error));
        let refused = self.note(|state| {
            state.refused += usize::from(is_refused);
            state.refused
        });
        if is_refused && refused < REFUSED { Failure::OfFile(error) } else { Failure::OfMore(error) }
    }

    fn done(&self, name: String) {
        self.progress(|progress| {
            progress.documents_done += 1;
            progress.documents = progress.documents.max(progress.documents_done);
            progress.document = name;
        });
    }

    async fn update(&self, name: &str, source: Source) -> Result<(), Failure> {
        let base = self.knowledge_base;
        let known = self.known.get(name).cloned().unwrap_or_default();
        let was_there = !known.is_empty();
        let work = fresh::prepare(&base.inner, &self.fingerprint, source, known).await;
        match work.map_err(Failure::OfFile)? {
            Work::Nothing => self.note(|state| state.report.unchanged += 1),
            Work::DeleteOthers { version } => {
                base.delete_versions(name, Some(&version)).await.map_err(Failure::OfMore)?;
                self.note(|state| state.report.replaced += 1);
            }
            Work::Keep { version, mut chunks, problems } => {
                let problems = problems.into_iter().map(|error| Problem::new(name, error));
                self.note(|state| state.report.problems.extend(problems));
                let is_empty = chunks.is_empty();
                for chunk in &mut chunks {
                    let origin =
                        self.origin.as_ref().map(|origin| (FOLDER.to_owned(), origin.as_str().into()));
                    chunk.metadata.extend(origin);
                }
                let on_batch = |count| {
                    self.progress(|progress| {
                        progress.chunks_done += count;
                        name.clone_into(&mut progress.document);
                    });
                };
                let kept = base.keep(name, &version, chunks, on_batch).await;
                let Kept { chunks, tokens } = kept.map_err(|error| self.not_kept(error))?;
                if was_there {
                    base.delete_versions(name, Some(&version)).await.map_err(Failure::OfMore)?;
                }
                self.note(|State { report, .. }| {
                    report.chunks += chunks;
                    report.tokens += tokens;
                    match (is_empty, was_there) {
                        (true, _) => report.empty += 1,
                        (false, true) => report.replaced += 1,
                        (false, false) => report.added += 1,
                    }
                });
            }
        }
        Ok(())
    }

    /// Documents from this folder whose files are not in it.
    fn gone(&self) -> Vec<&String> {
        let is_ours = |summary: &DocumentSummary| {
            self.origin.as_deref() == summary.metadata.get(FOLDER).and_then(|origin| origin.as_str())
        };
        self.note(|state| {
            let gone = self.known.iter().filter(|(name, _)| !state.seen.contains(*name));
            gone.filter(|(_, summaries)| summaries.iter().any(is_ours)).map(|(name, _)| name).collect()
        })
    }

    async fn delete_gone(&self) -> Result<(), RagError> {
        for name in self.gone() {
            self.knowledge_base.delete_document(name).await?;
            self.note(|state| state.report.deleted += 1);
        }
        Ok(())
    }
}

/// Why a document is not up to date.
enum Failure {
    /// The run goes on.
    OfFile(RagError),
    OfMore(RagError),
}

/// Whether other texts may do better.
fn is_about_texts(error: &cepa_core::Error) -> bool {
    use cepa_core::{ErrorKind, ErrorType};
    match error.kind() {
        ErrorKind::Model(error) => {
            !error.retryable
                && !matches!(error.kind, ErrorType::Authentication | ErrorType::Permission | ErrorType::Setup)
        }
        _ => true,
    }
}
