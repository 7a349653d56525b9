//! The caches of this machine, as the kernel describes those of its first processor.

use super::model::Geometry;
use crate::file::name::Path;

/// Where the kernel does not say.
const FIRST: Geometry = Geometry { bytes: 32 << 10, ways: 8, line: 64 };
const LAST: Geometry = Geometry { bytes: 1 << 20, ways: 16, line: 64 };

/// The first-level data cache, and one processor's share of the last level.
pub fn caches() -> (Geometry, Geometry) {
    let (mut first, mut last, mut highest) = (FIRST, LAST, 1);
    for index in 0..8 {
        let number = |name: &[u8]| attribute(index, name, number);
        let is_for_code = attribute(index, b"type", |text| Some(u64::from(text.first() == Some(&b'I')))) == Some(1);
        let Some(level) = number(b"level") else { break };
        let (Some(bytes), Some(line)) = (number(b"size"), number(b"coherency_line_size")) else { continue };
        if is_for_code || !line.is_power_of_two() {
            continue;
        }
        let ways = number(b"ways_of_associativity").unwrap_or(0).max(1);
        let sharing = attribute(index, b"shared_cpu_map", |text| Some(members(text))).unwrap_or(1).max(1);
        if level == 1 {
            first = Geometry { bytes, ways, line };
        } else if level > highest {
            highest = level;
            last = Geometry { bytes: (bytes / sharing).max(line * ways), ways, line };
        }
    }
    (first, last)
}

/// `32K`, `1024`, `8M`.
fn number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value: u64 = core::str::from_utf8(text.get(..digits)?).ok()?.parse().ok()?;
    let unit = match text.get(digits) {
        Some(b'K') => 1 << 10,
        Some(b'M') => 1 << 20,
        Some(b'G') => 1 << 30,
        _ => 1,
    };
    value.checked_mul(unit)
}

/// Bits that are set in a mask like `00000000,000000ff`.
fn members(text: &[u8]) -> u64 {
    text.iter().filter_map(|digit| (*digit as char).to_digit(16)).map(|digit| u64::from(digit.count_ones())).sum()
}

fn attribute(index: u64, name: &[u8], value: impl FnOnce(&[u8]) -> Option<u64>) -> Option<u64> {
    let mut path = Path::new();
    path.push(b"/sys/devices/system/cpu/cpu0/cache/index");
    path.push_number(index);
    path.push(b"/");
    path.push(name);
    path.push(b"\0");
    let mut text = [0u8; 256];
    // SAFETY: a C string, a buffer and its length, a descriptor of ours.
    let length = unsafe {
        let file = libc::open(path.as_bytes().as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return None;
        }
        let length = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        length
    };
    value(text.get(..usize::try_from(length).ok()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_words_for_sizes_and_processors() {
        assert_eq!(
            (number(b"32K\n"), number(b"8M"), number(b"64"), number(b"x")),
            (Some(32768), Some(8 << 20), Some(64), None)
        );
        assert_eq!((members(b"3\n"), members(b"00000001,000000ff\n"), members(b"")), (2, 9, 0));
    }

    #[test]
    fn this_machine_has_caches() {
        let (first, last) = caches();
        assert!(first.bytes >= 4096 && first.line.is_power_of_two() && first.words() > 1);
        assert!(last.words() >= 1);
    }
}
