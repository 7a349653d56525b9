//! The analysis as JSON, in the shape of `schema/threadtalk.report-1.schema.json`.

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
    report.serialize(&mut Serializer::with_formatter(&mut out, ShortNumbers))?;
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

/// What `serde_json` writes by itself, with a short way for numbers of one digit: rows of matrices are mostly zeros,
/// and to format each of thirty million was a tenth of the time of a large report.
struct ShortNumbers;

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
        if value.to_bits() == 0 { out.write_all(b"0.0") } else { CompactFormatter.write_f64(out, value) }
    }
}

/// The report as [`write()`] writes it.
pub fn report(report: &Report) -> String {
    output::in_memory(|out| write(report, out))
}
