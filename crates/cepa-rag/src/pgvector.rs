//! [`PgVectorStore`]: chunks in PostgreSQL.

mod builder;
mod plain;
mod sql;
mod tables;
mod tls;

use std::{fmt, time::Duration};

use cepa_core::BoxFuture;
use deadpool_postgres::{Object, Pool};
use serde_json::Value;
use tokio_postgres::{Row, types::Type};

pub use self::builder::PgVectorStoreBuilder;
use self::{
    plain::{plain, unplain},
    sql::Sql,
};
use crate::{
    Chunk, Collection, DocumentSummary, Filter, Hit, RagError, SearchRequest, VectorRecord, VectorStore,
    remote::{Ready, Store, batches, best, fields, metadata},
};

const STORE: Store = Store("pgvector");
/// How large one `INSERT` may grow.
const BATCH_BYTES: usize = 16 << 20;

/// A [`VectorStore`] in PostgreSQL with the extension `vector` (pgvector 0.5 or later).
///
/// A collection is a table of the schema `cepa`, with one row per chunk: the chunk as JSON in `chunk`, its metadata by
/// their kinds in `metadata` (`{"integer": {"year": 2024}}`), and `embedding`. Metadata that a [`Collection`] names get
/// an index each. Searches are exact; [`hnsw`](PgVectorStoreBuilder::hnsw) makes those without a filter quicker and
/// approximate. Clones share their connections.
///
/// It does not search by words, and is refused collections without vectors.
///
/// ```no_run
/// # async fn run() -> Result<(), cepa_rag::RagError> {
/// use cepa_rag::{Collection, MetadataKind, PgVectorStore, VectorStore};
///
/// let store = PgVectorStore::builder("postgres://cepa@127.0.0.1/knowledge").build()?;
/// let handbook = Collection::new("handbook", 384)?.with_index("team", MetadataKind::Text);
/// store.ensure_collection(&handbook).await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct PgVectorStore {
    pool: Pool,
    schema: String,
    deadline: Duration,
    batch: usize,
    hnsw: bool,
}

impl PgVectorStore {
    /// The database at this URL (`postgres://user:password@host/database`), or of these settings
    /// (`host=… user=… dbname=…`).
    pub fn builder(url: impl Into<String>) -> PgVectorStoreBuilder {
        PgVectorStoreBuilder::new(url.into())
    }

    /// Work that ends within the deadline. A connection that was left in the middle of it is not used again before
    /// it answers.
    async fn within<T>(&self, work: impl Future<Output = Result<T, RagError>>) -> Result<T, RagError> {
        match tokio::time::timeout(self.deadline, work).await {
            Ok(result) => result,
            Err(_) => Err(RagError::Service {
                service: STORE.0.to_owned(),
                reason: format!("it has not answered within {:?}", self.deadline),
                is_transient: true,
                source: None,
            }),
        }
    }

    async fn connection(&self) -> Result<Object, RagError> {
        self.pool.get().await.map_err(|error| RagError::Service {
            service: STORE.0.to_owned(),
            reason: format!("no connection: {}", innermost(&error)),
            is_transient: !matches!(&error, deadpool_postgres::PoolError::Backend(error) if is_lasting(error)),
            source: Some(error.into()),
        })
    }

    async fn rows(&self, sql: Sql) -> Result<Vec<Row>, RagError> {
        let connection = self.connection().await?;
        connection.query_typed(&sql.text, &sql.values()).await.map_err(failure)
    }

    fn table(&self, collection: &Collection) -> String {
        tables::table(&self.schema, collection)
    }

    async fn put(&self, collection: &Collection, records: Vec<Ready>) -> Result<(), RagError> {
        let mut sql = Sql::new(format!("INSERT INTO {} ", self.table(collection)));
        let mut columns: [Vec<String>; 6] = Default::default();
        let (mut ids, mut indexes, mut totals) = (Vec::new(), Vec::new(), Vec::new());
        for record in records {
            let fields = fields(&record.chunk.metadata, plain);
            let vector = serde_json::to_string(&record.vector).unwrap_or_default();
            ids.push(record.id);
            indexes.push(i64::from(record.chunk.chunk_index));
            totals.push(i64::from(record.chunk.total_chunks));
            let row = [
                plain(&record.document_id),
                plain(&record.version),
                plain(&record.chunk.source),
                record.json,
                Value::Object(text_in(fields)).to_string(),
                vector,
            ];
            for (column, value) in columns.iter_mut().zip(row) {
                column.push(value);
            }
        }
        let [documents, versions, sources, chunks, metadata, vectors] = columns;
        sql.push(
            "(id, document_id, version, source, chunk_index, total_chunks, chunk, metadata, embedding) ",
        );
        sql.push(
            "SELECT id, document, version, source, index, total, chunk, metadata::jsonb, vector::vector ",
        );
        sql.push("FROM unnest(");
        sql.value(ids, Type::UUID_ARRAY);
        for texts in [documents, versions, sources] {
            sql.push(", ").value(texts, Type::TEXT_ARRAY);
        }
        for numbers in [indexes, totals] {
            sql.push(", ").value(numbers, Type::INT8_ARRAY);
        }
        for texts in [chunks, metadata, vectors] {
            sql.push(", ").value(texts, Type::TEXT_ARRAY);
        }
        sql.push(") AS new (id, document, version, source, index, total, chunk, metadata, vector) ");
        sql.push(
            "ON CONFLICT (id) DO UPDATE SET source = EXCLUDED.source, total_chunks = EXCLUDED.total_chunks, ",
        );
        sql.push("chunk = EXCLUDED.chunk, metadata = EXCLUDED.metadata, embedding = EXCLUDED.embedding");
        self.within(self.rows(sql)).await.map(drop)
    }

    async fn found(
        &self,
        collection: &Collection,
        vector: &[f32],
        request: &SearchRequest<'_>,
    ) -> Result<Vec<Hit>, RagError> {
        let vector = serde_json::to_string(vector).unwrap_or_default();
        let most = i64::try_from(request.top_k).unwrap_or(i64::MAX);
        let mut sql = Sql::new("SELECT document_id, chunk, ");
        // With a vector of length 0 the distance is no number.
        sql.push("coalesce(nullif(1 - (embedding <=> ").value(vector, Type::TEXT);
        sql.push("::text::vector), 'NaN'::float8), 0) AS score FROM ").push(&self.table(collection));
        let approximate = self.hnsw && request.filter.is_none();
        let connection = self.connection().await?;
        let rows = if approximate {
            sql.push(" ORDER BY embedding <=> $1::text::vector LIMIT ").value(most, Type::INT8);
            let wide = most.clamp(40, 1000);
            let mut connection = connection;
            let transaction = connection.transaction().await.map_err(failure)?;
            let set = format!("SET LOCAL hnsw.ef_search = {wide}");
            transaction.batch_execute(&set).await.map_err(failure)?;
            let rows = transaction.query_typed(&sql.text, &sql.values()).await.map_err(failure)?;
            transaction.commit().await.map_err(failure)?;
            rows
        } else {
            sql.filtered(" WHERE ", request.filter);
            sql.push(" ORDER BY score DESC, id LIMIT ").value(most, Type::INT8);
            connection.query_typed(&sql.text, &sql.values()).await.map_err(failure)?
        };
        let hits = rows.into_iter().map(|row| {
            let (document, chunk): (String, String) = (read(&row, 0)?, read(&row, 1)?);
            #[expect(clippy::cast_possible_truncation, reason = "scores are no more exact than vectors")]
            let score = read::<f64>(&row, 2)?.clamp(-1.0, 1.0) as f32;
            Ok(Hit::new(score, unplain(&document), STORE.chunk(&chunk)?))
        });
        hits.collect()
    }
}

impl VectorStore for PgVectorStore {
    fn name(&self) -> &str {
        STORE.0
    }

    fn ensure_collection<'a>(&'a self, collection: &'a Collection) -> BoxFuture<'a, Result<(), RagError>> {
        Box::pin(self.within(tables::ensure(self, collection)))
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
            let mut sql = Sql::new(format!("DELETE FROM {} WHERE document_id = ", self.table(collection)));
            sql.value(plain(document_id), Type::TEXT);
            if let Some(version) = but_version {
                sql.push(" AND version <> ").value(plain(version), Type::TEXT);
            }
            sql.filtered(" AND ", filter);
            self.within(self.rows(sql)).await.map(drop)
        })
    }

    fn search<'a>(
        &'a self,
        collection: &'a Collection,
        request: SearchRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<Hit>, RagError>> {
        Box::pin(async move {
            let vector = STORE.query(collection, &request)?;
            let hits = self.within(self.found(collection, &vector, &request)).await?;
            Ok(best(hits, &request))
        })
    }

    fn list_documents<'a>(
        &'a self,
        collection: &'a Collection,
        filter: Option<&'a Filter>,
    ) -> BoxFuture<'a, Result<Vec<DocumentSummary>, RagError>> {
        Box::pin(async move {
            let mut sql =
                Sql::new("SELECT DISTINCT ON (document_id, version) document_id, version, source, ");
            sql.push("total_chunks, metadata::text, count(*) OVER (PARTITION BY document_id, version) FROM ");
            sql.push(&self.table(collection)).filtered(" WHERE ", filter);
            sql.push(" ORDER BY document_id, version, chunk_index");
            let rows = self.within(self.rows(sql)).await?;
            let documents = rows.iter().map(|row| {
                let text = |column| read::<String>(row, column).map(|text| unplain(&text));
                let number =
                    |column| read::<i64>(row, column).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
                let known: Value = serde_json::from_str(&read::<String>(row, 4)?)
                    .map_err(|error| STORE.nonsense(error.to_string()))?;
                let known = metadata(&text_out(known), unplain);
                let document = DocumentSummary::new(text(0)?, text(2)?, text(1)?, number(5)?, number(3)?);
                Ok(document.with_metadata(known))
            });
            documents.collect()
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
            let mut sql =
                Sql::new(format!("SELECT chunk FROM {} WHERE document_id = ", self.table(collection)));
            sql.value(plain(document_id), Type::TEXT).filtered(" AND ", filter);
            sql.push(" ORDER BY chunk_index, version COLLATE \"C\" LIMIT ")
                .value(i64::from(limit), Type::INT8);
            sql.push(" OFFSET ").value(i64::from(offset), Type::INT8);
            let rows = self.within(self.rows(sql)).await?;
            rows.iter().map(|row| STORE.chunk(&read::<String>(row, 0)?)).collect()
        })
    }
}

/// Texts in `metadata` hold no NUL.
fn text_in(mut fields: serde_json::Map<String, Value>) -> serde_json::Map<String, Value> {
    for_texts(fields.get_mut("text"), plain);
    fields
}

fn text_out(mut fields: Value) -> Value {
    for_texts(fields.get_mut("text"), unplain);
    fields
}

fn for_texts(texts: Option<&mut Value>, change: impl Fn(&str) -> String) {
    for text in texts.and_then(Value::as_object_mut).into_iter().flat_map(|texts| texts.values_mut()) {
        *text = text.as_str().map_or(Value::Null, |text| change(text).into());
    }
}

fn read<'a, T: tokio_postgres::types::FromSql<'a>>(row: &'a Row, column: usize) -> Result<T, RagError> {
    row.try_get(column).map_err(|error| STORE.nonsense(format!("its table is not this crate's ({error})")))
}

fn failure(error: tokio_postgres::Error) -> RagError {
    RagError::Service {
        service: STORE.0.to_owned(),
        reason: innermost(&error),
        is_transient: !is_lasting(&error),
        source: Some(error.into()),
    }
}

/// Whether the same would fail again. What the server does not answer for is the connection's trouble.
fn is_lasting(error: &tokio_postgres::Error) -> bool {
    let code = error.as_db_error().map(|error| error.code().code());
    // Classes: connection, rollback (deadlocks), resources, operator (shutdown, timeout), system.
    code.is_some_and(|code| !["08", "40", "53", "57", "58"].iter().any(|class| code.starts_with(class)))
}

/// The innermost cause says most.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

impl fmt::Debug for PgVectorStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the pool, whose settings hold the password.
        f.debug_struct("PgVectorStore")
            .field("schema", &self.schema)
            .field("deadline", &self.deadline)
            .field("batch", &self.batch)
            .field("hnsw", &self.hnsw)
            .finish_non_exhaustive()
    }
}
