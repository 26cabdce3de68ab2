//! Repeated measurements of one thing, and slopes through several.

/// Repeated measurements of one thing.
#[derive(Default)]
pub(crate) struct Samples(Vec<f64>);

/// How samples become one number.
#[derive(Clone, Copy)]
pub(crate) enum By {
    /// The least disturbed one.
    Minimum,
    /// The middle one.
    Median,
}

impl Samples {
    pub(crate) fn add(&mut self, sample: f64) {
        self.0.push(sample);
    }

    /// One number for all; `NaN` for none.
    pub(crate) fn by(&self, by: By) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at = match by {
            By::Minimum => 0,
            By::Median => sorted.len() / 2,
        };
        sorted.get(at).copied().unwrap_or(f64::NAN)
    }
}

/// By how much `y` grows with `x`: least squares.
pub(crate) fn slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let count = points.clone().count() as f64;
    let sum = points.clone().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x, sum.1 + y));
    let (x_mean, y_mean) = (sum.0 / count, sum.1 / count);
    let (mut both, mut square) = (0.0, 0.0);
    for (x, y) in points {
        both += (x - x_mean) * (y - y_mean);
        square += (x - x_mean).powi(2);
    }
    both / square
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slope_of_a_line() {
        let line = [0.0, 1.0, 2.0, 16.0].map(|x| (x, 3.0 * x + 7.0));
        assert!((slope(line.into_iter()) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn one_number_for_all() {
        let samples = Samples(vec![5.0, 1.0, 900.0]);
        assert_eq!((samples.by(By::Minimum), samples.by(By::Median)), (1.0, 5.0));
        assert!(Samples::default().by(By::Median).is_nan());
    }
}
