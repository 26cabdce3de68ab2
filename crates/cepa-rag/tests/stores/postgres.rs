//! PostgreSQL with pgvector, from the Python package that carries it.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use cepa_rag::{
    Collection, Filter, Metadata, MetadataKind, PgVectorStore, RagError, SearchRequest, VectorStore,
};
use tempfile::TempDir;

use crate::{
    data::{record, vectors, with_metadata},
    process::{Server, interpreter},
    suite,
};

/// A database, and the URL of it.
struct Database {
    server: Server,
    url: String,
    _folder: TempDir,
}

impl Database {
    fn start() -> Option<Self> {
        let python = interpreter("CEPA_PGVECTOR")?;
        let folder = tempfile::tempdir().unwrap();
        let (bin, data) = Self::programs(&python, folder.path());
        let user = |program: &str| Self::as_user(&bin.join(program));
        let made = user("initdb")
            .arg("-D")
            .arg(&data)
            .args(["-A", "trust", "-U", "postgres", "-N", "-E", "UTF8", "--locale=C"])
            .stdout(Stdio::null())
            .status();
        assert!(made.unwrap().success(), "initdb failed");
        let server = Server::start(|port| {
            let mut postgres = user("postgres");
            postgres.arg("-D").arg(&data).args(["-p", &port.to_string(), "-k", "", "-F"]);
            postgres.args(["-c", "listen_addresses=127.0.0.1"]).stderr(Stdio::null());
            postgres
        });
        let url = format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", server.port);
        Some(Self { server, url, _folder: folder })
    }

    /// Where the programs and the data are. PostgreSQL does not run as root: then both are where another user sees
    /// them.
    fn programs(python: &Path, folder: &Path) -> (PathBuf, PathBuf) {
        let find = "import importlib.util as u; print(u.find_spec('pgserver').submodule_search_locations[0])";
        let found = Command::new(python).args(["-c", find]).output().unwrap();
        let package = PathBuf::from(String::from_utf8(found.stdout).unwrap().trim());
        let data = folder.join("data");
        fs::create_dir(&data).unwrap();
        if !is_root() {
            return (package.join("pginstall/bin"), data);
        }
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        let libraries = package.with_file_name("pgserver.libs");
        for mut command in [Command::new("cp"), Command::new("chown")] {
            match command.get_program() == "cp" {
                true => command.arg("-a").args([&package, &libraries]).arg(folder),
                false => command.arg("65534:65534").arg(&data),
            };
            assert!(command.status().unwrap().success());
        }
        (folder.join("pgserver/pginstall/bin"), data)
    }

    fn as_user(program: &Path) -> Command {
        if !is_root() {
            return Command::new(program);
        }
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
            .arg(program)
            .current_dir("/");
        command
    }

    /// The server listens before it answers.
    async fn store(&self) -> PgVectorStore {
        let store = PgVectorStore::builder(&self.url).connections(4).build().unwrap();
        let probe = Collection::new("probe", 2).unwrap();
        for _ in 0..100 {
            match store.ensure_collection(&probe).await {
                Err(error) if error.is_transient() => tokio::time::sleep(Duration::from_millis(100)).await,
                result => {
                    result.unwrap();
                    return store;
                }
            }
        }
        panic!("the database does not answer");
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout.trim_ascii() == b"0"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pgvector_keeps_and_finds_as_every_store() {
    let Some(database) = Database::start() else { return };
    let store = database.store().await;
    let other = PgVectorStore::builder(&database.url).schema("elsewhere").connections(2).build().unwrap();
    // A schema is a place of its own, and is made by whoever comes first.
    let name = Collection::new("apart", 3).unwrap();
    other.ensure_collection(&name).await.unwrap();
    store.ensure_collection(&Collection::new("apart", 4).unwrap()).await.unwrap();

    let same = PgVectorStore::builder(&database.url).connections(4).build().unwrap();
    suite::run(Arc::new(store), Arc::new(same)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pgvector_with_an_index_of_vectors_finds_what_is_nearest() {
    let Some(database) = Database::start() else { return };
    let _ = database.store().await;
    let store = PgVectorStore::builder(&database.url).hnsw(true).build().unwrap();
    let collection = Collection::new("quick", 16).unwrap();
    store.ensure_collection(&collection).await.unwrap();
    let all = vectors(300, 16);
    let records =
        all.iter().enumerate().map(|(at, vector)| record(&format!("doc-{at}"), "1", 0, 1, vector.clone()));
    store.insert(&collection, records.collect()).await.unwrap();
    for (at, vector) in all.iter().enumerate().take(20) {
        let hits = store.search(&collection, SearchRequest::vector(vector, 3)).await.unwrap();
        assert_eq!(hits[0].document_id, format!("doc-{at}"));
        assert!((hits[0].score - 1.0).abs() < 1e-4 && hits.len() == 3);
    }
    let wide = Collection::new("wide", 2001).unwrap();
    let error = store.ensure_collection(&wide).await.unwrap_err();
    assert!(matches!(error, RagError::Unsupported { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pgvector_looks_metadata_up_in_their_indexes() {
    let Some(database) = Database::start() else { return };
    let store = database.store().await;
    let collection = Collection::new("by-index", 2)
        .unwrap()
        .with_index("team", MetadataKind::Text)
        .with_index("year", MetadataKind::Integer)
        .with_index("share", MetadataKind::Float)
        // named twice, and not next to each other
        .with_index("team", MetadataKind::Text);
    store.ensure_collection(&collection).await.unwrap();
    let records = (0..4000_u32).map(|at| {
        let metadata = Metadata::from_iter([
            ("team".to_owned(), format!("team-{at}").into()),
            ("year".to_owned(), at.into()),
            ("share".to_owned(), (f64::from(at) / 8.0).into()),
        ]);
        with_metadata(record(&format!("doc-{at}"), "1", 0, 1, vec![1.0, at as f32]), metadata)
    });
    store.insert(&collection, records.collect()).await.unwrap();
    let (client, connection) = tokio_postgres::connect(&database.url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("ANALYZE cepa.\"by-index\"").await.unwrap();
    let filters = [
        Filter::eq("team", "team-17"),
        Filter::gt("year", 3998),
        Filter::lt("share", 0.1),
        Filter::eq("year", 5),
    ];
    for filter in &filters {
        let request = SearchRequest::vector(&[1.0, 0.0], 5).with_filter(filter);
        assert_eq!(store.search(&collection, request).await.unwrap().len(), 1, "{filter:?}");
    }
    // A server counts what its connections did some time later.
    let scans = "SELECT i.indexdef, s.idx_scan FROM pg_stat_user_indexes s JOIN pg_indexes i \
                 ON i.schemaname = s.schemaname AND i.indexname = s.indexrelname \
                 WHERE s.schemaname = 'cepa' AND s.relname = 'by-index' AND i.indexdef LIKE '%metadata%'";
    let mut used = Vec::new();
    for _ in 0..150 {
        let rows = client.query(scans, &[]).await.unwrap();
        used = rows.iter().map(|row| (row.get::<_, String>(0), row.get::<_, i64>(1))).collect();
        assert_eq!(used.len(), 3, "{used:?}");
        if used.iter().all(|(_, scans)| *scans > 0) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("an index is not used: {used:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_dies_in_the_middle_of_indexing_keeps_whole_batches() {
    let Some(mut database) = Database::start() else { return };
    database.store().await;
    let store = PgVectorStore::builder(&database.url)
        .batch_size(20)
        .deadline(Duration::from_secs(10))
        .build()
        .unwrap();
    let collection = Collection::new("dies", 16).unwrap();
    store.ensure_collection(&collection).await.unwrap();
    let records: Vec<_> = (0..60_000).map(|at| record("long", "1", at, 60_000, vec![1.0; 16])).collect();
    let writing = tokio::spawn({
        let (store, collection) = (store.clone(), collection.clone());
        async move { store.insert(&collection, records).await }
    });
    // Not before something is kept.
    loop {
        let documents = store.list_documents(&collection, None).await.unwrap();
        if let Some(document) = documents.first() {
            assert!(document.chunk_count % 20 == 0 && !document.is_whole(), "{document:?}");
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    database.server.crash();
    let error = writing.await.unwrap().unwrap_err();
    assert!(error.is_transient(), "{error:?}");
    let error = store.list_documents(&collection, None).await.unwrap_err();
    assert!(error.is_transient() && error.to_string().contains("pgvector"), "{error:?}");
}
