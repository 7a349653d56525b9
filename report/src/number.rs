//! Numbers for people: three digits and a unit.

/// A count: `0`, `999`, `1.23k`, `45.6M`, `7.89G`.
pub fn count(value: u64) -> String {
    scaled(value as f64, 1000.0, &["", "k", "M", "G", "T", "P", "E"])
}

/// Bytes in powers of 1024: `12 B`, `48 KiB`, `1.5 MiB`.
pub fn bytes(value: f64) -> String {
    scaled(value, 1024.0, &[" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"])
}

/// A quantity of any size, three significant digits: `0`, `0.012`, `3.4`, `120`, `5.6k`.
pub fn quantity(value: f64) -> String {
    // Variances of equal values come out as -0.
    let value = value + 0.0;
    if value != 0.0 && value.abs() < 0.001 {
        return format!("{value:.1e}");
    }
    if value.abs() < 10.0 {
        let digits = if value.abs() < 1.0 { 3 } else { 2 };
        return trimmed(&format!("{value:.digits$}"));
    }
    scaled(value, 1000.0, &["", "k", "M", "G", "T", "P", "E"])
}

/// Below this a share is a rounding error.
const NOTHING: f64 = 1e-9;

/// Sums of some thousand ratios differ by so many percent though they are of equal parts.
const ROUNDING: f64 = 1e-6;

/// A share between 0 and 1 in percent; what is there never shows as 0 and what is missing never as 100.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value {
        v if v <= NOTHING => "0 %".to_string(),
        v if v < 0.01 => "<0.01 %".to_string(),
        v if v < 10.0 => format!("{} %", trimmed(&format!("{v:.2}"))),
        v if v < 100.0 => format!("{} %", trimmed(&format!("{:.1}", v.min(99.9)))),
        _ => "100 %".to_string(),
    }
}

/// How far something is above the mean, in percent: `0 %`, `<0.01 %`, `3.4 %`, `1.5k %`.
pub fn excess(percent: f64) -> String {
    match percent {
        v if v <= ROUNDING => "0 %".to_string(),
        v if v < 0.01 => "<0.01 %".to_string(),
        v => format!("{} %", quantity(v)),
    }
}

/// Seconds: `12 ms`, `1.24 s`, `3 min 20 s`.
pub fn seconds(value: f64) -> String {
    match value {
        v if v < 1e-3 => format!("{:.0} us", v * 1e6),
        v if v < 1.0 => format!("{} ms", quantity(v * 1e3)),
        v if v < 120.0 => format!("{} s", quantity(v)),
        v => format!("{:.0} min {:02.0} s", (v / 60.0).floor(), (v % 60.0).floor()),
    }
}

fn scaled(value: f64, base: f64, units: &[&str]) -> String {
    let (mut value, mut unit) = (value, 0);
    // 999.5 would show as 1000.
    while value.abs() >= base - 0.5 && unit + 1 < units.len() {
        value /= base;
        unit += 1;
    }
    let digits = match value.abs() {
        v if v >= 99.95 || unit == 0 && v.fract() == 0.0 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{}{}", trimmed(&format!("{value:.digits$}")), units[unit])
}

/// Without zeros behind the decimal point.
fn trimmed(text: &str) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        let counts = [0, 7, 999, 1000, 1234, 45_600, 999_499, 999_999, 7_890_000_000, u64::MAX].map(count);
        assert_eq!(counts, ["0", "7", "999", "1k", "1.23k", "45.6k", "999k", "1M", "7.89G", "18.4E"]);
        let sizes = [0.0, 12.0, 1023.0, 49152.0, 1_572_864.0].map(bytes);
        assert_eq!(sizes, ["0 B", "12 B", "1023 B", "48 KiB", "1.5 MiB"]);
        let quantities = [-0.0, 0.000_04, 0.0123, 0.5, 3.456, 12.34, 120.4, 5600.0].map(quantity);
        assert_eq!(quantities, ["0", "4.0e-5", "0.012", "0.5", "3.46", "12.3", "120", "5.6k"]);
    }

    #[test]
    fn shares_do_not_round_to_nothing_or_to_everything() {
        assert_eq!(
            [0.0, 1e-7, 0.0123, 0.5, 0.99999, 1.0].map(percent),
            ["0 %", "<0.01 %", "1.23 %", "50 %", "99.9 %", "100 %"]
        );
    }

    #[test]
    fn what_is_above_the_mean_by_rounding_is_not() {
        assert_eq!([-1e-14, 2.7e-8, 0.002, 0.25, 1500.0].map(excess), ["0 %", "0 %", "<0.01 %", "0.25 %", "1.5k %"]);
    }

    #[test]
    fn durations() {
        assert_eq!([0.000_012, 0.0124, 1.5, 200.0].map(seconds), ["12 us", "12.4 ms", "1.5 s", "3 min 20 s"]);
    }
}
