//! Lists of processors as Linux writes them: `0-3,8,10-11`.

/// Largest number of a processor that is understood. Linux is built for 8192 at most.
pub const MAX_CPU: u32 = 8191;

/// The processors of a list, in its order. None if it is none, or names one beyond [`MAX_CPU`].
///
/// ```
/// assert_eq!(threadtalk_crd::machine::parse_cpus("8,0-2"), Some(vec![8, 0, 1, 2]));
/// assert_eq!(threadtalk_crd::machine::parse_cpus("2-0"), None);
/// ```
pub fn parse_cpus(list: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (number(first)?, number(last)?);
        if first > last || last > MAX_CPU {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

/// `parse` alone takes a sign.
fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()))
}

/// A list in its order, with ranges where three or more follow each other.
///
/// ```
/// assert_eq!(threadtalk_crd::machine::format_cpus(&[8, 0, 1, 2, 5, 6]), "8,0-2,5,6");
/// ```
pub fn format_cpus(cpus: &[u32]) -> String {
    let runs = cpus.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let written = runs.flat_map(|run| match run {
        [first, _, .., last] => vec![format!("{first}-{last}")],
        few => few.iter().map(u32::to_string).collect(),
    });
    written.collect::<Vec<_>>().join(",")
}
