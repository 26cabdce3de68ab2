//! [`Quantised`]: a copy of vectors in one byte per dimension, and how far it may be off.

/// Rows are padded to so many bytes, a cache line.
const PIECE: usize = 64;
/// Pieces of a segment, about: 4 MiB.
const SEGMENT: usize = 1 << 16;
/// What the arithmetic of `f32` may add to an error: far more than it does.
const SLACK: f32 = 1e-5;

/// Vectors in one byte per dimension, each with its own scale.
#[derive(Debug)]
pub(super) struct Quantised {
    pieces_per_row: usize,
    rows_per_segment: usize,
    segments: Vec<Vec<[i8; PIECE]>>,
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    /// What one step of a code is worth.
    scale: f32,
    /// The length of the difference between the vector and its copy.
    error: f32,
}

/// A query in two bytes per dimension, so that nearly all that is off is the rows'.
pub(super) struct Query {
    pub(super) codes: Vec<[i16; PIECE]>,
    scale: f32,
    error: f32,
}

impl Quantised {
    pub(super) fn new(dimensions: usize) -> Self {
        let pieces_per_row = dimensions.div_ceil(PIECE);
        let rows_per_segment = (SEGMENT / pieces_per_row).max(1);
        Self { pieces_per_row, rows_per_segment, segments: Vec::new(), rows: Vec::new() }
    }

    pub(super) fn push(&mut self, vector: &[f32]) {
        if self.rows.len().is_multiple_of(self.rows_per_segment) {
            self.segments.push(Vec::with_capacity(self.rows_per_segment * self.pieces_per_row));
        }
        let (codes, scale, error) = coded(vector, i8::MAX.into());
        if let Some(segment) = self.segments.last_mut() {
            segment.extend(pieces(&codes, |code| code as i8));
        }
        self.rows.push(Row { scale, error });
    }

    pub(super) fn query(&self, query: &[f32]) -> Query {
        // No sum of all products is greater than an `i32`.
        let most = i32::MAX / i32::from(i8::MAX) / (self.pieces_per_row * PIECE) as i32;
        let (codes, scale, error) = coded(query, most.min(i16::MAX.into()) as f32);
        Query { codes: pieces(&codes, |code| code as i16).collect(), scale, error }
    }

    /// The rows of each segment.
    pub(super) fn parts(&self) -> impl Iterator<Item = &[[i8; PIECE]]> {
        self.segments.iter().map(Vec::as_slice)
    }

    /// A row's score by its product with the query, and by how much it is off at most.
    ///
    /// With copies `r'` and `q'` of unit vectors, `q·r - q'·r' = q·(r - r') + (q - q')·r'`, and no product of vectors
    /// is greater than that of their lengths.
    #[inline(always)]
    pub(super) fn bounds(&self, row: u32, product: i32, query: &Query) -> (f32, f32) {
        let Row { scale, error } = self.rows[row as usize];
        (product as f32 * scale * query.scale, error + query.error * (1.0 + error) + SLACK)
    }
}

/// Whole numbers of at most this size, what one step is worth, and the length of what is lost.
fn coded(vector: &[f32], most: f32) -> (Vec<f32>, f32, f32) {
    let greatest = vector.iter().fold(0.0_f32, |greatest, number| greatest.max(number.abs()));
    // A vector of zeros has codes of zero, whatever a step is worth.
    let scale = if greatest > 0.0 { greatest / most } else { 1.0 };
    let codes: Vec<f32> = vector.iter().map(|number| (number / scale).round().clamp(-most, most)).collect();
    let lost = vector.iter().zip(&codes).map(|(number, code)| (number - code * scale).powi(2)).sum::<f32>();
    (codes, scale, lost.sqrt())
}

fn pieces<T: Copy + Default>(codes: &[f32], cast: impl Fn(f32) -> T) -> impl Iterator<Item = [T; PIECE]> {
    codes.chunks(PIECE).map(move |codes| {
        let mut piece = [T::default(); PIECE];
        piece.iter_mut().zip(codes).for_each(|(to, code)| *to = cast(*code));
        piece
    })
}
