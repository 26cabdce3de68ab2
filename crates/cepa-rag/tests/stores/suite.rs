//! What holds for every store.

mod documents;
mod making;
mod odd;
mod searching;

use std::sync::Arc;

use cepa_rag::{Collection, VectorRecord, VectorStore};

/// All of it, with two handles of one place.
pub(crate) async fn run(store: Arc<dyn VectorStore>, other: Arc<dyn VectorStore>) {
    making::many_make_one_collection(&store, &other).await;
    making::other_dimensions_are_told(&*store).await;
    making::an_empty_collection_has_nothing(&*store).await;
    searching::the_nearest_come_first(&*store).await;
    searching::a_filter_finds_what_it_matches(&*store).await;
    searching::what_a_store_cannot_do_is_refused(&*store).await;
    documents::records_are_replaced(&*store).await;
    documents::old_versions_are_deleted(&*store).await;
    documents::deletions_are_filtered(&*store).await;
    documents::documents_are_listed_by_version(&*store).await;
    documents::chunks_are_listed_by_page(&*store).await;
    odd::odd_texts_come_back(&*store).await;
    odd::many_records_at_once(&*store, &*other).await;
    odd::more_than_one_answer_holds_is_found(&*store).await;
    if store.has_keywords() {
        searching::words_are_found(&*store).await;
    }
}

/// A collection of a test's own.
async fn collection(store: &dyn VectorStore, name: &str, dimensions: usize) -> Collection {
    let collection = Collection::new(name, dimensions).unwrap();
    store.ensure_collection(&collection).await.unwrap();
    collection
}

/// A collection with these records.
async fn filled(store: &dyn VectorStore, name: &str, records: &[VectorRecord]) -> Collection {
    let dimensions = records[0].vector.as_ref().unwrap().len();
    let collection = collection(store, name, dimensions).await;
    store.insert(&collection, records.to_vec()).await.unwrap();
    collection
}
