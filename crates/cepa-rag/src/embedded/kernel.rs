//! The innermost loops, compiled for the instructions of each kind of processor and chosen when they run.
//!
//! `pulp` makes this choice without `unsafe` here.

use pulp::{Simd, WithSimd};

/// Rows of one segment that are read side by side: a core can wait for more memory at once than one stream asks for.
const STREAMS: usize = 4;
/// Sums beside each other per row, so that one addition need not wait for the other.
const SUMS: usize = 2;

/// Products of each row with a query.
pub(super) struct Dots<'a, F> {
    /// Row by row, each as long as the query.
    pub(super) rows: &'a [f32],
    /// A multiple of 16 floats.
    pub(super) query: &'a [f32],
    /// The number of the first row.
    pub(super) first_row: u32,
    /// Told of each row and product.
    pub(super) visit: &'a mut F,
}

impl<F: FnMut(u32, f32)> WithSimd for Dots<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { rows, query, first_row, visit } = self;
        let length = query.len();
        let each = rows.len() / length / STREAMS;
        for row in 0..each {
            let streams = std::array::from_fn(|stream| {
                let at = (row + stream * each) * length;
                &rows[at..at + length]
            });
            let products = dots::<S, STREAMS>(simd, streams, query);
            for (stream, product) in products.into_iter().enumerate() {
                visit(first_row + (row + stream * each) as u32, product);
            }
        }
        for (row, floats) in rows.chunks_exact(length).enumerate().skip(each * STREAMS) {
            let [product] = dots::<S, 1>(simd, [floats], query);
            visit(first_row + row as u32, product);
        }
    }
}

/// A row's product is the same to the last bit, however many rows are read with it.
#[inline(always)]
fn dots<S: Simd, const N: usize>(simd: S, rows: [&[f32]; N], query: &[f32]) -> [f32; N] {
    let query = S::as_simd_f32s(query).0.as_chunks::<SUMS>().0;
    let rows = rows.map(|row| &S::as_simd_f32s(row).0.as_chunks::<SUMS>().0[..query.len()]);
    let mut sums = [[simd.splat_f32s(0.0); SUMS]; N];
    for at in 0..query.len() {
        for sum in 0..SUMS {
            for row in 0..N {
                sums[row][sum] = simd.mul_add_f32s(rows[row][at][sum], query[at][sum], sums[row][sum]);
            }
        }
    }
    sums.map(|[one, other]| simd.reduce_sum_f32s(simd.add_f32s(one, other)))
}

/// Products of each quantised row with a quantised query.
pub(super) struct Codes<'a, F> {
    /// Row by row, each of as many pieces as the query.
    pub(super) rows: &'a [[i8; 64]],
    /// So small that no sum overflows.
    pub(super) query: &'a [[i16; 64]],
    /// The number of the first row.
    pub(super) first_row: u32,
    /// Told of each row and product.
    pub(super) visit: &'a mut F,
}

impl<F: FnMut(u32, i32)> WithSimd for Codes<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { rows, query, first_row, visit } = self;
        let length = query.len();
        let each = rows.len() / length / STREAMS;
        for row in 0..each {
            for stream in 0..STREAMS {
                let row = row + stream * each;
                visit(first_row + row as u32, product(&rows[row * length..][..length], query));
            }
        }
        for (row, codes) in rows.chunks_exact(length).enumerate().skip(each * STREAMS) {
            visit(first_row + row as u32, product(codes, query));
        }
    }
}

/// In this shape the compiler finds the instruction that multiplies and adds pairs.
#[inline(always)]
fn product(codes: &[[i8; 64]], query: &[[i16; 64]]) -> i32 {
    let pairs = codes.as_flattened().iter().zip(query.as_flattened());
    pairs.map(|(code, query)| i32::from(*code) * i32::from(*query)).sum()
}

/// The sum of all numbers.
pub(super) struct Sum<'a> {
    pub(super) rows: &'a [f32],
}

impl WithSimd for Sum<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        const SUMS: usize = 8;
        let mut sums = [simd.splat_f32s(0.0); SUMS];
        let (chunks, rest) = S::as_simd_f32s(self.rows).0.as_chunks::<SUMS>();
        for numbers in chunks {
            for at in 0..SUMS {
                sums[at] = simd.add_f32s(sums[at], numbers[at]);
            }
        }
        rest.iter().chain(&sums).map(|numbers| simd.reduce_sum_f32s(*numbers)).sum()
    }
}
