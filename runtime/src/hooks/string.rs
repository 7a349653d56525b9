//! C strings that a library function read or wrote.

/// Bytes of the string with its NUL, at most `most`.
pub fn bytes(address: u64, most: u64) -> u64 {
    if address == 0 {
        return 0;
    }
    let most = usize::try_from(most).unwrap_or(usize::MAX).min(isize::MAX as usize);
    // SAFETY: the program just had the C library walk this string.
    let length = unsafe { libc::strnlen(core::ptr::with_exposed_provenance(address as usize), most) };
    (length + usize::from(length < most)) as u64
}
