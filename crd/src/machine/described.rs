//! Caches described in text, for a machine other than this one.

use super::Cache;

/// Why a description is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionError {
    /// An empty description or an empty level.
    #[error("cache level {level} is empty: write sizes from the nearest level on, for example 32K,1M,32M:shared=8")]
    Empty {
        /// Level, from 1.
        level: usize,
    },
    /// Not a size.
    #[error("`{text}` (cache level {level}) is no size: write a number above 0 with K, M or G, for example 32K")]
    Size {
        /// Level, from 1.
        level: usize,
        /// What was written.
        text: String,
    },
    /// What follows the size.
    #[error("`{text}` (cache level {level}) is not understood: only :shared=N with N of at least 1 may follow a size")]
    Sharing {
        /// Level, from 1.
        level: usize,
        /// What was written.
        text: String,
    },
    /// Sizes must grow.
    #[error("cache level {level} is not larger than the level before it: write the nearest level first")]
    Order {
        /// Level, from 1.
        level: usize,
    },
}

/// Reads a description: sizes from level 1 on, separated by commas, each with `:shared=N` for the hardware
/// threads that share it (1 if not said). `K`, `M` and `G` are powers of 1024; `KiB` and `KB` mean the same.
///
/// ```
/// let caches = threadtalk_crd::machine::parse("32K,1M,32M:shared=8")?;
/// assert_eq!((caches[2].level, caches[2].bytes, caches[2].shared_by), (3, 32 << 20, 8));
/// # Ok::<(), threadtalk_crd::machine::DescriptionError>(())
/// ```
pub fn parse(text: &str) -> Result<Vec<Cache>, DescriptionError> {
    let mut caches: Vec<Cache> = Vec::new();
    for (level, part) in (1..=u8::MAX).zip(text.split(',')) {
        let cache = parse_level(level, part.trim())?;
        if caches.last().is_some_and(|before| before.bytes >= cache.bytes) {
            return Err(DescriptionError::Order { level: level.into() });
        }
        caches.push(cache);
    }
    Ok(caches)
}

fn parse_level(number: u8, text: &str) -> Result<Cache, DescriptionError> {
    let level = usize::from(number);
    if text.is_empty() {
        return Err(DescriptionError::Empty { level });
    }
    let (size, sharing) = text.split_once(':').map_or((text, None), |(s, r)| (s, Some(r)));
    let bytes = parse_size(size).ok_or_else(|| DescriptionError::Size { level, text: size.to_owned() })?;
    let shared_by = match sharing {
        None => 1,
        Some(s) => s
            .strip_prefix("shared=")
            .and_then(|n| n.parse().ok())
            .filter(|n| *n > 0)
            .ok_or_else(|| DescriptionError::Sharing { level, text: s.to_owned() })?,
    };
    Ok(Cache { level: number, bytes, shared_by })
}

/// Bytes of `48K`, `2M`, `1GiB` or `4096`; none if it is no size, 0 or too large.
pub(super) fn parse_size(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift).filter(|b| *b > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_levels_and_sharing() {
        let cache = |level, bytes, shared_by| Cache { level, bytes, shared_by };
        assert_eq!(parse("48KiB, 2m:shared=2").unwrap(), [cache(1, 49152, 1), cache(2, 2 << 20, 2)]);
        assert_eq!(parse("4096").unwrap(), [cache(1, 4096, 1)]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |text| parse(text).unwrap_err().to_string();
        assert!(message("").starts_with("cache level 1 is empty"));
        assert!(message("32K,,1M").starts_with("cache level 2 is empty"));
        assert!(message("32K,big").starts_with("`big` (cache level 2) is no size"));
        assert!(message("0").starts_with("`0` (cache level 1) is no size"));
        assert!(message("99999999999999G").contains("is no size"));
        assert!(message("32K:shared=0").starts_with("`shared=0` (cache level 1) is not understood"));
        assert!(message("32K:ways=8").starts_with("`ways=8` (cache level 1)"));
        assert!(message("1M,32K").starts_with("cache level 2 is not larger"));
    }
}
