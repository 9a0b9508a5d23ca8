//! A logarithm that is the same on every platform. The standard one comes from the C library, whose
//! last bit differs between a native program and WebAssembly.

/// Returns the natural logarithm of a finite number of at least 1, by the series of the inverse hyperbolic tangent.
pub(super) fn ln(number: f64) -> f64 {
    const MANTISSA_BITS: u32 = 52;
    let bits = number.to_bits();
    let exponent = (bits >> MANTISSA_BITS) as i32 - 1023;
    let mantissa = f64::from_bits(bits & ((1 << MANTISSA_BITS) - 1) | 1023 << MANTISSA_BITS);
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let mut sum = 0.0;
    // The ratio is at most a third, so 17 terms reach the precision of the type.
    for power in (1..=33).rev().step_by(2) {
        sum = sum * square + 1.0 / f64::from(power);
    }
    f64::from(exponent) * std::f64::consts::LN_2 + 2.0 * ratio * sum
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_logarithm_is_that_of_the_library_but_for_the_last_bits() {
        for number in [1.0, 1.0001, 1.5, 1.999, 2.0, 3.0, 10.0, 1234.5, 1e9] {
            let (ours, theirs) = (super::ln(number), f64::ln(number));
            assert!((ours - theirs).abs() <= 1e-15 * theirs.max(1.0), "{number}: {ours} {theirs}");
        }
    }
}
