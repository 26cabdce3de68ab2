//! The quantised pass changes how long a search takes, and nothing else.

use cepa_rag::embedded::{Best, Vectors, unit};

/// Numbers from -1 to 1, always the same.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / 8_388_608.0 - 1.0
    }

    fn vector(&mut self, dimensions: usize) -> Vec<f32> {
        (0..dimensions).map(|_| self.next()).collect()
    }

    fn near(&mut self, centre: &[f32], distance: f32) -> Vec<f32> {
        centre.iter().map(|number| number + distance * self.next()).collect()
    }
}

fn check(vectors: &Vectors, query: &[f32], passes: impl Fn(u32) -> bool + Copy) {
    let query = unit(query).unwrap();
    for (limit, threshold) in [(0, None), (1, None), (10, None), (10, Some(0.2)), (10_000, None)] {
        let exact = vectors.best(&query, Best::new(limit, threshold), passes);
        let quantised = vectors.best_quantised(&query, Best::new(limit, threshold), limit, passes);
        let scores = |found: &[cepa_rag::embedded::Scored]| -> Vec<f32> {
            found.iter().map(|scored| scored.score).collect()
        };
        assert_eq!(scores(&exact), scores(&quantised));
    }
}

#[test]
fn random_vectors() {
    let mut numbers = Numbers(1);
    for dimensions in [1, 3, 16, 65, 384] {
        let mut vectors = Vectors::new(dimensions, true);
        for _ in 0..6_001 {
            vectors.push(&unit(&numbers.vector(dimensions)).unwrap());
        }
        for _ in 0..5 {
            check(&vectors, &numbers.vector(dimensions), |_| true);
            check(&vectors, &numbers.vector(dimensions), |row| row % 97 == 3);
        }
    }
}

#[test]
fn vectors_in_clusters() {
    let mut numbers = Numbers(2);
    let mut vectors = Vectors::new(100, true);
    let centres: Vec<_> = (0..10).map(|_| numbers.vector(100)).collect();
    for number in 0..5_000 {
        // Some so near that their copies are the same.
        let distance = [0.3, 0.01, 1e-6][number % 3];
        vectors.push(&unit(&numbers.near(&centres[number % 10], distance)).unwrap());
    }
    for centre in &centres {
        check(&vectors, centre, |_| true);
        check(&vectors, &numbers.near(centre, 0.1), |row| row % 7 != 0);
    }
}

#[test]
fn one_number_greater_than_all_others() {
    let mut numbers = Numbers(3);
    let mut vectors = Vectors::new(64, true);
    for row in 0..2_000 {
        let mut vector = numbers.vector(64);
        vector[row % 64] *= 1_000.0;
        vectors.push(&unit(&vector).unwrap());
    }
    for _ in 0..10 {
        check(&vectors, &numbers.vector(64), |_| true);
    }
}

#[test]
fn rows_are_kept_as_they_came() {
    let mut numbers = Numbers(4);
    // Over several segments.
    let mut vectors = Vectors::new(1_000, false);
    let all: Vec<_> = (0..2_500).map(|_| unit(&numbers.vector(1_000)).unwrap()).collect();
    all.iter().for_each(|vector| vectors.push(vector));
    for (row, vector) in (0..).zip(&all) {
        assert_eq!(vectors.row(row), vector);
    }
    for row in [0, 1_040, 1_041, 2_499] {
        let found = vectors.best(&all[row], Best::new(1, None), |_| true);
        assert_eq!(found[0].row as usize, row);
        assert!((found[0].score - 1.0).abs() < 1e-6);
    }
    assert!(vectors.sum().is_finite());
}
