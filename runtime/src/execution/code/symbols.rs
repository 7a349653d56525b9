//! The symbol table of an ELF file: which function an address belongs to.

use crate::file::name::Path;
use core::mem::size_of;
use core::slice;
use libc::{Elf64_Ehdr, Elf64_Shdr, Elf64_Sym};

/// Sections of symbols: all, or those of the dynamic linker where the file was stripped of the others.
const SYMTAB: u32 = 2;
const DYNSYM: u32 = 11;
/// In `st_info`: a function.
const FUNCTION: u8 = 2;

/// Calls `found` with the name of the function at an address of the file, if it has one.
pub fn function_at(path: &mut Path, address: u64, found: impl FnOnce(&[u8])) {
    path.push(b"\0");
    // SAFETY: a C string; the results are checked. The mapping is private and read only, and is given back below.
    unsafe {
        let file = libc::open(path.as_bytes().as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return;
        }
        let length = libc::lseek(file, 0, libc::SEEK_END).max(0) as usize;
        let map = libc::mmap(core::ptr::null_mut(), length.max(1), libc::PROT_READ, libc::MAP_PRIVATE, file, 0);
        libc::close(file);
        if map == libc::MAP_FAILED {
            return;
        }
        if let Some(name) = search(slice::from_raw_parts(map.cast::<u8>(), length), address) {
            found(name);
        }
        libc::munmap(map, length.max(1));
    }
}

/// The name of the function at `address`, in the bytes of an ELF file.
fn search(file: &[u8], address: u64) -> Option<&[u8]> {
    let header: Elf64_Ehdr = read(file, 0)?;
    if header.e_ident.get(..5) != Some(b"\x7fELF\x02") {
        return None;
    }
    let section = |index: u64| -> Option<Elf64_Shdr> {
        read(file, header.e_shoff.checked_add(index.checked_mul(u64::from(header.e_shentsize))?)?)
    };
    let of_kind = |kind: u32| (0..u64::from(header.e_shnum)).filter_map(section).find(|s| s.sh_type == kind);
    [SYMTAB, DYNSYM].into_iter().filter_map(of_kind).find_map(|symbols| {
        let strings = section(u64::from(symbols.sh_link))?;
        let number = symbols.sh_size / size_of::<Elf64_Sym>() as u64;
        let symbol = |i: u64| -> Option<Elf64_Sym> {
            read(file, symbols.sh_offset.checked_add(i * size_of::<Elf64_Sym>() as u64)?)
        };
        let holds =
            |s: &Elf64_Sym| s.st_info & 15 == FUNCTION && s.st_value <= address && address - s.st_value < s.st_size;
        let symbol = (0..number).map_while(symbol).find(holds)?;
        let name = file.get(usize::try_from(strings.sh_offset.checked_add(u64::from(symbol.st_name))?).ok()?..)?;
        name.split(|byte| *byte == 0).next()
    })
}

/// A structure of the file.
fn read<T: Copy>(file: &[u8], offset: u64) -> Option<T> {
    let bytes = file.get(usize::try_from(offset).ok()?..)?.get(..size_of::<T>())?;
    // SAFETY: as many bytes as the type has; it consists of integers and is read from any alignment.
    Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

#[cfg(test)]
mod tests {
    use super::search;

    #[test]
    fn what_is_no_elf_file_has_no_functions() {
        assert_eq!(search(b"", 0), None);
        assert_eq!(search(&[0; 64], 0), None);
        let mut cut = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        cut.truncate(100);
        assert_eq!(search(&cut, 0), None);
        cut.truncate(70);
        cut.iter_mut().skip(16).for_each(|b| *b = 0xff);
        assert_eq!(search(&cut, u64::MAX), None);
    }
}
