//! Places in code that the pass has not seen, by return address: which function of which file.
//!
//! OMPT tells where a construct stands only by such an address. `dladdr` would take the dynamic linker's lock, which
//! `dlopen` holds while it runs constructors that may wait for the very thread that asks; `dl_iterate_phdr` does not.
//! The function's name comes from the file's own symbol table, so that static functions have names, too.

mod symbols;

use crate::file::name::Path;
use crate::process::{Process, meta};
use crate::thread::Thread;
use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use threadtalk_profile::layout::{CODE_SITE, CodeRecord};

/// Most places; more are told as unknown.
const MOST: usize = 1024;

/// A place: its number is its index.
pub struct Place {
    /// Return address; 0 = free.
    address: AtomicUsize,
    /// Instances of the section there.
    instances: AtomicU64,
}

static PLACES: [Place; MOST] = [const { Place { address: AtomicUsize::new(0), instances: AtomicU64::new(0) } }; MOST];

impl Place {
    /// Number of the next instance.
    pub fn next_instance(&self) -> u64 {
        self.instances.fetch_add(1, Ordering::Relaxed)
    }
}

/// The place of a return address, and whether this call was the first to ask.
fn find(address: usize) -> Option<(usize, bool)> {
    let first = (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) % MOST;
    for index in (first..MOST).chain(0..first) {
        let slot = PLACES.get(index)?;
        match slot.address.compare_exchange(0, address, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return Some((index, true)),
            Err(held) if held == address => return Some((index, false)),
            Err(_) => {}
        }
    }
    None
}

/// The place of a return address; none for null.
pub fn place(address: *const c_void) -> Option<&'static Place> {
    if address.is_null() {
        return None;
    }
    find(address.addr()).and_then(|(index, _)| PLACES.get(index))
}

/// The site number of a return address, whose record is written the first time; 0 = unknown.
pub fn site(t: &mut Thread, p: &Process, address: *const c_void) -> u32 {
    if address.is_null() {
        return 0;
    }
    let Some((index, _)) = find(address.addr()) else { return 0 };
    let (word, bit) = (index / 64, 1u64 << (index % 64));
    static WRITTEN: [AtomicU64; MOST / 64] = [const { AtomicU64::new(0) }; MOST / 64];
    let is_new = WRITTEN.get(word).is_some_and(|w| w.fetch_or(bit, Ordering::Relaxed) & bit == 0);
    if is_new {
        // The call itself lies before the address to which it returns.
        let record = describe(index as u32, address.addr() - 1);
        t.execution.code.append(&p.file, record);
    }
    CODE_SITE | index as u32
}

/// What is known of an address.
fn describe(id: u32, address: usize) -> CodeRecord {
    let mut search = Search { address, bias: 0, name: core::ptr::null(), found: false };
    // SAFETY: the callback is called while this runs, with the search that it is given.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    let mut record = CodeRecord { id, reserved: 0, address: address as u64, function: [0; 112], file: [0; 128] };
    if !search.found {
        return record;
    }
    record.address = (address - search.bias) as u64;
    let mut buffer = [0u8; 4096];
    // SAFETY: a C string of the dynamic linker, which lives as long as the object; its caller is in it.
    let named = if search.name.is_null() { c"" } else { unsafe { CStr::from_ptr(search.name) } };
    // The executable has no name there.
    let name = if named.is_empty() { meta::executable(&mut buffer) } else { named.to_bytes() };
    let tail = name.len().saturating_sub(record.file.len() - 1);
    copy(&mut record.file, name.get(tail..).unwrap_or(b""));
    let mut path = Path::new();
    path.push(name);
    symbols::function_at(&mut path, record.address, |function| copy(&mut record.function, function));
    record
}

fn copy<const N: usize>(to: &mut [u8; N], from: &[u8]) {
    for (to, from) in to.iter_mut().take(N - 1).zip(from) {
        *to = *from;
    }
}

struct Search {
    address: usize,
    bias: usize,
    name: *const core::ffi::c_char,
    found: bool,
}

/// Whether the address is in one of the object's segments.
unsafe extern "C" fn visit(object: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: the linker's description of an object and the search that was handed in.
    let (object, search) = unsafe { (&*object, &mut *search.cast::<Search>()) };
    for i in 0..usize::from(object.dlpi_phnum) {
        // SAFETY: as many headers as it says.
        let header = unsafe { &*object.dlpi_phdr.add(i) };
        let start = (object.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
        if header.p_type == libc::PT_LOAD && search.address.wrapping_sub(start) < header.p_memsz as usize {
            (search.bias, search.name, search.found) = (object.dlpi_addr as usize, object.dlpi_name, true);
            return 1;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    extern "C" fn planted() -> usize {
        planted as *const () as usize
    }

    #[test]
    fn a_function_of_this_program_is_found_by_its_address() {
        let record = describe(7, planted() + 1);
        let text = |bytes: &[u8]| std::string::String::from_utf8_lossy(bytes).into_owned();
        assert!(text(&record.function).contains("planted"), "{}", text(&record.function));
        let program = std::env::current_exe().unwrap().display().to_string();
        assert!(program.ends_with(text(&record.file).trim_end_matches('\0')));
        assert!(record.id == 7 && record.address < planted() as u64);
    }

    #[test]
    fn an_address_outside_of_all_objects_has_no_name() {
        let record = describe(1, 16);
        assert_eq!((record.function, record.file, record.address), ([0; 112], [0; 128], 16));
    }

    #[test]
    fn a_place_is_one_however_often_it_is_asked_for() {
        let (index, first) = find(0x1234).unwrap();
        assert!(first);
        assert_eq!(find(0x1234).unwrap(), (index, false));
        assert_ne!(find(0x1238).unwrap().0, index);
    }
}
