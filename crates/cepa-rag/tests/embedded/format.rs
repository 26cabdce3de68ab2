//! The files: what is read again, and what is not.

use std::fs;

use cepa_core::{DataBlock, Source};
use cepa_rag::{Chunk, MetadataValue, Position, VectorRecord, VectorStore as _};

use super::{collection, open, record};

#[tokio::test]
async fn everything_of_a_chunk_is_there_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut chunk = Chunk::new("a.png", DataBlock::new(Source::base64("QUJD", "image/png")))
        .with_position(Position::new().with_lines(3, 4));
    (chunk.chunk_index, chunk.total_chunks) = (7, 9);
    for (name, value) in [
        ("yes", true.into()),
        ("whole", i64::MIN.into()),
        ("round", 2.0.into()),
        ("third", (1.0 / 3.0).into()),
        ("least", f64::MIN_POSITIVE.into()),
        ("greatest", f64::MAX.into()),
        ("text", MetadataValue::from("é \u{0} 葱")),
    ] {
        chunk.metadata.insert(name.into(), value);
    }
    let mut store = open(&folder);
    store.ensure_collection(&collection(2)).await.unwrap();
    let record = VectorRecord::new("d", "v", chunk.clone(), vec![1.0, 0.0]);
    store.insert(&collection(2), vec![record]).await.unwrap();
    for is_again in [false, true] {
        if is_again {
            drop(store);
            store = open(&folder);
        }
        let chunks = store.list_chunks(&collection(2), "d", 0, 10, None).await.unwrap();
        assert_eq!(chunks, [chunk.clone()]);
        assert!(store.list_documents(&collection(2), None).await.unwrap()[0].metadata["round"] == 2.0.into());
    }
}

#[tokio::test]
async fn files_of_others_and_of_the_future() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("things/log");
    let store = open(&folder);
    store.ensure_collection(&collection(2)).await.unwrap();
    store.insert(&collection(2), vec![record("d", 0, "text", vec![1.0, 2.0])]).await.unwrap();
    drop(store);
    let good = fs::read(&log).unwrap();
    let mut newer = good.clone();
    newer[8] = 2;
    for (bytes, why) in [
        (newer, "format 2"),
        (b"some other file".to_vec(), "no collection of this store"),
        (Vec::new(), "no collection of this store"),
        (good[..20].to_vec(), "no collection of this store"),
    ] {
        fs::write(&log, &bytes).unwrap();
        let error = open(&folder).ensure_collection(&collection(2)).await.unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("things"), "{error}");
        assert_eq!(fs::read(&log).unwrap(), bytes, "it is left as it is");
    }
    fs::create_dir(folder.path().join("others")).unwrap();
    fs::write(folder.path().join("others/log"), good).unwrap();
    let others = cepa_rag::Collection::new("others", 2).unwrap();
    let error = open(&folder).ensure_collection(&others).await.unwrap_err().to_string();
    assert!(error.contains("the collection `things`"), "{error}");
}
