//! OQS, Overpass query similarity: the mean of chrF, KVS and TreeS.

/// Returns the mean of the three, each 0 to 1.
pub fn oqs(chrf: f64, kvs: f64, trees: f64) -> f64 {
    (kvs + trees + chrf) / 3.0
}
