//! The header: is this a profile, of which version, and how did its process end?

use std::mem::{offset_of, size_of};

use super::record::field;
use crate::error::ErrorKind;
use crate::layout::{Accuracy, CrdMode, ENDIAN_MARK, FILE_MAGIC, FileHeader, SignatureMode, UNIT, VERSION, state};
use crate::tables::{Header, State};

/// Bytes that every version begins with: magic, version, byte order.
const COMMON: usize = offset_of!(FileHeader, header_size);

/// Checks and reads the header. Also checks that the file is as long as it was when it was sealed.
pub fn read(bytes: &[u8]) -> Result<Header, ErrorKind> {
    check_kind(bytes)?;
    if bytes.len() < size_of::<FileHeader>() {
        return Err(truncated("the file header", size_of::<FileHeader>() as u64, bytes));
    }
    let size = field!(bytes, FileHeader, header_size) as usize;
    if size != size_of::<FileHeader>() && size != offset_of!(FileHeader, lineless_values) {
        return Err(damaged("a header of another size"));
    }
    let lineless_values = match size > offset_of!(FileHeader, lineless_values) {
        true => field!(bytes, FileHeader, lineless_values),
        false => 0,
    };
    if u64::from(field!(bytes, FileHeader, unit)) != UNIT {
        return Err(damaged("blocks of another unit"));
    }
    let granule = field!(bytes, FileHeader, granule);
    if !granule.is_power_of_two() || granule > 4096 {
        return Err(damaged("an element size that is no power of two"));
    }
    let site_bits = field!(bytes, FileHeader, site_bits);
    if site_bits > 30 {
        return Err(damaged("more bits of sites than a cell has"));
    }
    let state = match field!(bytes, FileHeader, state) {
        state::RUNNING => State::Running,
        state::NORMAL => State::Normal,
        state::EXEC => State::Exec,
        state::ABRUPT => State::Abrupt,
        _ => return Err(damaged("an unknown state")),
    };
    let sealed_length = field!(bytes, FileHeader, sealed_length);
    if state != State::Running && sealed_length > bytes.len() as u64 {
        return Err(truncated("the file", sealed_length, bytes));
    }
    let recorded = |n: u64| (n > 0).then_some(n);
    Ok(Header {
        version: VERSION,
        granule,
        site_bits,
        pid: field!(bytes, FileHeader, pid),
        signature_mode: match field!(bytes, FileHeader, signature_mode) {
            m if m == SignatureMode::Hashed as u32 => SignatureMode::Hashed,
            m if m == SignatureMode::Exact as u32 => SignatureMode::Exact,
            _ => return Err(damaged("an unknown signature mode")),
        },
        crd_mode: match field!(bytes, FileHeader, crd_mode) {
            m if m == CrdMode::Off as u32 => CrdMode::Off,
            m if m == CrdMode::Auto as u32 => CrdMode::Auto,
            m if m == CrdMode::Exact as u32 => CrdMode::Exact,
            _ => return Err(damaged("an unknown mode of reuse distances")),
        },
        state,
        start_unix_ns: field!(bytes, FileHeader, start_unix_ns),
        duration_ns: recorded(field!(bytes, FileHeader, duration_ns)),
        cpu_ns: recorded(field!(bytes, FileHeader, cpu_ns)),
        exit_status: Some(field!(bytes, FileHeader, exit_status)).filter(|s| *s != -1),
        accuracy: accuracy(&bytes[offset_of!(FileHeader, accuracy)..]),
        lineless_values,
    })
}

/// Whether the file says that its process has not ended. For files too short to say so: no.
pub fn is_running(bytes: &[u8]) -> bool {
    bytes.len() >= size_of::<FileHeader>() && field!(bytes, FileHeader, state) == state::RUNNING
}

fn check_kind(bytes: &[u8]) -> Result<(), ErrorKind> {
    // A process that was killed before it wrote its header leaves zeros.
    if bytes.iter().take(size_of::<FileHeader>()).all(|b| *b == 0) {
        return Err(ErrorKind::Empty);
    }
    let begins = bytes.len().min(FILE_MAGIC.len());
    if bytes[..begins] != FILE_MAGIC[..begins] {
        let name = &FILE_MAGIC[1..4];
        // Seven-bit transfer clears the high bit of the first byte; line-end conversion changes what follows the name.
        let altered = bytes.len() >= COMMON && matches!(bytes[0], 0x89 | 0x09) && &bytes[1..4] == name;
        return Err(if altered { ErrorKind::TextMode } else { ErrorKind::NotAProfile });
    }
    if bytes.len() < COMMON {
        return Err(truncated("the file header", size_of::<FileHeader>() as u64, bytes));
    }
    match field!(bytes, FileHeader, endian) {
        ENDIAN_MARK => {}
        mark if mark == ENDIAN_MARK.swap_bytes() => return Err(ErrorKind::ByteOrder),
        _ => return Err(damaged("an unknown byte order")),
    }
    match field!(bytes, FileHeader, version) {
        VERSION => Ok(()),
        found if found > VERSION => Err(ErrorKind::TooNew { found }),
        found => Err(ErrorKind::TooOld { found }),
    }
}

fn accuracy(bytes: &[u8]) -> Accuracy {
    Accuracy {
        signature_budget: field!(bytes, Accuracy, signature_budget),
        signature_mapped: field!(bytes, Accuracy, signature_mapped),
        chunks: field!(bytes, Accuracy, chunks),
        chunks_aliased: field!(bytes, Accuracy, chunks_aliased),
        events_checked: field!(bytes, Accuracy, events_checked),
        events_suspect: field!(bytes, Accuracy, events_suspect),
        states: field!(bytes, Accuracy, states),
        states_exhausted: field!(bytes, Accuracy, states_exhausted),
        threads: field!(bytes, Accuracy, threads),
        threads_overflowed: field!(bytes, Accuracy, threads_overflowed),
        modules_without_lines: field!(bytes, Accuracy, modules_without_lines),
        dropped_reentrant: field!(bytes, Accuracy, dropped_reentrant),
        dropped_full: field!(bytes, Accuracy, dropped_full),
        crd_budget_reached: field!(bytes, Accuracy, crd_budget_reached),
        records_budget_reached: field!(bytes, Accuracy, records_budget_reached),
        dropped_budget: field!(bytes, Accuracy, dropped_budget),
        reuse_checked: field!(bytes, Accuracy, reuse_checked),
        reuse_suspect: field!(bytes, Accuracy, reuse_suspect),
        reuse_weight: field!(bytes, Accuracy, reuse_weight),
        suspect_reuse_weight: field!(bytes, Accuracy, suspect_reuse_weight),
    }
}

fn damaged(what: &str) -> ErrorKind {
    ErrorKind::Damaged { block: "file header", offset: 0, what: what.to_owned() }
}

fn truncated(what: &'static str, needed: u64, bytes: &[u8]) -> ErrorKind {
    ErrorKind::Truncated { what, offset: 0, needed, length: bytes.len() as u64 }
}
