//! Fields of the layout's structures into a slice of bytes.

/// A type that records are made of.
pub trait Field {
    /// Writes the value, little endian, to the first bytes.
    fn encode(&self, bytes: &mut [u8]);
}

macro_rules! number {
    ($($t:ty),*) => {$(
        impl Field for $t {
            fn encode(&self, bytes: &mut [u8]) {
                let own = self.to_le_bytes();
                bytes[..own.len()].copy_from_slice(&own);
            }
        }
    )*};
}
number!(u8, u16, u32, u64, i32, i64);

impl<T: Field, const N: usize> Field for [T; N] {
    fn encode(&self, bytes: &mut [u8]) {
        for (value, part) in self.iter().zip(bytes.chunks_exact_mut(size_of::<T>())) {
            value.encode(part);
        }
    }
}

/// Writes a field. The accessor is never called: it ties the value's type to the layout.
pub fn write<R, F: Field>(bytes: &mut [u8], offset: usize, value: F, _type: fn(&R) -> &F) {
    value.encode(&mut bytes[offset..]);
}

/// `put!(bytes, Record, name, value)`: sets the field of a record of the layout.
macro_rules! put {
    ($bytes:expr, $record:ty, $name:ident, $value:expr) => {
        $crate::write::bytes::write($bytes, std::mem::offset_of!($record, $name), $value, |r: &$record| &r.$name)
    };
}
pub(crate) use put;

/// Text cut to `N` bytes at a character's end, NUL-padded.
pub fn text<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let end = (0..=N.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    bytes[..end].copy_from_slice(&text.as_bytes()[..end]);
    bytes
}
