//! Looking at many cells at once.
//!
//! Runs of cells are compared 32 at a time; with AVX2, where the machine has it, at twice the speed of the SSE2 that
//! the runtime is compiled for.

use core::sync::atomic::{AtomicU8, Ordering};

/// Cells in a block.
const BLOCK: usize = 32;
/// Bytes between the block that is looked at and the one that is asked for: eight blocks.
const AHEAD: usize = 1024;

/// Asks for the 128 bytes at an address of any kind.
#[inline(always)]
pub fn prefetch(at: *const u32) {
    prefetch_line(at);
    prefetch_line(at.wrapping_byte_add(64));
}

/// Asks for the line at an address of any kind.
#[inline(always)]
pub fn prefetch_line(at: *const u32) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a hint; nothing happens at addresses that cannot be read.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
}

/// How many cells from the start are ids of the thread that owns `own_base .. own_base + own_span`. The span is a power
/// of two and the base a multiple of it, so that one `xor` and one `and` tell. `data`: bytes from a cell to what it
/// stands for, which the caller's loop reads next, and which is fetched meanwhile.
#[inline]
pub fn own_prefix(cells: &[u32], own_base: u32, own_span: u32, data: usize) -> usize {
    prefix(cells, own_base, !(own_span - 1), data)
}

/// How many cells from the start are in `state`.
#[inline]
pub fn equal_prefix(cells: &[u32], state: u32) -> usize {
    prefix(cells, state, u32::MAX, 0)
}

/// How many cells from the start agree with `value` in the bits of `mask`.
#[inline]
pub fn prefix(cells: &[u32], value: u32, mask: u32, data: usize) -> usize {
    let (blocks, _) = cells.as_chunks::<BLOCK>();
    let whole = if blocks.is_empty() {
        0
    } else if has_avx2() {
        // SAFETY: the processor has AVX2.
        unsafe { blocks_avx2(blocks, value, mask, data) }
    } else {
        agreeing_blocks(blocks, value, mask)
    };
    let rest = cells.get(whole * BLOCK..).unwrap_or(&[]);
    whole * BLOCK + rest.iter().take(BLOCK).take_while(|c| (**c ^ value) & mask == 0).count()
}

/// Whether all of a few cells agree with `value` in the bits of `mask`. Nothing is fetched ahead.
#[inline]
pub fn all_agree(cells: &[u32], value: u32, mask: u32) -> bool {
    let (blocks, rest) = cells.as_chunks::<BLOCK>();
    let whole = if blocks.is_empty() {
        true
    } else if has_avx2() {
        // SAFETY: the processor has AVX2.
        unsafe { all_agree_avx2(blocks, value, mask) }
    } else {
        agreeing_blocks(blocks, value, mask) == blocks.len()
    };
    whole && rest.iter().fold(0, |any, c| any | (c ^ value) & mask) == 0
}

/// How many cells from the start are like the one `distance` behind.
pub fn repeats(cells: &[u32], distance: usize) -> usize {
    let behind = cells.get(distance..).unwrap_or(&[]);
    let (blocks, _) = behind.as_chunks::<BLOCK>();
    let alike = |(a, b): &(&[u32; BLOCK], &[u32; BLOCK])| a.iter().zip(*b).fold(0, |any, (a, b)| any | (a ^ b)) == 0;
    let whole = BLOCK * cells.as_chunks::<BLOCK>().0.iter().zip(blocks).take_while(alike).count();
    let rest = cells.iter().zip(behind).skip(whole);
    whole + rest.take_while(|(a, b)| a == b).count()
}

#[target_feature(enable = "avx2")]
fn all_agree_avx2(blocks: &[[u32; BLOCK]], value: u32, mask: u32) -> bool {
    use core::arch::x86_64::*;
    let (value, mask) = (_mm256_set1_epi32(value.cast_signed()), _mm256_set1_epi32(mask.cast_signed()));
    for block in blocks {
        if _mm256_testz_si256(differences(block, value), mask) == 0 {
            return false;
        }
    }
    true
}

/// The bits in which some cell of a block differs from what a lane of `value` has.
#[target_feature(enable = "avx2")]
#[inline]
fn differences(block: &[u32; BLOCK], value: core::arch::x86_64::__m256i) -> core::arch::x86_64::__m256i {
    use core::arch::x86_64::*;
    let lanes = block.as_ptr().cast::<__m256i>();
    // SAFETY: a block is four registers long.
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| unsafe { _mm256_loadu_si256(lanes.add(i)) });
    let differs = |x| _mm256_xor_si256(x, value);
    _mm256_or_si256(_mm256_or_si256(differs(a), differs(b)), _mm256_or_si256(differs(c), differs(d)))
}

/// How many blocks from the start agree. By hand: iterator adaptors are compiled without the feature.
#[target_feature(enable = "avx2")]
fn blocks_avx2(blocks: &[[u32; BLOCK]], value: u32, mask: u32, data: usize) -> usize {
    use core::arch::x86_64::*;
    let (value, mask) = (_mm256_set1_epi32(value.cast_signed()), _mm256_set1_epi32(mask.cast_signed()));
    let mut agreeing = 0;
    for block in blocks {
        prefetch(block.as_ptr().wrapping_byte_add(AHEAD));
        prefetch(block.as_ptr().wrapping_byte_add(data));
        if _mm256_testz_si256(differences(block, value), mask) == 0 {
            break;
        }
        agreeing += 1;
    }
    agreeing
}

fn agreeing_blocks(blocks: &[[u32; BLOCK]], value: u32, mask: u32) -> usize {
    blocks.iter().take_while(|block| block.iter().fold(0, |any, c| any | (c ^ value) & mask) == 0).count()
}

/// 0 = not asked yet, 1 = no, 2 = yes.
static AVX2: AtomicU8 = AtomicU8::new(0);

#[inline]
fn has_avx2() -> bool {
    match AVX2.load(Ordering::Relaxed) {
        0 => ask(),
        known => known == 2,
    }
}

#[cold]
fn ask() -> bool {
    use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
    #[target_feature(enable = "xsave")]
    fn system_saves_wide_registers() -> bool {
        // SAFETY: called only where the system has switched the instruction on.
        unsafe { _xgetbv(0) & 6 == 6 }
    }
    let most = __cpuid(0).eax;
    let switched_on = most >= 7 && __cpuid(1).ecx >> 27 & 1 == 1;
    // SAFETY: OSXSAVE says that the instruction is there.
    let yes = switched_on && __cpuid_count(7, 0).ebx >> 5 & 1 == 1 && unsafe { system_saves_wide_registers() };
    AVX2.store(1 + u8::from(yes), Ordering::Relaxed);
    yes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn prefixes_end_at_the_first_stranger() {
        for length in [0usize, 1, 31, 32, 33, 64, 100, 321] {
            for stranger in 0..=length {
                let mut cells = vec![7u32; length];
                if stranger < length {
                    cells[stranger] = 8;
                }
                assert_eq!(equal_prefix(&cells, 7), stranger, "{length} cells");
                assert_eq!(all_agree(&cells, 7, u32::MAX), stranger == length, "{length} cells, {stranger}");
            }
        }
    }

    #[test]
    fn what_repeats_ends_at_the_first_that_differs() {
        for (length, distance) in [(0usize, 3usize), (2, 3), (7, 3), (100, 8), (97, 5), (64, 32)] {
            for stranger in distance..=length {
                let mut cells: std::vec::Vec<u32> = (0..length).map(|i| (i % distance) as u32).collect();
                if stranger < length {
                    cells[stranger] = 99;
                }
                let expected = stranger.saturating_sub(distance);
                assert_eq!(repeats(&cells, distance), expected, "{length} cells, {distance}, {stranger}");
            }
        }
    }

    #[test]
    fn own_cells_are_those_of_the_span() {
        let (base, span) = (6 << 17, 2 << 16);
        let mut cells: std::vec::Vec<u32> = (0..200).map(|i| base + i * 600).collect();
        assert_eq!(own_prefix(&cells, base, span, 0), 200);
        cells[150] = base + span;
        assert_eq!(own_prefix(&cells, base, span, 0), 150);
        cells[40] = base - 1;
        assert_eq!(own_prefix(&cells, base, span, 0), 40);
    }
}
