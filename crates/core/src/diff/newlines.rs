//! Finds the line feeds in a block of text as a bit mask.
//!
//! Most lines are shorter than a block, so a search for each line feed takes three times longer
//! than one mask per block.
//!
//! `unsafe`: calls SSE2 instructions, which every x86-64 processor has.

/// The number of bytes of a block, one bit of the mask each.
pub(super) const SIMD_BLOCK_BYTES: usize = 64;

/// Returns one bit per byte, set where the byte is LF; the lowest bit is the first byte.
#[cfg(target_arch = "x86_64")]
pub(super) fn newline_mask(block: &[u8; SIMD_BLOCK_BYTES]) -> u64 {
    // SAFETY: SSE2 is part of the x86-64 baseline.
    unsafe { newline_mask_sse2(block) }
}

/// Returns one bit per byte, set where the byte is LF; the lowest bit is the first byte.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) fn newline_mask(block: &[u8; SIMD_BLOCK_BYTES]) -> u64 {
    use std::arch::wasm32::{i8x16_eq, i8x16_splat, u8x16_bitmask, u64x2};
    let lf = i8x16_splat(b'\n' as i8);
    let (parts, _) = block.as_chunks::<16>();
    parts.iter().rev().fold(0, |mask, part| {
        let both = u128::from_le_bytes(*part);
        let bytes = u64x2(both as u64, (both >> 64) as u64);
        mask << 16 | u64::from(u8x16_bitmask(i8x16_eq(bytes, lf)))
    })
}

/// Returns one bit per byte, set where the byte is LF; the lowest bit is the first byte.
#[cfg(not(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128"))))]
pub(super) fn newline_mask(block: &[u8; SIMD_BLOCK_BYTES]) -> u64 {
    newline_mask_portable(block)
}

/// Computes the mask of [`newline_mask`] with SSE2, 16 bytes at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
fn newline_mask_sse2(block: &[u8; SIMD_BLOCK_BYTES]) -> u64 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8};
    let lf = _mm_set1_epi8(b'\n' as i8);
    let (parts, _) = block.as_chunks::<16>();
    parts.iter().rev().fold(0, |mask, part| {
        let both = u128::from_le_bytes(*part);
        let bytes = _mm_set_epi64x((both >> 64) as i64, both as i64);
        mask << 16 | _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, lf)) as u64
    })
}

#[cfg(any(
    test,
    not(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128")))
))]
/// Computes the mask of [`newline_mask`] without special instructions, 8 bytes at a time.
fn newline_mask_portable(block: &[u8; SIMD_BLOCK_BYTES]) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    const LF: u64 = 0x0a0a_0a0a_0a0a_0a0a;
    // The multiplication moves the lowest bit of byte k to bit 56 + k.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (words, _) = block.as_chunks::<8>();
    words.iter().rev().fold(0, |mask, word| {
        let other = u64::from_le_bytes(*word) ^ LF;
        let top = !(((other & LOW) + LOW) | other | LOW);
        mask << 8 | (top >> 7).wrapping_mul(GATHER) >> 56
    })
}

#[cfg(test)]
mod tests {
    use super::{SIMD_BLOCK_BYTES, newline_mask, newline_mask_portable};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_lf_has_its_bit(bytes in proptest::collection::vec(any::<u8>(), SIMD_BLOCK_BYTES), low in any::<bool>()) {
            let bytes: Vec<u8> = bytes.iter().map(|byte| if low { 8 + byte % 5 } else { *byte }).collect();
            let block = bytes.as_slice().try_into().unwrap();
            let expected = bytes.iter().rev().fold(0, |mask, &byte| mask << 1 | u64::from(byte == b'\n'));
            prop_assert_eq!((newline_mask(block), newline_mask_portable(block)), (expected, expected));
        }
    }
}
