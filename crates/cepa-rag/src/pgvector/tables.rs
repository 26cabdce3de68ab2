//! The table of a collection, and its indexes.

use deadpool_postgres::Object;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::{PgVectorStore, STORE, failure, plain::plain, read, sql::column};
use crate::{Collection, MetadataKind, RagError};

/// Who holds this lock makes tables: `IF NOT EXISTS` alone fails for one of two who come at once.
const LOCK: i64 = 0x6365_7061_7261_6701;

/// The table, as statements name it. Letters, digits, `_` and `-` are all that either name holds.
pub(super) fn table(schema: &str, collection: &Collection) -> String {
    format!("\"{schema}\".\"{}\"", collection.name())
}

/// Makes what is missing.
pub(super) async fn ensure(store: &PgVectorStore, collection: &Collection) -> Result<(), RagError> {
    let dimensions = STORE.dimensions(collection)?;
    let most = if store.hnsw { 2000 } else { 16_000 };
    if dimensions > most {
        return Err(
            STORE.unsupported(format!("vectors have at most {most} dimensions here, not {dimensions}"))
        );
    }
    let connection = store.connection().await?;
    let indexes = indexes(store, collection);
    // Almost always all is there, and nobody need wait.
    if is_whole(&connection, store, collection, dimensions, &indexes).await? {
        return Ok(());
    }
    let mut connection = connection;
    let transaction = connection.transaction().await.map_err(failure)?;
    let table = table(&store.schema, collection);
    let schema = &store.schema;
    let mut statements = vec![format!("SELECT pg_advisory_xact_lock({LOCK})")];
    let extension = transaction
        .query_typed("SELECT 1 FROM pg_extension WHERE extname = 'vector'", &[])
        .await
        .map_err(failure)?;
    if extension.is_empty() {
        statements.push("CREATE EXTENSION IF NOT EXISTS vector".to_owned());
    }
    let known = transaction
        .query_typed("SELECT 1 FROM pg_namespace WHERE nspname = $1", &[(schema, Type::TEXT)])
        .await
        .map_err(failure)?;
    if known.is_empty() {
        statements.push(format!("CREATE SCHEMA IF NOT EXISTS \"{schema}\""));
    }
    statements.push(format!(
        "CREATE TABLE IF NOT EXISTS {table} (id uuid PRIMARY KEY, document_id text COLLATE \"C\" NOT NULL, \
         version text COLLATE \"C\" NOT NULL, source text NOT NULL, chunk_index bigint NOT NULL, \
         total_chunks bigint NOT NULL, chunk text NOT NULL, metadata jsonb NOT NULL, \
         embedding vector({dimensions}) NOT NULL)"
    ));
    for (name, of) in &indexes {
        statements.push(format!("CREATE INDEX IF NOT EXISTS \"{name}\" ON {table} {of}"));
    }
    for statement in statements {
        transaction.batch_execute(&statement).await.map_err(|error| {
            let denied = error.code() == Some(&tokio_postgres::error::SqlState::INSUFFICIENT_PRIVILEGE);
            match denied && statement.contains("EXTENSION") {
                true => STORE.nonsense(
                    "the database has no extension `vector`, and this user may not add it: let an administrator run \
                     `CREATE EXTENSION vector`",
                ),
                false => failure(error),
            }
        })?;
    }
    transaction.commit().await.map_err(failure)?;
    // Whoever was first has said how long vectors are.
    is_whole(&connection, store, collection, dimensions, &indexes).await.map(drop)
}

async fn is_whole(
    connection: &Object,
    store: &PgVectorStore,
    collection: &Collection,
    dimensions: usize,
    indexes: &[(String, String)],
) -> Result<bool, RagError> {
    let named: Vec<&str> = indexes.iter().map(|(name, _)| name.as_str()).collect();
    let found = connection
        .query_typed(
            "SELECT atttypmod, (SELECT count(*) FROM pg_indexes WHERE schemaname = $2 AND tablename = $3 AND \
             indexname = ANY($4)) FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'embedding'",
            &[
                (&table(&store.schema, collection), Type::TEXT),
                (&store.schema, Type::TEXT),
                (&collection.name(), Type::TEXT),
                (&named, Type::TEXT_ARRAY),
            ],
        )
        .await
        .map_err(failure)?;
    let Some(row) = found.first() else { return Ok(false) };
    let expected = usize::try_from(read::<i32>(row, 0)?).unwrap_or_default();
    if expected != dimensions {
        let place = format!("collection `{}`", collection.name());
        return Err(RagError::Dimensions { place, expected, found: dimensions });
    }
    Ok(usize::try_from(read::<i64>(row, 1)?) == Ok(named.len()))
}

/// The indexes: their names, and what they are of.
fn indexes(store: &PgVectorStore, collection: &Collection) -> Vec<(String, String)> {
    // Names are short, and one per schema.
    let name = |of: &str| {
        let name = format!("{} {of}", collection.name());
        format!("cepa_{}", Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).simple())
    };
    // A hash: ids may be longer than what a tree takes.
    let mut indexes = vec![(name("document"), "USING hash (document_id)".to_owned())];
    if store.hnsw {
        indexes.push((name("hnsw"), "USING hnsw (embedding vector_cosine_ops)".to_owned()));
    }
    for (field, kind) in collection.indexed() {
        let (before, after) = column(*kind);
        let field = plain(field).replace('\'', "''");
        // With `E`, a backslash would mean the same under every setting of the server.
        let literal = format!("E'{}'", field.replace('\\', "\\\\"));
        let way = if *kind == MetadataKind::Text { "hash " } else { "btree " };
        let of = format!("USING {way}({before}{literal}{after})");
        indexes.push((name(&of), of));
    }
    indexes.sort();
    indexes.dedup();
    indexes
}
