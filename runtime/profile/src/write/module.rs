//! The tables of a module.

use std::collections::HashMap;
use std::mem::{offset_of, size_of};
use threadtalk_abi::module::{
    AccessEntry, ModuleBases, NO_STRIDE, RegionEntry, SectionHeader, SiteEntry, TablesHeader, VARIABLE_STRIDE, section,
};

use super::bytes::put;
use super::control;
use crate::layout::ModuleRecord;
use crate::tables::{Module, Stride};

/// The payload of a module block.
pub fn encode(module: &Module) -> Vec<u8> {
    let mut strings = Strings { bytes: vec![0], known: HashMap::new() };
    let (regions, sites) = (module.regions.len(), module.sites.len());
    let plain = size_of::<TablesHeader>() + regions * size_of::<RegionEntry>() + sites * size_of::<SiteEntry>();
    let tables = plain + control::length(&module.functions);
    let mut bytes = vec![0; size_of::<ModuleRecord>() + tables];
    let (record, rest) = bytes.split_at_mut(size_of::<ModuleRecord>());
    let (header, rest) = rest.split_at_mut(size_of::<TablesHeader>());
    let (region_bytes, rest) = rest.split_at_mut(regions * size_of::<RegionEntry>());
    let (site_bytes, control_bytes) = rest.split_at_mut(sites * size_of::<SiteEntry>());

    let name = strings.add(&module.name);
    for (region, entry) in module.regions.iter().zip(region_bytes.chunks_exact_mut(size_of::<RegionEntry>())) {
        put!(entry, RegionEntry, kind, region.kind as u16);
        put!(entry, RegionEntry, name, strings.add(&region.name));
        put!(entry, RegionEntry, file, strings.add(&region.file));
        put!(entry, RegionEntry, line, region.line);
        put!(entry, RegionEntry, end_line, region.end_line);
        put!(entry, RegionEntry, parent, region.parent.map_or(0, |p| p + 1));
    }
    for (site, entry) in module.sites.iter().zip(site_bytes.chunks_exact_mut(size_of::<SiteEntry>())) {
        put!(entry, SiteEntry, region, site.region);
        put!(entry, SiteEntry, file, strings.add(&site.file));
        put!(entry, SiteEntry, line, site.line);
        put!(entry, SiteEntry, flags, site.flags);
    }
    control::encode(&module.functions, header, control_bytes, &mut strings);
    let mut sections = accesses(module, &mut strings);
    sections.extend(caller_loops(module));
    put!(header, TablesHeader, regions, regions as u32);
    put!(header, TablesHeader, sites, sites as u32);
    put!(header, TablesHeader, strings_len, strings.bytes.len() as u32);
    put!(header, TablesHeader, name, name);

    let bases = &mut record[offset_of!(ModuleRecord, bases)..];
    put!(bases, ModuleBases, site_base, module.bases.site_base);
    put!(bases, ModuleBases, site_salt, module.bases.site_salt);
    put!(bases, ModuleBases, write_site_base, module.bases.write_site_base);
    put!(bases, ModuleBases, region_base, module.bases.region_base);
    put!(bases, ModuleBases, counter_base, module.bases.counter_base);
    put!(record, ModuleRecord, counters, module.counters);
    put!(record, ModuleRecord, sites, sites as u32);
    put!(record, ModuleRecord, regions, regions as u32);
    put!(record, ModuleRecord, tables_len, (tables + strings.bytes.len() + sections.len()) as u32);
    bytes.extend_from_slice(&strings.bytes);
    bytes.extend_from_slice(&sections);
    bytes
}

/// The section of what the sites access; nothing if that is not known.
fn accesses(module: &Module, strings: &mut Strings) -> Vec<u8> {
    if module.accesses.is_empty() {
        return Vec::new();
    }
    assert_eq!(module.accesses.len(), module.sites.len(), "not one access for each site");
    let length = module.accesses.len() * size_of::<AccessEntry>();
    let mut bytes = vec![0; size_of::<SectionHeader>() + length];
    put!(bytes.as_mut_slice(), SectionHeader, kind, section::ACCESSES);
    put!(bytes.as_mut_slice(), SectionHeader, bytes, length as u32);
    let stride = |stride| match stride {
        Stride::None => NO_STRIDE,
        Stride::Variable => VARIABLE_STRIDE,
        Stride::Bytes(bytes) => bytes,
    };
    let entries = bytes[size_of::<SectionHeader>()..].chunks_exact_mut(size_of::<AccessEntry>());
    for (access, entry) in module.accesses.iter().zip(entries) {
        put!(entry, AccessEntry, object_kind, access.kind as u32);
        put!(entry, AccessEntry, object, strings.add(&access.object));
        put!(entry, AccessEntry, object_file, strings.add(&access.file));
        put!(entry, AccessEntry, object_line, access.line);
        put!(entry, AccessEntry, stride, stride(access.stride));
        put!(entry, AccessEntry, outer_stride, stride(access.outer_stride));
    }
    bytes
}

/// The section of the loops that sites were inlined into; nothing if there are none.
fn caller_loops(module: &Module) -> Vec<u8> {
    if module.caller_loops.is_empty() {
        return Vec::new();
    }
    assert_eq!(module.caller_loops.len(), module.sites.len(), "not one caller's loop for each site");
    let mut bytes = vec![0; size_of::<SectionHeader>()];
    put!(bytes.as_mut_slice(), SectionHeader, kind, section::CALLER_LOOPS);
    put!(bytes.as_mut_slice(), SectionHeader, bytes, (module.caller_loops.len() * size_of::<u32>()) as u32);
    bytes.extend(module.caller_loops.iter().flat_map(|l| l.map_or(0, |index| index + 1).to_le_bytes()));
    bytes
}

/// NUL-terminated strings, each stored once.
pub(super) struct Strings {
    bytes: Vec<u8>,
    known: HashMap<String, u32>,
}

impl Strings {
    pub(super) fn add(&mut self, text: &str) -> u32 {
        assert!(!text.contains('\0'), "a NUL in a name");
        if text.is_empty() {
            return 0;
        }
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let offset = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
        self.known.insert(text.to_owned(), offset);
        offset
    }
}
