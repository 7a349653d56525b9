//! Hash maps of numbers, short strings, and addresses of LLVM's objects.
//!
//! The standard library's hash withstands keys that somebody chose to collide. Here keys come from the compiler, and
//! each access and each block is looked up several times: it took a tenth of the pass's time in large functions.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map.
pub type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mixer>>;

/// Multiplies, word by word, as rustc's maps do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mixer(u64);

impl Mixer {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        // Maps use the lowest bits, which of a product of an aligned address are 0.
        self.0.rotate_left(26)
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.add(u64::from_le_bytes(*word)));
        self.add(rest.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)));
    }

    fn write_u8(&mut self, number: u8) {
        self.add(number.into());
    }

    fn write_u16(&mut self, number: u16) {
        self.add(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.add(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    /// Addresses of a table of blocks must not meet in the bits that a map looks at.
    #[test]
    fn aligned_addresses_spread() {
        let build = BuildHasherDefault::<Mixer>::default();
        let low: HashSet<u64> = (0..4096usize).map(|i| build.hash_one(0x5555_0000_0000 + i * 64) & 0xffff).collect();
        assert!(low.len() > 3800, "{}", low.len());
    }

    #[test]
    fn strings_differ_by_any_byte() {
        let build = BuildHasherDefault::<Mixer>::default();
        let names = ["", "a", "b", "ab", "ba", "in[12]", "in[13]", "/a/long/path.c", "/a/long/path.h"];
        assert_eq!(names.iter().map(|n| build.hash_one(n)).collect::<HashSet<_>>().len(), names.len());
    }
}
