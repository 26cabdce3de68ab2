//! Whatever is done to a store, it answers as the simplest thing that could would.

use std::collections::{BTreeMap, BTreeSet};

use cepa_core::TextBlock;
use cepa_rag::{
    Chunk, Collection, EmbeddedStore, Filter, Hit, Metadata, SearchRequest, VectorRecord, VectorStore as _,
};
use proptest::{collection::vec, prelude::*, sample::select};

const WORDS: [&str; 6] = ["onion", "garlic", "leek", "chive", "shallot", "ramson"];

#[derive(Clone, Debug)]
struct Thing {
    document: &'static str,
    version: &'static str,
    index: u32,
    vector: [i8; 3],
    team: Option<&'static str>,
    words: Vec<&'static str>,
}

#[derive(Clone, Debug)]
enum Step {
    Insert(Vec<Thing>),
    Delete(&'static str, Option<&'static str>, Option<Filter>),
    Search([i8; 3], usize, Option<f32>, Option<Filter>),
    Words(Vec<&'static str>, usize, Option<Filter>),
    List(Option<Filter>),
    Chunks(&'static str, u32, u32, Option<Filter>),
    Reopen,
}

fn documents() -> impl Strategy<Value = &'static str> {
    select(&["a", "b", "c"][..])
}

fn vectors() -> impl Strategy<Value = [i8; 3]> {
    any::<[i8; 3]>()
        .prop_filter("a vector has a direction", |vector| vector.iter().any(|number| *number != 0))
}

fn words() -> impl Strategy<Value = Vec<&'static str>> {
    vec(select(&WORDS[..]), 0..4)
}

fn filters() -> impl Strategy<Value = Option<Filter>> {
    let filters =
        [Filter::eq("team", "x"), Filter::ne("team", "x"), !Filter::exists("team"), Filter::Or(Vec::new())];
    proptest::option::weighted(0.4, select(filters.to_vec()))
}

fn things() -> impl Strategy<Value = Thing> {
    let key = (documents(), select(&["1", "2"][..]), 0..4_u32);
    let team = select(&[None, Some("x"), Some("y")][..]);
    (key, vectors(), team, words()).prop_map(|((document, version, index), vector, team, words)| Thing {
        document,
        version,
        index,
        vector,
        team,
        words,
    })
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => vec(things(), 0..20).prop_map(Step::Insert),
        2 => (documents(), proptest::option::of(select(&["1", "2"][..])), filters())
            .prop_map(|(document, version, filter)| Step::Delete(document, version, filter)),
        3 => (vectors(), 0..8_usize, proptest::option::of(select(&[-0.317_f32, 0.123, 0.807][..])), filters())
            .prop_map(|(vector, top_k, threshold, filter)| Step::Search(vector, top_k, threshold, filter)),
        3 => (words(), 0..8_usize, filters()).prop_map(|(words, top_k, filter)| Step::Words(words, top_k, filter)),
        1 => filters().prop_map(Step::List),
        1 => (documents(), 0..4_u32, 0..4_u32, filters())
            .prop_map(|(document, offset, limit, filter)| Step::Chunks(document, offset, limit, filter)),
        1 => Just(Step::Reopen),
    ]
}

/// The simplest thing that could.
#[derive(Default)]
struct Model(BTreeMap<(&'static str, &'static str, u32), Thing>);

impl Thing {
    fn metadata(&self) -> Metadata {
        self.team.map(|team| ("team".to_owned(), team.into())).into_iter().collect()
    }

    fn passes(&self, filter: Option<&Filter>) -> bool {
        filter.is_none_or(|filter| filter.matches(&self.metadata()))
    }

    /// Says which one it is beside its words.
    fn text(&self) -> String {
        let Self { document, version, index, words, .. } = self;
        format!("id{document}{version}{index} {}", words.join(" "))
    }

    fn record(&self) -> VectorRecord {
        let mut chunk = Chunk::new("s", TextBlock::new(self.text())).with_metadata(self.metadata());
        (chunk.chunk_index, chunk.total_chunks) = (self.index, 4);
        VectorRecord::new(self.document, self.version, chunk, self.vector.map(f32::from).to_vec())
    }

    fn cosine(&self, other: [i8; 3]) -> f64 {
        let dot = |one: [i8; 3], other: [i8; 3]| -> f64 {
            one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(other)).sum()
        };
        dot(self.vector, other) / (dot(self.vector, self.vector) * dot(other, other)).sqrt()
    }
}

impl Model {
    fn bm25(&self, thing: &Thing, query: &[&str]) -> f64 {
        let count = self.0.len() as f64;
        let mean = self.0.values().map(|thing| 1.0 + thing.words.len() as f64).sum::<f64>() / count;
        let score = |word: &&str| {
            let with = self.0.values().filter(|thing| thing.words.contains(word)).count() as f64;
            let times = thing.words.iter().filter(|own| *own == word).count() as f64;
            let room = 1.2 * (0.25 + 0.75 * (1.0 + thing.words.len() as f64) / mean);
            (1.0 + (count - with + 0.5) / (with + 0.5)).ln() * times * 2.2 / (times + room)
        };
        query.iter().collect::<BTreeSet<_>>().into_iter().map(score).sum()
    }

    /// The hits have the best scores there are, and are what they say.
    fn check(
        &self,
        hits: &[Hit],
        top_k: usize,
        filter: Option<&Filter>,
        score: impl Fn(&Thing) -> Option<f64>,
    ) {
        let passing = self.0.values().filter(|thing| thing.passes(filter));
        let mut scores: Vec<f64> = passing.filter_map(&score).collect();
        scores.sort_by(|one, other| other.total_cmp(one));
        scores.truncate(top_k);
        assert_eq!(hits.len(), scores.len(), "{hits:?} {scores:?}");
        let mut seen = BTreeSet::new();
        for (hit, best) in hits.iter().zip(scores) {
            let thing = self.0.values().find(|thing| Some(&*thing.text()) == hit.chunk.text()).unwrap();
            assert!(thing.passes(filter));
            assert!((f64::from(hit.score) - best).abs() < 1e-4, "{} {best}", hit.score);
            assert!((score(thing).unwrap() - best).abs() < 1e-4, "{thing:?}");
            let mut chunk = thing.record().chunk;
            // A block has an identifier of its own, a new one each time.
            chunk.content = hit.chunk.content.clone();
            assert_eq!((&*hit.document_id, &hit.chunk), (thing.document, &chunk));
            assert!(seen.insert(thing.text()), "twice: {hit:?}");
        }
    }
}

async fn run(steps: Vec<Step>, is_quantised: bool, in_memory: bool) {
    let folder = tempfile::tempdir().unwrap();
    let open = || match in_memory {
        true => EmbeddedStore::in_memory(),
        false => EmbeddedStore::open(folder.path()).unwrap(),
    };
    let collection = Collection::new("model", 3).unwrap();
    let (mut store, mut model) = (open().with_quantised_pass(is_quantised), Model::default());
    store.ensure_collection(&collection).await.unwrap();
    for step in steps {
        match step {
            Step::Insert(things) => {
                store.insert(&collection, things.iter().map(Thing::record).collect()).await.unwrap();
                for thing in things {
                    model.0.insert((thing.document, thing.version, thing.index), thing);
                }
            }
            Step::Delete(document, but_version, filter) => {
                store.delete(&collection, document, but_version, filter.as_ref()).await.unwrap();
                model.0.retain(|_, thing| {
                    let is_doomed = thing.document == document && Some(thing.version) != but_version;
                    !is_doomed || !thing.passes(filter.as_ref())
                });
            }
            Step::Search(vector, top_k, threshold, filter) => {
                let query = vector.map(f32::from);
                let request = SearchRequest::vector(&query, top_k).with_filter(filter.as_ref());
                let request = request.with_score_threshold(threshold);
                let hits = store.search(&collection, request).await.unwrap();
                model.check(&hits, top_k, filter.as_ref(), |thing| {
                    let cosine = thing.cosine(vector);
                    threshold.is_none_or(|threshold| cosine >= threshold.into()).then_some(cosine)
                });
            }
            Step::Words(words, top_k, filter) => {
                let text = words.join(", ");
                let request = SearchRequest::text(&text, top_k).with_filter(filter.as_ref());
                let hits = store.search(&collection, request).await.unwrap();
                model.check(&hits, top_k, filter.as_ref(), |thing| {
                    let score = model.bm25(thing, &words);
                    (score > 0.0).then_some(score)
                });
            }
            Step::List(filter) => {
                let mut listed: Vec<_> = store.list_documents(&collection, filter.as_ref()).await.unwrap();
                listed.sort_by(|one, other| {
                    (&one.document_id, &one.version).cmp(&(&other.document_id, &other.version))
                });
                let listed =
                    listed.into_iter().map(|each| (each.document_id, each.version, each.chunk_count));
                let mut expected = BTreeMap::<_, u32>::new();
                for thing in model.0.values().filter(|thing| thing.passes(filter.as_ref())) {
                    *expected.entry((thing.document.to_owned(), thing.version.to_owned())).or_default() += 1;
                }
                let expected =
                    expected.into_iter().map(|((document, version), count)| (document, version, count));
                assert_eq!(listed.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
            }
            Step::Chunks(document, offset, limit, filter) => {
                let chunks = store.list_chunks(&collection, document, offset, limit, filter.as_ref());
                let indexes: Vec<u32> =
                    chunks.await.unwrap().into_iter().map(|chunk| chunk.chunk_index).collect();
                let there = model.0.values().filter(|thing| thing.document == document);
                let passing = there.filter(|thing| thing.passes(filter.as_ref()));
                let mut expected: Vec<u32> = passing.map(|thing| thing.index).collect();
                expected.sort_unstable();
                let page = expected.into_iter().skip(offset as usize).take(limit as usize);
                assert_eq!(indexes, page.collect::<Vec<_>>());
            }
            Step::Reopen if !in_memory => {
                drop(store);
                store = open().with_quantised_pass(is_quantised);
            }
            Step::Reopen => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    // Long enough that most of it is deleted now and then.
    #[test]
    fn answers_as_a_model(steps in vec(steps(), 1..120), is_quantised: bool, in_memory: bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(run(steps, is_quantised, in_memory));
    }
}
