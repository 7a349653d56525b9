//! The analysis as JSON, in the shape of `schema/threadtalk.report-1.schema.json`.

mod bytes;

use crate::output;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};
use std::io::{self, BufWriter, Write};
use threadtalk_crd::model::Report;

/// The schema of what [`report`] gives.
pub const SCHEMA: &str = include_str!("../schema/threadtalk.report-1.schema.json");

/// Bytes that are written at once.
const BUFFER: usize = 1 << 16;

/// Writes the report on one line, and a line end. Reports can be larger than the profile: they are never in memory as
/// a whole.
///
/// # Errors
/// Those of `out`.
pub fn write(report: &Report, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER, out);
    report.serialize(&mut Serializer::with_formatter(&mut out, ShortNumbers::new()))?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Writes a value for the inside of an element of HTML: `</script>` and `<!--` need their `<`.
///
/// # Errors
/// Those of `out`.
pub fn embed(value: &impl Serialize, out: impl Write) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, Embedded))?)
}

/// JSON that no parser of HTML mistakes for markup. Outside of strings there is no `<`.
struct Embedded;

impl Formatter for Embedded {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        for (index, part) in fragment.split('<').enumerate() {
            if index > 0 {
                out.write_all(b"\\u003c")?;
            }
            out.write_all(part.as_bytes())?;
        }
        Ok(())
    }
}

/// What `serde_json` writes by itself, with short ways for the numbers of large reports: rows of matrices are mostly
/// zeros, and to format each of thirty million was a tenth of the time; fractions are mostly ratios of small counts,
/// which come again and again, and take 19 ns each where they are worked out. Rows of small counts come as bytes.
struct ShortNumbers {
    fractions: Box<[Fraction; FRACTIONS]>,
    bytes: bytes::Texts,
}

/// Fractions that are remembered, direct-mapped. The 523 different ones of a million cells pushed each other out of 256
/// places 175 000 times; these are 40 KiB.
const FRACTIONS: usize = 1 << FRACTION_BITS;
const FRACTION_BITS: u32 = 10;

/// A number and how it is written: at most as long as `-2.2250738585072014e-308`.
#[derive(Clone, Copy)]
struct Fraction {
    bits: u64,
    length: u8,
    text: [u8; 24],
}

impl ShortNumbers {
    fn new() -> Self {
        let mut zero = Fraction { bits: 0, length: 3, text: [0; 24] };
        zero.text[..3].copy_from_slice(b"0.0");
        Self { fractions: Box::new([zero; FRACTIONS]), bytes: bytes::Texts::default() }
    }

    /// Not inlined, so that what writes a zero is.
    #[inline(never)]
    fn write_fraction<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        let bits = value.to_bits();
        // Fibonacci hashing: simple fractions differ in their first bits only.
        let slot = (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - FRACTION_BITS)) as usize;
        let fraction = &mut self.fractions[slot];
        if fraction.bits != bits {
            *fraction = Fraction::of(value)?;
        }
        out.write_all(&fraction.text[..usize::from(fraction.length)])
    }
}

impl Fraction {
    #[cold]
    fn of(value: f64) -> io::Result<Self> {
        let mut text = [0; 24];
        let mut rest = &mut text[..];
        CompactFormatter.write_f64(&mut rest, value)?;
        let length = 24 - rest.len() as u8;
        Ok(Self { bits: value.to_bits(), length, text })
    }
}

impl Formatter for ShortNumbers {
    #[inline]
    fn write_u64<W: ?Sized + Write>(&mut self, out: &mut W, value: u64) -> io::Result<()> {
        match u8::try_from(value) {
            Ok(digit @ 0..=9) => out.write_all(&[b'0' + digit]),
            _ => CompactFormatter.write_u64(out, value),
        }
    }

    #[inline]
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        if value.to_bits() == 0 { out.write_all(b"0.0") } else { self.write_fraction(out, value) }
    }

    fn write_byte_array<W: ?Sized + Write>(&mut self, out: &mut W, bytes: &[u8]) -> io::Result<()> {
        out.write_all(self.bytes.array(bytes))
    }
}

/// The report as [`write()`] writes it.
pub fn report(report: &Report) -> String {
    output::in_memory(|out| write(report, out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(numbers: &[f64]) -> String {
        let mut out = Vec::new();
        numbers.serialize(&mut Serializer::with_formatter(&mut out, ShortNumbers::new())).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_longest_fraction_fits() {
        let longest = [-2.225_073_858_507_201_4e-308, -0.0, f64::MIN_POSITIVE, f64::MAX, f64::NAN, f64::NEG_INFINITY];
        assert_eq!(written(&longest), serde_json::to_string(&longest).unwrap());
    }

    proptest! {
        // More numbers than are remembered, each of them twice.
        #[test]
        fn fractions_are_what_serde_json_writes(numbers in prop::collection::vec(any::<f64>(), 0..3 * FRACTIONS)) {
            let twice = [&numbers[..], &numbers[..]].concat();
            prop_assert_eq!(written(&twice), serde_json::to_string(&twice).unwrap());
        }
    }
}
