//! One order out of the hits of several retrievers.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet, hash_map::Entry},
    hash::{DefaultHasher, Hash, Hasher},
};

use cepa_core::{OutputBlock, Source};

use crate::Hit;

/// What a rank, from 1, adds to a hit's score in reciprocal rank fusion, with the usual constant.
pub(crate) fn share_of(rank: u32) -> f64 {
    1.0 / (60.0 + f64::from(rank))
}

/// What one retriever found, the best first, and what its scores can be compared with.
pub(crate) struct Found {
    pub(crate) scale: Option<String>,
    pub(crate) hits: Vec<Hit>,
}

/// The best hits of all, each once: by score where all scores have one scale, else by reciprocal ranks.
///
/// A single retriever's order stays as it is.
pub(crate) fn fuse(mut found: Vec<Found>, limit: usize) -> Vec<Hit> {
    found.retain(|found| !found.hits.is_empty());
    let mut hits = match &found[..] {
        [] | [_] => unique(found.into_iter().flat_map(|found| found.hits)),
        [first, rest @ ..]
            if first.scale.is_some() && rest.iter().all(|found| found.scale == first.scale) =>
        {
            let mut hits: Vec<_> = found.into_iter().flat_map(|found| found.hits).collect();
            hits.sort_by(|a, b| descending(a.score.into(), b.score.into()));
            unique(hits)
        }
        _ => by_ranks(found),
    };
    hits.truncate(limit);
    hits
}

fn by_ranks(found: Vec<Found>) -> Vec<Hit> {
    let mut places = HashMap::new();
    let mut fused: Vec<(f64, Hit)> = Vec::new();
    for Found { hits, .. } in found {
        for (rank, hit) in (1_u32..).zip(unique(hits)) {
            let share = share_of(rank);
            match places.entry(Key::of(&hit)) {
                Entry::Occupied(place) => {
                    if let Some((score, _)) = fused.get_mut(*place.get()) {
                        *score += share;
                    }
                }
                Entry::Vacant(place) => {
                    place.insert(fused.len());
                    fused.push((share, hit));
                }
            }
        }
    }
    fused.sort_by(|(a, _), (b, _)| descending(*a, *b));
    fused.into_iter().map(|(_, hit)| hit).collect()
}

/// Each hit once, where it comes first.
fn unique(hits: impl IntoIterator<Item = Hit>) -> Vec<Hit> {
    let mut known = HashSet::new();
    hits.into_iter().filter(|hit| known.insert(Key::of(hit))).collect()
}

/// What makes two hits the same. Two bases may use one id for two documents, so what was found counts too: its hash, as
/// it may be a large image.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    document_id: String,
    chunk_index: u32,
    content: u64,
}

impl Key {
    fn of(hit: &Hit) -> Self {
        let mut content = DefaultHasher::new();
        match &hit.chunk.content {
            OutputBlock::Data(data) => match &data.source {
                Source::Base64 { data, .. } => data.hash(&mut content),
                Source::Url { url, .. } => url.hash(&mut content),
                _ => {}
            },
            OutputBlock::Text(text) => text.text.hash(&mut content),
            _ => {}
        }
        let (document_id, chunk_index) = (hit.document_id.clone(), hit.chunk.chunk_index);
        Self { document_id, chunk_index, content: content.finish() }
    }
}

/// The more the better; what is no number comes last.
fn descending(a: f64, b: f64) -> Ordering {
    let or_least = |score: f64| if score.is_nan() { f64::NEG_INFINITY } else { score };
    or_least(b).total_cmp(&or_least(a))
}

#[cfg(test)]
mod tests {
    use cepa_core::TextBlock;
    use proptest::prelude::*;

    use super::*;
    use crate::Chunk;

    fn hit(score: f32, name: &str) -> Hit {
        Hit::new(score, name, Chunk::new(name, TextBlock::new(name)))
    }

    fn found(scale: Option<&str>, hits: &[(f32, &str)]) -> Found {
        let hits = hits.iter().map(|(score, name)| hit(*score, name)).collect();
        Found { scale: scale.map(str::to_owned), hits }
    }

    fn names(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.document_id.as_str()).collect()
    }

    #[test]
    fn scores_of_one_scale_are_compared() {
        let a = found(Some("m"), &[(0.9, "a"), (0.2, "b"), (f32::NAN, "e")]);
        let b = found(Some("m"), &[(0.8, "c"), (0.3, "a"), (0.1, "d")]);
        assert_eq!(names(&fuse(vec![a, b], 9)), ["a", "c", "b", "d", "e"]);
    }

    #[test]
    fn other_scores_are_not_and_ranks_are() {
        // By scores, all of BM25 would come first.
        let words = found(Some("bm25"), &[(31.0, "a"), (30.0, "b"), (29.0, "c")]);
        let vectors = found(Some("cosine"), &[(0.9, "d"), (0.8, "b")]);
        assert_eq!(names(&fuse(vec![words, vectors], 4)), ["b", "a", "d", "c"]);
        // Of two that say nothing of their scale, nothing is known.
        let fused = fuse(vec![found(None, &[(1.0, "a"), (0.9, "b")]), found(None, &[(0.1, "c")])], 3);
        assert_eq!(names(&fused), ["a", "c", "b"]);
    }

    #[test]
    fn one_id_for_two_documents_does_not_make_them_one() {
        let mut other = hit(0.5, "readme.md");
        other.chunk.content = TextBlock::new("of another project").into();
        let both = vec![
            found(Some("m"), &[(0.9, "readme.md")]),
            Found { scale: Some("m".into()), hits: vec![other] },
        ];
        assert_eq!(fuse(both, 9).len(), 2);
    }

    proptest! {
        #[test]
        fn each_is_there_once_up_to_the_limit_and_each_retriever_keeps_its_order(
            lists in proptest::collection::vec(proptest::collection::vec((0u8..12, 0.0f32..1.0), 0..8), 0..4),
            limit in 0usize..10,
            comparable: bool,
        ) {
            let found: Vec<_> = lists.iter().map(|list| {
                let mut hits: Vec<_> = list.iter().map(|(name, score)| hit(*score, &name.to_string())).collect();
                hits.sort_by(|a, b| b.score.total_cmp(&a.score));
                Found { scale: comparable.then(|| "m".to_owned()), hits }
            }).collect();
            let mut all: Vec<_> = lists.iter().flatten().map(|(name, _)| name.to_string()).collect();
            all.sort();
            all.dedup();
            let lone = found.iter().filter(|found| !found.hits.is_empty()).count() == 1;
            let first = found.iter().find_map(|found| found.hits.first().cloned());
            let fused = fuse(found, limit);
            prop_assert_eq!(fused.len(), all.len().min(limit));
            let mut kept: Vec<_> = names(&fused);
            kept.sort_unstable();
            kept.dedup();
            prop_assert_eq!(kept.len(), fused.len());
            if lone && limit > 0 {
                prop_assert_eq!(fused.first(), first.as_ref());
            }
        }
    }
}
