//! Fields of the layout's structures in a slice of bytes.

use std::mem::size_of;

/// A type that records are made of, little endian.
pub trait Field: Sized {
    /// The value in the first `size_of::<Self>()` bytes; the slice is at least that long.
    fn decode(bytes: &[u8]) -> Self;
}

macro_rules! number {
    ($($t:ty),*) => {$(
        impl Field for $t {
            #[inline]
            fn decode(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$t>()];
                own.copy_from_slice(&bytes[..size_of::<$t>()]);
                <$t>::from_le_bytes(own)
            }
        }
    )*};
}
number!(u8, u16, u32, u64, i32, i64);

impl<T: Field + Copy + Default, const N: usize> Field for [T; N] {
    fn decode(bytes: &[u8]) -> Self {
        let mut own = [T::default(); N];
        for (value, part) in own.iter_mut().zip(bytes.chunks_exact(size_of::<T>())) {
            *value = T::decode(part);
        }
        own
    }
}

/// Reads the field at `offset`. The accessor is never called: it ties the type of the result to the layout.
#[inline]
pub fn read<R, F: Field>(bytes: &[u8], offset: usize, _type: fn(&R) -> &F) -> F {
    F::decode(&bytes[offset..])
}

/// `field!(bytes, Record, name)`: the field of a record of the layout; `bytes` is at least as long as the record.
macro_rules! field {
    ($bytes:expr, $record:ty, $name:ident) => {
        $crate::read::record::read($bytes, std::mem::offset_of!($record, $name), |r: &$record| &r.$name)
    };
}
pub(crate) use field;

/// Text up to the first NUL. Bytes that are no UTF-8 become replacement characters.
pub fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
