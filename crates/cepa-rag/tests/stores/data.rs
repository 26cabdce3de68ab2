//! Records and filters, made by chance that is the same in each run.

use cepa_core::OutputBlock;
use cepa_rag::{Chunk, Filter, Metadata, MetadataValue, VectorRecord};
use proptest::{prelude::*, strategy::ValueTree as _, test_runner::TestRunner};

/// So many of what the strategy gives.
pub(crate) fn some<S: Strategy>(count: usize, strategy: S) -> Vec<S::Value> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

pub(crate) fn vectors(count: usize, dimensions: usize) -> Vec<Vec<f32>> {
    some(count, prop::collection::vec(-1.0..1.0_f32, dimensions))
}

pub(crate) fn text(text: &str) -> OutputBlock {
    cepa_core::TextBlock::new(text).into()
}

/// A chunk that says which it is.
pub(crate) fn record(
    document: &str,
    version: &str,
    index: u32,
    total: u32,
    vector: Vec<f32>,
) -> VectorRecord {
    let mut chunk = Chunk::new(format!("{document}.md"), text(&format!("{document} {version} {index}")));
    (chunk.chunk_index, chunk.total_chunks) = (index, total);
    VectorRecord::new(document, version, chunk, vector)
}

pub(crate) fn with_metadata(mut record: VectorRecord, metadata: Metadata) -> VectorRecord {
    record.chunk.metadata = metadata;
    record
}

/// Names of fields: plain ones, and such as a store may take for something else.
fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["team", "year", "share"]),
        1 => prop::sample::select(vec!["a.b", "it's [0] \"{}\" \\ $1", "ключ", "document_id", "kind", ""]),
    ]
    .prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = MetadataValue> {
    let edge = 1_i64 << 53;
    prop_oneof![
        any::<bool>().prop_map(MetadataValue::from),
        (-2..3_i64).prop_map(MetadataValue::from),
        prop::sample::select(vec![edge, edge + 1, edge + 2, i64::MAX, i64::MIN])
            .prop_map(MetadataValue::from),
        (-4..6_i8).prop_map(|half| MetadataValue::from(f64::from(half) / 2.0)),
        prop::sample::select(vec![0.1, 1e10, 9_007_199_254_740_992.0, 1e300, -0.0])
            .prop_map(MetadataValue::from),
        prop::sample::select(vec![
            "a",
            "b",
            "B",
            "ä",
            "",
            "1",
            "true",
            "a' OR '1'='1",
            "nul\0",
            "{\"$ne\":1}"
        ])
        .prop_map(MetadataValue::from),
    ]
}

pub(crate) fn metadata() -> impl Strategy<Value = Metadata> {
    prop::collection::btree_map(field(), value(), 0..6)
}

/// Values of filters may be odder than those of records.
fn asked() -> impl Strategy<Value = MetadataValue> {
    prop_oneof![
        9 => value(),
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]).prop_map(MetadataValue::from),
    ]
}

pub(crate) fn filter() -> impl Strategy<Value = Filter> {
    let leaf = prop_oneof![
        (field(), asked()).prop_map(|(field, value)| Filter::Eq(field, value)),
        (field(), asked()).prop_map(|(field, value)| Filter::Ne(field, value)),
        (field(), prop::collection::vec(asked(), 0..4)).prop_map(|(field, values)| Filter::In(field, values)),
        (field(), asked()).prop_map(|(field, value)| Filter::Lt(field, value)),
        (field(), asked()).prop_map(|(field, value)| Filter::Le(field, value)),
        (field(), asked()).prop_map(|(field, value)| Filter::Gt(field, value)),
        (field(), asked()).prop_map(|(field, value)| Filter::Ge(field, value)),
        field().prop_map(Filter::Exists),
    ];
    leaf.prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Filter::And),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Filter::Or),
            inner.prop_map(|filter| !filter),
        ]
    })
}
