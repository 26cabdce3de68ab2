//! [`ChromaStore`]: chunks in Chroma.

mod builder;
mod filter;
mod records;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use cepa_core::BoxFuture;
use cepa_http::{Http, Method, ServerError};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

pub use self::builder::ChromaStoreBuilder;
use crate::{
    Chunk, Collection, DocumentSummary, Filter, Hit, RagError, SearchRequest, VectorRecord, VectorStore,
    remote::{Pages, Ready, Store, batches, best, failure, is_too_large, page_of, summaries},
};

const STORE: Store = Store("chroma");
/// How large one upsert may grow. A record of a server of its own may be larger.
const BATCH_BYTES: usize = 8 << 20;
/// How many records are listed at once, and how many are fetched with their chunks.
const LIST: usize = 1000;
const FETCH: usize = 100;

/// A [`VectorStore`] in a Chroma server (1.x), over its REST API, or in Chroma Cloud.
///
/// A chunk is a record: its JSON is the record's document, its metadata are the record's, with their kinds before their
/// names (`integer.year`). Collections are made with cosine distance; one that is there with another is refused.
/// Searches are as exact as Chroma's index, which is approximate. Clones share their connections.
///
/// It refuses, by [`RagError::Unsupported`]: searches by words, collections without vectors, and filters by the order of
/// texts (`Filter::lt("name", "m")`).
///
/// ```no_run
/// # async fn run() -> Result<(), cepa_rag::RagError> {
/// use cepa_rag::{ChromaStore, Collection, VectorStore};
///
/// let store = ChromaStore::builder("http://127.0.0.1:8000").build()?;
/// store.ensure_collection(&Collection::new("handbook", 384)?).await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct ChromaStore {
    http: Http,
    /// `api/v2/tenants/…/databases/…/collections`.
    root: String,
    batch: usize,
    /// The ids of collections, by their names.
    ids: Arc<Mutex<HashMap<String, String>>>,
    most: Arc<OnceCell<usize>>,
}

impl ChromaStore {
    /// The server at this URL, such as `http://127.0.0.1:8000`.
    pub fn builder(url: impl Into<String>) -> ChromaStoreBuilder {
        ChromaStoreBuilder::new(url.into())
    }

    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, RagError> {
        self.http.call(method, path, body).await.map_err(|error| failure(STORE.0, error))
    }

    fn nonsense(&self, reason: &str) -> RagError {
        failure(STORE.0, self.http.nonsense(reason))
    }

    /// What is done with a collection, by its id. One that was made anew in between has another id.
    async fn ask(&self, collection: &Collection, what: &str, body: &Value) -> Result<Value, RagError> {
        for is_last in [false, true] {
            let (id, is_known) = self.id(collection).await?;
            match self.http.call(Method::POST, &format!("{}/{id}/{what}", self.root), Some(body)).await {
                Err(ServerError::Refused { status: 404, .. }) if is_known && !is_last => {
                    self.ids().remove(collection.name());
                }
                answer => return answer.map_err(|error| failure(STORE.0, error)),
            }
        }
        Err(self.nonsense("a collection that comes and goes"))
    }

    fn ids(&self) -> std::sync::MutexGuard<'_, HashMap<String, String>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id of a collection, and whether it was known already.
    async fn id(&self, collection: &Collection) -> Result<(String, bool), RagError> {
        let known = self.ids().get(collection.name()).cloned();
        if let Some(id) = known {
            return Ok((id, true));
        }
        let answer = self.call(Method::GET, &format!("{}/{}", self.root, collection.name()), None).await?;
        Ok((self.keep_id(collection, &answer)?, false))
    }

    fn keep_id(&self, collection: &Collection, answer: &Value) -> Result<String, RagError> {
        let id = answer["id"].as_str().filter(|id| id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-'));
        let id = id.ok_or_else(|| self.nonsense("a collection without an `id`"))?;
        self.ids().insert(collection.name().to_owned(), id.to_owned());
        Ok(id.to_owned())
    }

    /// How many records the server takes at once.
    async fn most(&self) -> Result<usize, RagError> {
        let most = self.most.get_or_try_init(|| async {
            let answer = self.call(Method::GET, "api/v2/pre-flight-checks", None).await?;
            let most = answer["max_batch_size"].as_u64().and_then(|most| usize::try_from(most).ok());
            most.ok_or_else(|| self.nonsense("pre-flight checks without a `max_batch_size`"))
        });
        Ok((*most.await?).clamp(1, self.batch))
    }

    async fn put(&self, collection: &Collection, records: &[Ready]) -> Result<(), RagError> {
        // What an upsert does not name stays as it was: metadata of a record that is replaced are struck out.
        let ids: Vec<_> = records.iter().map(|record| record.id.to_string()).collect();
        let body = json!({"ids": ids, "include": ["metadatas"]});
        let answer = self.ask(collection, "get", &body).await?;
        let before = records::by_id(&answer, "metadatas")
            .ok_or_else(|| self.nonsense("records without `metadatas`"))?;
        let metadatas = records.iter().zip(&ids).map(|(record, id)| {
            let mut metadata = records::metadata(record);
            for name in before.get(id.as_str()).and_then(|before| before.as_object()).into_iter().flatten() {
                metadata.entry(name.0.as_str()).or_insert(Value::Null);
            }
            metadata
        });
        let body = json!({
            "ids": ids,
            "embeddings": records.iter().map(|record| &record.vector).collect::<Vec<_>>(),
            "documents": records.iter().map(|record| &record.json).collect::<Vec<_>>(),
            "metadatas": metadatas.collect::<Vec<_>>(),
        });
        self.ask(collection, "upsert", &body).await.map(drop)
    }

    /// The documents of these records, which are their chunks, by their ids.
    async fn chunks(
        &self,
        collection: &Collection,
        ids: &[String],
    ) -> Result<HashMap<String, String>, RagError> {
        let mut chunks = HashMap::new();
        let mut pages = Pages::of(ids, FETCH);
        while let Some(ids) = pages.page() {
            let body = json!({"ids": ids, "include": ["documents"]});
            let answer = match self.ask(collection, "get", &body).await {
                Ok(answer) => answer,
                Err(error) => {
                    pages.halve(error)?;
                    continue;
                }
            };
            let found = records::by_id(&answer, "documents")
                .ok_or_else(|| self.nonsense("records without `documents`"))?;
            chunks.extend(
                found.into_iter().filter_map(|(id, chunk)| Some((id.to_owned(), chunk.as_str()?.to_owned()))),
            );
            pages.next();
        }
        Ok(chunks)
    }

    /// What is needed to list the records that fit.
    async fn list(
        &self,
        collection: &Collection,
        condition: Option<&Value>,
    ) -> Result<Vec<crate::remote::Row>, RagError> {
        let mut rows = Vec::new();
        let (mut offset, mut limit) = (0, LIST);
        loop {
            let mut body = json!({"include": ["metadatas"], "limit": limit, "offset": offset});
            if let Some(condition) = condition {
                body["where"] = condition.clone();
            }
            let answer = match self.ask(collection, "get", &body).await {
                Err(error) if is_too_large(&error) && limit > 1 => {
                    limit /= 2;
                    continue;
                }
                answer => answer?,
            };
            let found = records::by_id(&answer, "metadatas")
                .ok_or_else(|| self.nonsense("records without `metadatas`"))?;
            let count = found.len();
            offset += count;
            // Records of others in the same collection are none of ours.
            rows.extend(found.into_iter().filter_map(|(id, known)| records::row(id, known)));
            if count < limit {
                return Ok(rows);
            }
        }
    }
}

impl VectorStore for ChromaStore {
    fn name(&self) -> &str {
        STORE.0
    }

    fn ensure_collection<'a>(&'a self, collection: &'a Collection) -> BoxFuture<'a, Result<(), RagError>> {
        Box::pin(async move {
            let found = STORE.dimensions(collection)?;
            let body = json!({
                "name": collection.name(),
                "get_or_create": true,
                "configuration": {"hnsw": {"space": "cosine"}},
                "metadata": {"cepa_dimensions": found},
            });
            let answer = self.call(Method::POST, &self.root, Some(&body)).await?;
            self.keep_id(collection, &answer)?;
            let of = &answer["configuration_json"];
            let space = of["hnsw"]["space"].as_str().or_else(|| of["spann"]["space"].as_str());
            if let Some(space) = space.filter(|space| *space != "cosine") {
                return Err(RagError::Settings(format!(
                    "collection `{}` measures distances by `{space}` and not by `cosine`: take another name",
                    collection.name()
                )));
            }
            let there =
                answer["dimension"].as_u64().or_else(|| answer["metadata"]["cepa_dimensions"].as_u64());
            match there.and_then(|there| usize::try_from(there).ok()) {
                Some(expected) if expected != found => {
                    let place = format!("collection `{}`", collection.name());
                    Err(RagError::Dimensions { place, expected, found })
                }
                _ => Ok(()),
            }
        })
    }

    fn insert<'a>(
        &'a self,
        collection: &'a Collection,
        records: Vec<VectorRecord>,
    ) -> BoxFuture<'a, Result<(), RagError>> {
        Box::pin(async move {
            let records = STORE.ready(collection, records)?;
            if records.is_empty() {
                return Ok(());
            }
            for batch in batches(records, self.most().await?, BATCH_BYTES) {
                self.put(collection, &batch).await?;
            }
            Ok(())
        })
    }

    fn delete<'a>(
        &'a self,
        collection: &'a Collection,
        document_id: &'a str,
        but_version: Option<&'a str>,
        filter: Option<&'a Filter>,
    ) -> BoxFuture<'a, Result<(), RagError>> {
        Box::pin(async move {
            match filter::condition(Some(document_id), but_version, filter)? {
                filter::Condition::None => Ok(()),
                condition => {
                    let body = json!({"where": condition.value()});
                    self.ask(collection, "delete", &body).await.map(drop)
                }
            }
        })
    }

    fn search<'a>(
        &'a self,
        collection: &'a Collection,
        request: SearchRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<Hit>, RagError>> {
        Box::pin(async move {
            let vector = STORE.query(collection, &request)?;
            let condition = filter::condition(None, None, request.filter)?;
            if matches!(condition, filter::Condition::None) || request.top_k == 0 {
                return Ok(Vec::new());
            }
            let most = request.top_k.min(i32::MAX as usize);
            let mut body = json!({
                "query_embeddings": [vector],
                "n_results": most,
                "include": ["documents", "metadatas", "distances"],
            });
            if let Some(condition) = condition.value() {
                body["where"] = condition.clone();
            }
            let answer = self.ask(collection, "query", &body).await;
            let is_short = answer.as_ref().is_err_and(is_too_large);
            let mut answer = match is_short {
                false => answer?,
                // Without the chunks, which are fetched in pages.
                true => {
                    body["include"] = json!(["metadatas", "distances"]);
                    self.ask(collection, "query", &body).await?
                }
            };
            if is_short {
                let ids: Vec<String> = serde_json::from_value(answer["ids"][0].take()).unwrap_or_default();
                let chunks = self.chunks(collection, &ids).await?;
                answer["documents"] = json!([ids.iter().map(|id| chunks.get(id)).collect::<Vec<_>>()]);
            }
            let hits = records::hits(&answer).map_err(|reason| match reason {
                Some(error) => error,
                None => self.nonsense("a search without `documents`, `metadatas` and `distances`"),
            })?;
            Ok(best(hits, &request))
        })
    }

    fn list_documents<'a>(
        &'a self,
        collection: &'a Collection,
        filter: Option<&'a Filter>,
    ) -> BoxFuture<'a, Result<Vec<DocumentSummary>, RagError>> {
        Box::pin(async move {
            match filter::condition(None, None, filter)? {
                filter::Condition::None => Ok(Vec::new()),
                condition => Ok(summaries(self.list(collection, condition.value()).await?)),
            }
        })
    }

    fn list_chunks<'a>(
        &'a self,
        collection: &'a Collection,
        document_id: &'a str,
        offset: u32,
        limit: u32,
        filter: Option<&'a Filter>,
    ) -> BoxFuture<'a, Result<Vec<Chunk>, RagError>> {
        Box::pin(async move {
            let rows = match filter::condition(Some(document_id), None, filter)? {
                filter::Condition::None => return Ok(Vec::new()),
                condition => self.list(collection, condition.value()).await?,
            };
            let ids = page_of(rows, offset, limit);
            let chunks = self.chunks(collection, &ids).await?;
            ids.iter().filter_map(|id| chunks.get(id)).map(|chunk| STORE.chunk(chunk)).collect()
        })
    }
}
