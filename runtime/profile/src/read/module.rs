//! The tables of an instrumented module.

use std::collections::HashMap;
use std::mem::{offset_of, size_of};
use std::sync::Arc;
use threadtalk_abi::module::{
    AccessEntry, ModuleBases, NO_STRIDE, ObjectKind, RegionEntry, RegionKind, SectionHeader, SiteEntry, TablesHeader,
    VARIABLE_STRIDE, section,
};

use super::control;
use super::record::{field, text};
use crate::layout::ModuleRecord;
use crate::tables::{Module, Region, Site, SiteAccess, Stride};

/// Reads the payload of a module block; the error says what is wrong with it.
pub fn read(payload: &[u8]) -> Result<Module, String> {
    if payload.len() < size_of::<ModuleRecord>() + size_of::<TablesHeader>() {
        return Err("it is too short for its header".to_owned());
    }
    let (record, tables) = payload.split_at(size_of::<ModuleRecord>());
    let bases = &record[offset_of!(ModuleRecord, bases)..];
    let bases = ModuleBases {
        site_base: field!(bases, ModuleBases, site_base),
        site_salt: field!(bases, ModuleBases, site_salt),
        write_site_base: field!(bases, ModuleBases, write_site_base),
        region_base: field!(bases, ModuleBases, region_base),
        counter_base: field!(bases, ModuleBases, counter_base),
    };
    let tables = tables.get(..field!(record, ModuleRecord, tables_len) as usize);
    let tables = tables.filter(|t| t.len() >= size_of::<TablesHeader>());
    let (header, body) = tables.ok_or("its tables have an impossible length")?.split_at(size_of::<TablesHeader>());
    let regions = field!(header, TablesHeader, regions);
    let sites = field!(header, TablesHeader, sites);
    if (regions, sites) != (field!(record, ModuleRecord, regions), field!(record, ModuleRecord, sites)) {
        return Err("its tables are not of the length that was registered".to_owned());
    }
    if bases.site_base == 0 || bases.site_base.checked_add(sites).is_none() {
        return Err("its sites have impossible numbers".to_owned());
    }
    if bases.region_base == 0 || bases.region_base.checked_add(regions).is_none() {
        return Err("its regions have impossible numbers".to_owned());
    }
    let (region_entries, rest) = array(body, regions, size_of::<RegionEntry>())?;
    let (site_entries, rest) = array(rest, sites, size_of::<SiteEntry>())?;
    let counters = field!(record, ModuleRecord, counters);
    if bases.counter_base.checked_add(counters).is_none() {
        return Err("its counters have impossible numbers".to_owned());
    }
    let (control, rest) = control::Entries::split(header, rest)?;
    let strings_len = field!(header, TablesHeader, strings_len) as usize;
    let bytes = rest.get(..strings_len).ok_or("its strings are longer than itself")?;
    let mut strings = Strings { bytes, known: HashMap::new() };

    let name = strings.get(field!(header, TablesHeader, name))?;
    let regions: Vec<Region> = region_entries
        .chunks_exact(size_of::<RegionEntry>())
        .map(|entry| read_region(entry, &mut strings))
        .collect::<Result<_, String>>()?;
    check_parents(&regions)?;
    let count = regions.len();
    let functions = control.read(count, counters, &mut strings)?;
    let sites: Vec<Site> = site_entries
        .chunks_exact(size_of::<SiteEntry>())
        .map(|entry| read_site(entry, count, &mut strings))
        .collect::<Result<_, String>>()?;
    let accesses = match find_section(&rest[strings_len..], section::ACCESSES)? {
        None => Vec::new(),
        Some(entries) if entries.len() != sites.len() * size_of::<AccessEntry>() => {
            return Err("not one access for each site".to_owned());
        }
        Some(entries) => entries
            .chunks_exact(size_of::<AccessEntry>())
            .map(|entry| read_access(entry, &mut strings))
            .collect::<Result<_, String>>()?,
    };
    let caller_loops = match find_section(&rest[strings_len..], section::CALLER_LOOPS)? {
        None => Vec::new(),
        Some(loops) if loops.len() != sites.len() * size_of::<u32>() => {
            return Err("not one caller's loop for each site".to_owned());
        }
        Some(loops) => loops.chunks_exact(size_of::<u32>()).map(|l| read_loop(l, count)).collect::<Result<_, _>>()?,
    };
    Ok(Module { bases, name, regions, sites, accesses, caller_loops, counters, functions })
}

/// The bytes of the first section of a kind.
fn find_section(mut bytes: &[u8], wanted: u32) -> Result<Option<&[u8]>, String> {
    while bytes.len() >= size_of::<SectionHeader>() {
        let (header, rest) = bytes.split_at(size_of::<SectionHeader>());
        let length = field!(header, SectionHeader, bytes) as usize;
        let contents = rest.get(..length).ok_or("a section of its tables is longer than itself")?;
        if field!(header, SectionHeader, kind) == wanted {
            return Ok(Some(contents));
        }
        bytes = &rest[length..];
    }
    Ok(None)
}

fn read_loop(entry: &[u8], regions: usize) -> Result<Option<u32>, String> {
    let index = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]).checked_sub(1);
    match index {
        Some(index) if index as usize >= regions => Err(format!("a site in the loop {index} of {regions} regions")),
        index => Ok(index),
    }
}

fn read_access(entry: &[u8], strings: &mut Strings<'_>) -> Result<SiteAccess, String> {
    let stride = |bytes| match bytes {
        NO_STRIDE => Stride::None,
        VARIABLE_STRIDE => Stride::Variable,
        bytes => Stride::Bytes(bytes),
    };
    let kind = field!(entry, AccessEntry, object_kind);
    Ok(SiteAccess {
        kind: ObjectKind::from_number(kind).ok_or_else(|| format!("an object of unknown kind {kind}"))?,
        object: strings.get(field!(entry, AccessEntry, object))?,
        file: strings.get(field!(entry, AccessEntry, object_file))?,
        line: field!(entry, AccessEntry, object_line),
        stride: stride(field!(entry, AccessEntry, stride)),
        outer_stride: stride(field!(entry, AccessEntry, outer_stride)),
    })
}

pub(super) fn array(bytes: &[u8], count: u32, size: usize) -> Result<(&[u8], &[u8]), String> {
    let length = (count as usize).checked_mul(size).filter(|l| *l <= bytes.len());
    Ok(bytes.split_at(length.ok_or("its tables are longer than itself")?))
}

fn read_region(entry: &[u8], strings: &mut Strings<'_>) -> Result<Region, String> {
    let kind = field!(entry, RegionEntry, kind);
    Ok(Region {
        kind: RegionKind::from_number(kind).ok_or_else(|| format!("a region of unknown kind {kind}"))?,
        name: strings.get(field!(entry, RegionEntry, name))?,
        file: strings.get(field!(entry, RegionEntry, file))?,
        line: field!(entry, RegionEntry, line),
        end_line: field!(entry, RegionEntry, end_line),
        parent: field!(entry, RegionEntry, parent).checked_sub(1),
    })
}

fn read_site(entry: &[u8], regions: usize, strings: &mut Strings<'_>) -> Result<Site, String> {
    let region = field!(entry, SiteEntry, region);
    if region as usize >= regions {
        return Err(format!("a site in region {region}, which it has not"));
    }
    Ok(Site {
        region,
        file: strings.get(field!(entry, SiteEntry, file))?,
        line: field!(entry, SiteEntry, line),
        flags: field!(entry, SiteEntry, flags),
    })
}

/// Parents exist and no region is inside itself.
fn check_parents(regions: &[Region]) -> Result<(), String> {
    const OPEN: u32 = u32::MAX;
    // 0 = not seen, OPEN = on the way of this walk, else known to lead to the program.
    let mut seen = vec![0u32; regions.len()];
    for first in 0..regions.len() {
        let mut way = Vec::new();
        let mut at = first;
        while seen[at] == 0 {
            seen[at] = OPEN;
            way.push(at);
            match regions[at].parent {
                None => break,
                Some(parent) if (parent as usize) < regions.len() => at = parent as usize,
                Some(parent) => return Err(format!("a region in region {parent}, which it has not")),
            }
            if seen[at] == OPEN {
                return Err("a region inside itself".to_owned());
            }
        }
        for at in way {
            seen[at] = 1;
        }
    }
    Ok(())
}

/// The module's strings, each made once.
pub(super) struct Strings<'a> {
    bytes: &'a [u8],
    known: HashMap<u32, Arc<str>>,
}

impl Strings<'_> {
    pub(super) fn get(&mut self, offset: u32) -> Result<Arc<str>, String> {
        if let Some(known) = self.known.get(&offset) {
            return Ok(Arc::clone(known));
        }
        let tail = match self.bytes.get(offset as usize..) {
            Some(tail) if tail.contains(&0) => tail,
            // A module without strings may leave out the empty one.
            _ if offset == 0 && self.bytes.is_empty() => &[],
            _ => return Err(format!("a string at {offset}, where there is none")),
        };
        let string: Arc<str> = text(tail).into();
        self.known.insert(offset, Arc::clone(&string));
        Ok(string)
    }
}
