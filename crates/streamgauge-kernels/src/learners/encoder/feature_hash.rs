//! The hashing trick: a name has one of a few columns, and a sign.

/// Returns the column and the sign of a name among `n_buckets` columns, as scikit-learn's `FeatureHasher` does.
pub(super) fn find_bucket(name: &str, n_buckets: u32) -> (u32, f32) {
    let hash = murmur3(name.as_bytes()) as i32;
    (hash.unsigned_abs() % n_buckets, if hash >= 0 { 1.0 } else { -1.0 })
}

/// Returns the 32-bit `MurmurHash3` of bytes, with seed 0.
fn murmur3(bytes: &[u8]) -> u32 {
    let scramble = |block: u32| block.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let (blocks, rest) = bytes.as_chunks::<4>();
    let mut hash = 0_u32;
    for &block in blocks {
        hash = (hash ^ scramble(u32::from_le_bytes(block))).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    hash ^= scramble(u32::from_le_bytes(last));
    hash ^= bytes.len() as u32;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_published_test_vectors() {
        let published = [
            ("", 0),
            ("test", 0xba6b_d213_u32),
            ("Hello, world!", 0xc036_3e43),
            ("The quick brown fox jumps over the lazy dog", 0x2e4f_f723),
        ];
        for (text, hash) in published {
            assert_eq!(murmur3(text.as_bytes()), hash, "{text}");
        }
    }
}
