//! Vectors of length 1.

/// The vector's direction: what is kept and looked for. A vector of zeros has none and stays as it is; its similarity to
/// everything is 0.
///
/// # Errors
/// Why it is no vector.
#[cfg_attr(
    not(feature = "embedded"),
    allow(unreachable_pub, reason = "benchmarks of the embedded store use it")
)]
pub fn unit(vector: &[f32]) -> Result<Vec<f32>, &'static str> {
    if !vector.iter().all(|number| number.is_finite()) {
        return Err("it holds something that is no finite number: check the embedding model");
    }
    // As `f64`, the squares of the least and of the greatest `f32` are numbers too.
    let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    if length == 0.0 {
        return Ok(vec![0.0; vector.len()]);
    }
    Ok(vector.iter().map(|number| (f64::from(*number) / length) as f32).collect())
}
