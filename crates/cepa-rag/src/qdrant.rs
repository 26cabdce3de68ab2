//! [`QdrantStore`]: chunks in Qdrant.

mod builder;
mod filter;
mod points;

use std::collections::HashMap;

use cepa_core::BoxFuture;
use cepa_http::{Http, Method, ServerError};
use serde_json::{Value, json};

pub use self::builder::QdrantStoreBuilder;
use crate::{
    Chunk, Collection, DocumentSummary, Filter, Hit, MetadataKind, RagError, SearchRequest, VectorRecord,
    VectorStore,
    remote::{Pages, Ready, Row, Store, batches, best, failure, is_too_large, page_of, summaries},
};

const STORE: Store = Store("qdrant");
/// How large one upsert may grow; the server's own limit is 32 MiB.
const BATCH_BYTES: usize = 16 << 20;
/// How many points are listed at once, and how many are fetched with their chunks.
const LIST: u32 = 1000;
const FETCH: usize = 100;

/// A [`VectorStore`] in a Qdrant server or cluster (1.10 or later), over its REST API.
///
/// A chunk is a point: its JSON is `chunk` in the payload, its metadata stand by their kinds (`integer.year`).
/// Collections are made with cosine distance; one that is there with another is refused. Metadata that a
/// [`Collection`] names get a payload index each. Searches are approximate in collections that Qdrant has indexed, or
/// [`exact`](QdrantStoreBuilder::exact). Clones share their connections.
///
/// It refuses, by [`RagError::Unsupported`]: searches by words, collections without vectors, filters by the order of
/// texts (`Filter::lt("name", "m")`), and by the order of whole numbers from 2^53 on, which Qdrant rounds.
///
/// ```no_run
/// # async fn run() -> Result<(), cepa_rag::RagError> {
/// use cepa_rag::{Collection, MetadataKind, QdrantStore, VectorStore};
///
/// let store = QdrantStore::builder("http://127.0.0.1:6333").build()?;
/// let handbook = Collection::new("handbook", 384)?.with_index("team", MetadataKind::Text);
/// store.ensure_collection(&handbook).await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct QdrantStore {
    http: Http,
    batch: usize,
    exact: bool,
    /// How collections are made in a cluster, by Qdrant's names.
    cluster: Vec<(&'static str, u32)>,
}

impl QdrantStore {
    /// The server at this URL, such as `http://127.0.0.1:6333`.
    pub fn builder(url: impl Into<String>) -> QdrantStoreBuilder {
        QdrantStoreBuilder::new(url.into())
    }

    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, RagError> {
        let mut answer = self.http.call(method, path, body).await.map_err(|error| failure(STORE.0, error))?;
        match answer.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(self.nonsense("an answer without `result`")),
        }
    }

    fn nonsense(&self, reason: &str) -> RagError {
        failure(STORE.0, self.http.nonsense(reason))
    }

    /// What the collection is, if it is there.
    async fn known(&self, collection: &Collection) -> Result<Option<Value>, RagError> {
        let path = format!("collections/{}", collection.name());
        match self.http.call(Method::GET, &path, None::<&()>).await {
            Ok(mut answer) => Ok(Some(answer["result"].take())),
            Err(ServerError::Refused { status: 404, .. }) => Ok(None),
            Err(error) => Err(failure(STORE.0, error)),
        }
    }

    async fn create(&self, collection: &Collection, dimensions: usize) -> Result<Value, RagError> {
        let path = format!("collections/{}", collection.name());
        let mut body = json!({"vectors": {"size": dimensions, "distance": "Cosine"}});
        for (setting, number) in &self.cluster {
            body[*setting] = (*number).into();
        }
        let created = self.http.call(Method::PUT, &path, Some(&body)).await;
        // Whoever comes second is refused, and finds it.
        match (self.known(collection).await?, created) {
            (Some(known), _) => Ok(known),
            (None, Err(error)) => Err(failure(STORE.0, error)),
            (None, Ok(_)) => Err(self.nonsense("a collection that was made and is not there")),
        }
    }

    async fn ensure(&self, collection: &Collection) -> Result<(), RagError> {
        let found = STORE.dimensions(collection)?;
        let known = match self.known(collection).await? {
            Some(known) => known,
            None => self.create(collection, found).await?,
        };
        let vectors = &known["config"]["params"]["vectors"];
        let Some(expected) = vectors["size"].as_u64().and_then(|size| usize::try_from(size).ok()) else {
            return Err(RagError::Settings(format!(
                "collection `{}` is not one of this crate's, with one vector per point: take another name",
                collection.name()
            )));
        };
        if expected != found {
            let place = format!("collection `{}`", collection.name());
            return Err(RagError::Dimensions { place, expected, found });
        }
        if let Some(distance) = vectors["distance"].as_str().filter(|distance| *distance != "Cosine") {
            return Err(RagError::Settings(format!(
                "collection `{}` measures distances by `{distance}` and not by `Cosine`: take another name",
                collection.name()
            )));
        }
        let own = ["document_id", "version"].map(|field| (field.to_owned(), MetadataKind::Text));
        let named = collection.indexed().iter().map(|(field, kind)| (points::key(*kind, field), *kind));
        for (field, kind) in own.into_iter().chain(named) {
            if !known["payload_schema"][&field].is_null() {
                continue;
            }
            let schema = match kind {
                MetadataKind::Bool => "bool",
                MetadataKind::Integer => "integer",
                MetadataKind::Float => "float",
                MetadataKind::Text => "keyword",
            };
            let body = json!({"field_name": field, "field_schema": schema});
            let path = format!("collections/{}/index?wait=true", collection.name());
            self.call(Method::PUT, &path, Some(&body)).await?;
        }
        Ok(())
    }

    async fn put(&self, collection: &Collection, records: Vec<Ready>) -> Result<(), RagError> {
        let points: Vec<_> = records.into_iter().map(points::point).collect();
        let path = format!("collections/{}/points?wait=true", collection.name());
        let result = self.call(Method::PUT, &path, Some(&json!({"points": points}))).await?;
        self.completed(&result)
    }

    /// With `wait`, what is done is done, or the server had no time for it.
    fn completed(&self, result: &Value) -> Result<(), RagError> {
        match result["status"].as_str() {
            Some("completed") => Ok(()),
            status => Err(RagError::Service {
                service: STORE.0.to_owned(),
                reason: format!("it has not finished in time ({})", status.unwrap_or("no status")),
                is_transient: true,
                source: None,
            }),
        }
    }

    /// The chunks of these points, by their ids.
    async fn chunks(
        &self,
        collection: &Collection,
        ids: &[String],
    ) -> Result<HashMap<String, String>, RagError> {
        let path = format!("collections/{}/points", collection.name());
        let mut chunks = HashMap::new();
        let mut pages = Pages::of(ids, FETCH);
        while let Some(ids) = pages.page() {
            let body = json!({"ids": ids, "with_payload": ["chunk"], "with_vector": false});
            let answer = match self.call(Method::POST, &path, Some(&body)).await {
                Ok(answer) => answer,
                Err(error) => {
                    pages.halve(error)?;
                    continue;
                }
            };
            let found = answer.as_array().ok_or_else(|| self.nonsense("points that are no list"))?;
            chunks.extend(found.iter().filter_map(|point| {
                Some((point["id"].as_str()?.to_owned(), point["payload"]["chunk"].as_str()?.to_owned()))
            }));
            pages.next();
        }
        Ok(chunks)
    }

    /// What is needed to list the points that fit.
    async fn list(&self, collection: &Collection, filter: Option<&Value>) -> Result<Vec<Row>, RagError> {
        let path = format!("collections/{}/points/scroll", collection.name());
        let mut rows = Vec::new();
        let (mut offset, mut limit) = (Value::Null, LIST);
        loop {
            let mut body =
                json!({"limit": limit, "with_payload": {"exclude": ["chunk"]}, "with_vector": false});
            if let Some(filter) = filter {
                body["filter"] = filter.clone();
            }
            if !offset.is_null() {
                body["offset"] = offset.clone();
            }
            let mut page = match self.call(Method::POST, &path, Some(&body)).await {
                Err(error) if is_too_large(&error) && limit > 1 => {
                    limit /= 2;
                    continue;
                }
                page => page?,
            };
            let points = page["points"].as_array().ok_or_else(|| self.nonsense("a page without `points`"))?;
            // Points of others in the same collection are none of ours.
            rows.extend(points.iter().filter_map(points::row));
            let next = page["next_page_offset"].take();
            if next.is_null() {
                return Ok(rows);
            }
            if next == offset {
                return Err(self.nonsense("a page that is followed by itself"));
            }
            offset = next;
        }
    }
}

impl VectorStore for QdrantStore {
    fn name(&self) -> &str {
        STORE.0
    }

    fn ensure_collection<'a>(&'a self, collection: &'a Collection) -> BoxFuture<'a, Result<(), RagError>> {
        Box::pin(self.ensure(collection))
    }

    fn insert<'a>(
        &'a self,
        collection: &'a Collection,
        records: Vec<VectorRecord>,
    ) -> BoxFuture<'a, Result<(), RagError>> {
        Box::pin(async move {
            let records = STORE.ready(collection, records)?;
            for batch in batches(records, self.batch, BATCH_BYTES) {
                self.put(collection, batch).await?;
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
            let Some(filter) = filter::points(Some(document_id), but_version, filter)? else { return Ok(()) };
            let path = format!("collections/{}/points/delete?wait=true", collection.name());
            let result = self.call(Method::POST, &path, Some(&json!({"filter": filter}))).await?;
            self.completed(&result)
        })
    }

    fn search<'a>(
        &'a self,
        collection: &'a Collection,
        request: SearchRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<Hit>, RagError>> {
        Box::pin(async move {
            let vector = STORE.query(collection, &request)?;
            let Some(filter) = filter::points(None, None, request.filter)? else { return Ok(Vec::new()) };
            if request.top_k == 0 {
                return Ok(Vec::new());
            }
            let mut body = json!({
                "query": vector,
                "limit": request.top_k,
                "filter": filter,
                "params": {"exact": self.exact},
                "with_payload": {"include": ["document_id", "chunk"]},
                "with_vector": false,
            });
            let path = format!("collections/{}/points/query", collection.name());
            let answer = self.call(Method::POST, &path, Some(&body)).await;
            let is_short = answer.as_ref().is_err_and(is_too_large);
            let mut answer = match is_short {
                false => answer?,
                // Without the chunks, which are fetched in pages.
                true => {
                    body["with_payload"] = json!({"include": ["document_id"]});
                    self.call(Method::POST, &path, Some(&body)).await?
                }
            };
            let found =
                answer["points"].as_array_mut().ok_or_else(|| self.nonsense("a search without `points`"))?;
            if is_short {
                let ids: Vec<_> =
                    found.iter().filter_map(|point| point["id"].as_str().map(str::to_owned)).collect();
                let mut chunks = self.chunks(collection, &ids).await?;
                for point in found.iter_mut() {
                    let chunk = point["id"].as_str().and_then(|id| chunks.remove(id));
                    point["payload"]["chunk"] = chunk.into();
                }
            }
            let hits = found.iter().filter_map(points::hit).collect::<Result<Vec<_>, _>>()?;
            Ok(best(hits, &request))
        })
    }

    fn list_documents<'a>(
        &'a self,
        collection: &'a Collection,
        filter: Option<&'a Filter>,
    ) -> BoxFuture<'a, Result<Vec<DocumentSummary>, RagError>> {
        Box::pin(async move {
            let Some(filter) = filter::points(None, None, filter)? else { return Ok(Vec::new()) };
            Ok(summaries(self.list(collection, Some(&filter)).await?))
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
            let Some(filter) = filter::points(Some(document_id), None, filter)? else {
                return Ok(Vec::new());
            };
            let rows = self.list(collection, Some(&filter)).await?;
            let ids = page_of(rows, offset, limit);
            let chunks = self.chunks(collection, &ids).await?;
            // They came in any order.
            ids.iter().filter_map(|id| chunks.get(id)).map(|chunk| STORE.chunk(chunk)).collect()
        })
    }
}
