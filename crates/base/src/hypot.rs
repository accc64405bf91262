//! Defines the C library's `hypot`, with the same result on every machine. Libraries that call it (`f64::hypot`) get
//! the version of `libm` instead of the machine's, which differs in the last digit between versions. This also avoids a
//! dependency on the `hypot` of glibc 2.35, so that programs run with an older glibc.

#![allow(unsafe_code)]

/// The length of the hypotenuse, without overflow in between.
// SAFETY: the parameters and the result are those of C's `hypot`.
#[unsafe(no_mangle)]
extern "C" fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}

#[cfg(test)]
mod tests {
    /// The values of C's standard (F.10.4.3).
    #[test]
    fn it_is_what_the_standard_library_calls() {
        assert_eq!(f64::hypot(3.0, 4.0), 5.0);
        assert_eq!(f64::hypot(1e300, 1e300), libm::hypot(1e300, 1e300));
        assert_eq!(f64::hypot(f64::INFINITY, f64::NAN), f64::INFINITY);
        assert!(f64::hypot(f64::NAN, 0.0).is_nan());
        // Here the C library of glibc 2.35 and later gives another last digit.
        let differing = (1..2000).map(|n| (f64::from(n) * 0.1, f64::from(n) * 0.37));
        assert!(differing.clone().all(|(x, y)| f64::hypot(x, y).to_bits() == libm::hypot(x, y).to_bits()));
    }
}
