//! The module's tables: regions, sites and strings, and their bytes in the object file
//! ([`threadtalk_abi::module`] has the layout).

use crate::llvm::hash::Map;
use crate::llvm::objects::Object;
use std::collections::BTreeSet;
use threadtalk_abi::control::{BlockEntry, CallEntry, EdgeEntry, FunctionEntry, function_flags};
use threadtalk_abi::module::{AccessEntry, NO_STRIDE, RegionEntry, RegionKind, SiteEntry, TablesHeader, section};

/// Index of a region in this module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegionId(pub u32);

/// Index of a site in this module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SiteId(pub u32);

/// What makes two regions the same. Loops and constructs of one function begin at different lines or are of different
/// kinds; functions are told apart by name and file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RegionKey {
    /// Kind.
    pub kind: RegionKind,
    /// Name of the function.
    pub name: String,
    /// Path of the file.
    pub file: String,
    /// First line.
    pub line: u32,
}

/// What a site accesses, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteAccess {
    /// The variable.
    pub object: Option<Object>,
    /// As [`AccessEntry::stride`].
    pub stride: i32,
    /// As [`AccessEntry::outer_stride`].
    pub outer_stride: i32,
    /// Of an allocation: by how many inlined calls the code that means it is outside of the call.
    pub frames: u32,
}

/// Where a site is in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The innermost region.
    pub region: RegionId,
    /// The innermost loop of a caller that the region's code was inlined into.
    pub caller_loop: Option<RegionId>,
}

impl Default for SiteAccess {
    fn default() -> Self {
        Self { object: None, stride: NO_STRIDE, outer_stride: NO_STRIDE, frames: 0 }
    }
}

/// Numbers that tell apart lines, kinds of accesses there, and places in which they are: see [`Tables::line`].
pub type Line = [u32; 5];

/// Members of one access that a report lists.
const MOST_NAMED: usize = 4;

/// The tables under construction. Everything is numbered in the order of first use, which is the order of the module's
/// instructions, so that the same input gives the same output.
#[derive(Default)]
pub struct Tables {
    regions: Vec<RegionEntry>,
    region_ids: Map<RegionKey, RegionId>,
    region_has_site: Vec<bool>,
    sites: Vec<SiteEntry>,
    accesses: Vec<AccessEntry>,
    caller_loops: Vec<u32>,
    site_ids: Map<(SiteEntry, u32, AccessEntry), SiteId>,
    strings: Vec<u8>,
    string_ids: Map<String, u32>,
    functions: Vec<FunctionEntry>,
    blocks: Vec<BlockEntry>,
    edges: Vec<EdgeEntry>,
    calls: Vec<CallEntry>,
    counters: u32,
}

impl Tables {
    /// The region with this key; `end_line` extends what is known of it, `parent` holds for the first mention.
    pub fn region(&mut self, key: RegionKey, end_line: u32, parent: Option<RegionId>) -> RegionId {
        if let Some(&id) = self.region_ids.get(&key) {
            let entry = &mut self.regions[id.0 as usize];
            entry.end_line = entry.end_line.max(end_line);
            return id;
        }
        let id = RegionId(self.regions.len() as u32);
        let entry = RegionEntry {
            kind: key.kind as u16,
            flags: 0,
            name: self.string(&key.name),
            file: self.string(&key.file),
            line: key.line,
            end_line: end_line.max(key.line),
            parent: parent.map_or(0, |p| p.0 + 1),
        };
        self.regions.push(entry);
        self.region_has_site.push(false);
        self.region_ids.insert(key, id);
        id
    }

    /// The site of accesses of one kind (`flags`: [`threadtalk_abi::module::site_flags`]) to one object on one line in
    /// one place. What is inlined into several loops has a site in each, so that it is known which of them an event
    /// belongs to. Line 0 is code that the compiler made up (the bounds of an OpenMP loop, captured variables): it
    /// stands for the region as a whole and gets the region's first line.
    pub fn site(&mut self, place: Place, file: &str, line: u32, flags: u32, access: &SiteAccess) -> SiteId {
        let region = place.region;
        let line = if line == 0 { self.regions[region.0 as usize].line } else { line };
        let file = self.string(file);
        let access = self.access(access);
        self.region_has_site[region.0 as usize] = true;
        let caller_loop = place.caller_loop.map_or(0, |l| l.0 + 1);
        self.number((SiteEntry { region: region.0, file, line, flags }, caller_loop, access))
    }

    /// What the events of a site are added up by, whatever it accesses.
    pub fn line(&self, site: SiteId) -> Line {
        let SiteEntry { region, file, line, flags } = self.sites[site.0 as usize];
        [region, file, line, flags, self.caller_loops[site.0 as usize]]
    }

    /// Name of what a site accesses; empty if it is not known.
    pub fn object(&self, site: SiteId) -> &str {
        self.text(self.accesses[site.0 as usize].object)
    }

    /// A key by which the sites of a line are in an order that has siblings side by side.
    pub fn beside_siblings(&self, site: SiteId) -> ([i64; 5], &str) {
        let AccessEntry { object_kind, object: _, object_file, object_line, stride, outer_stride } =
            self.accesses[site.0 as usize];
        let rest = [object_kind, object_file, object_line].map(i64::from);
        ([rest[0], rest[1], rest[2], stride.into(), outer_stride.into()], self.object(site))
    }

    /// Whether two sites of one line differ in nothing but the member of one object that they access.
    pub fn are_siblings(&self, a: SiteId, b: SiteId) -> bool {
        let of = |site: SiteId| self.accesses[site.0 as usize];
        let nameless = |site: SiteId| AccessEntry { object: 0, ..of(site) };
        let names = (self.object(a), self.object(b));
        a == b
            || self.line(a) == self.line(b)
                && nameless(a) == nameless(b)
                && (names.0 == names.1 || parent(names.0, names.1) > 0)
    }

    /// The site of one access to what siblings access.
    pub fn joined_site(&mut self, siblings: &[SiteId]) -> Option<SiteId> {
        let first = *siblings.first()?;
        if siblings.iter().all(|site| *site == first) {
            return Some(first);
        }
        let access = self.accesses[first.0 as usize];
        let names: BTreeSet<&str> = siblings.iter().map(|site| self.object(*site)).collect();
        let access = AccessEntry { object: self.string(&members(&names)), ..access };
        let (entry, caller_loop) = (self.sites[first.0 as usize], self.caller_loops[first.0 as usize]);
        Some(self.number((entry, caller_loop, access)))
    }

    /// The number of a site.
    fn number(&mut self, site: (SiteEntry, u32, AccessEntry)) -> SiteId {
        let next = SiteId(self.sites.len() as u32);
        let id = *self.site_ids.entry(site).or_insert(next);
        if id == next {
            let (entry, caller_loop, access) = site;
            self.sites.push(entry);
            self.caller_loops.push(caller_loop);
            self.accesses.push(access);
        }
        id
    }

    fn text(&self, at: u32) -> &str {
        let bytes = self.strings.get(at as usize..).unwrap_or_default();
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        std::str::from_utf8(&bytes[..end]).unwrap_or_default()
    }

    fn access(&mut self, access: &SiteAccess) -> AccessEntry {
        let SiteAccess { object, stride, outer_stride, frames: _ } = access;
        let (stride, outer_stride) = (*stride, *outer_stride);
        match object {
            None => AccessEntry { stride, outer_stride, ..AccessEntry::default() },
            Some(object) => AccessEntry {
                object_kind: object.kind,
                object: self.string(&object.name),
                object_file: self.string(&object.file),
                object_line: object.line,
                stride,
                outer_stride,
            },
        }
    }

    /// Whether any site lies directly in the region.
    pub fn has_site(&self, region: RegionId) -> bool {
        self.region_has_site[region.0 as usize]
    }

    /// Number of sites.
    pub fn sites(&self) -> u32 {
        self.sites.len() as u32
    }

    /// Number of regions.
    pub fn regions(&self) -> u32 {
        self.regions.len() as u32
    }

    /// A new counter.
    pub fn counter(&mut self) -> u32 {
        self.counters += 1;
        self.counters - 1
    }

    /// Number of counters.
    pub fn counters(&self) -> u32 {
        self.counters
    }

    /// Number of functions whose control flow is counted, or cannot be.
    pub fn functions(&self) -> usize {
        self.functions.len()
    }

    /// Adds the control flow graph of a function.
    pub fn control_function(
        &mut self,
        region: RegionId,
        flags: u32,
        blocks: &[BlockEntry],
        edges: &[EdgeEntry],
        calls: &[CallEntry],
    ) {
        self.functions.push(FunctionEntry {
            region: region.0,
            first_block: self.blocks.len() as u32,
            blocks: blocks.len() as u32,
            first_edge: self.edges.len() as u32,
            edges: edges.len() as u32,
            first_call: self.calls.len() as u32,
            calls: calls.len() as u32,
            flags,
        });
        self.blocks.extend(blocks);
        self.edges.extend(edges);
        self.calls.extend(calls);
    }

    /// The time of these functions is taken: numbers in the order of their graphs.
    pub fn set_timed(&mut self, functions: impl Iterator<Item = usize>) {
        for number in functions {
            self.functions[number].flags |= function_flags::TIMED;
        }
    }

    /// The bytes of the tables.
    pub fn serialise(&mut self, module_name: &str) -> Vec<u8> {
        let name = self.string(module_name);
        let header = TablesHeader {
            regions: self.regions.len() as u32,
            sites: self.sites.len() as u32,
            strings_len: self.strings.len().max(1) as u32,
            name,
            functions: self.functions.len() as u32,
            blocks: self.blocks.len() as u32,
            edges: self.edges.len() as u32,
            calls: self.calls.len() as u32,
        };
        let mut words = vec![header.regions, header.sites, header.strings_len, header.name];
        words.extend([header.functions, header.blocks, header.edges, header.calls]);
        for r in &self.regions {
            let kind_and_flags = u32::from(r.kind) | u32::from(r.flags) << 16;
            words.extend([kind_and_flags, r.name, r.file, r.line, r.end_line, r.parent]);
        }
        for s in &self.sites {
            words.extend([s.region, s.file, s.line, s.flags]);
        }
        for f in &self.functions {
            words.extend([f.region, f.first_block, f.blocks, f.first_edge, f.edges, f.first_call, f.calls, f.flags]);
        }
        for b in &self.blocks {
            words.extend([b.region, b.file, b.line, b.end_line]);
            words.extend(b.opcodes.chunks_exact(2).map(|two| pair(two[0], two[1])));
            words.push(pair(b.reads, b.writes));
        }
        for e in &self.edges {
            words.extend([e.from, e.to, e.counter, e.line, e.flags]);
        }
        for c in &self.calls {
            words.extend([c.block, c.callee, c.flags, c.line]);
        }
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        if self.strings.is_empty() {
            bytes.push(0);
        }
        bytes.extend(&self.strings);
        let words = self.accesses.iter().flat_map(|a| {
            [a.object_kind, a.object, a.object_file, a.object_line, a.stride as u32, a.outer_stride as u32]
        });
        add_section(&mut bytes, section::ACCESSES, words);
        if self.caller_loops.iter().any(|l| *l != 0) {
            add_section(&mut bytes, section::CALLER_LOOPS, self.caller_loops.iter().copied());
        }
        bytes
    }

    /// The place of a string.
    pub fn string(&mut self, text: &str) -> u32 {
        if self.strings.is_empty() {
            self.strings.push(0);
        }
        // A NUL would end the string early; no compiler accepts one in a name or path.
        let text = text.split('\0').next().unwrap_or_default();
        if text.is_empty() {
            return 0;
        }
        if let Some(&at) = self.string_ids.get(text) {
            return at;
        }
        let at = self.strings.len() as u32;
        self.strings.extend(text.bytes().chain([0]));
        self.string_ids.insert(text.to_string(), at);
        at
    }
}

/// How much of two members' names is the name of what they are members of, with what joins them to it: 3 of `p->x` and
/// `p->y`. 0 if there is no such thing, or they are one.
fn parent(a: &str, b: &str) -> usize {
    let shared = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let joint = a.as_bytes()[..shared].iter().rposition(|byte| matches!(byte, b'.' | b'>')).map_or(0, |at| at + 1);
    if a == b { 0 } else { joint }
}

/// The name of several members of one object: `p->{x,y,z}`, and of more than [`MOST_NAMED`] `p->*`.
fn members(names: &BTreeSet<&str>) -> String {
    // The order in which they are declared is not known, nor whether they are of one element of an array.
    let (Some(first), Some(last)) = (names.first(), names.last()) else { return String::new() };
    let object = parent(first, last);
    if names.len() > MOST_NAMED {
        return format!("{}*", &first[..object]);
    }
    let members: Vec<&str> = names.iter().filter_map(|name| name.get(object..)).collect();
    format!("{}{{{}}}", &first[..object], members.join(","))
}

fn add_section(bytes: &mut Vec<u8>, kind: u32, words: impl Iterator<Item = u32>) {
    let section: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    bytes.extend([kind, section.len() as u32].into_iter().flat_map(u32::to_le_bytes));
    bytes.extend(section);
}

/// Two numbers of 16 bits as they lie in memory.
fn pair(first: u16, second: u16) -> u32 {
    u32::from(first) | u32::from(second) << 16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(kind: RegionKind, line: u32) -> RegionKey {
        RegionKey { kind, name: "f".into(), file: "/a.c".into(), line }
    }

    #[test]
    fn regions_and_sites_are_merged_and_numbered_in_order() {
        let mut tables = Tables::default();
        let f = tables.region(key(RegionKind::Function, 3), 4, None);
        let l = tables.region(key(RegionKind::Loop, 5), 6, Some(f));
        assert_eq!(tables.region(key(RegionKind::Function, 3), 9, None), f);
        let any = SiteAccess::default();
        let here = Place { region: l, caller_loop: None };
        let s = tables.site(here, "/a.c", 5, 0, &any);
        assert_eq!(tables.site(here, "/a.c", 5, 0, &any), s);
        assert_ne!(tables.site(here, "/a.c", 5, 1, &any), s);
        assert_ne!(tables.site(here, "/a.c", 5, 0, &SiteAccess { stride: 8, ..SiteAccess::default() }), s);
        assert_ne!(tables.site(Place { caller_loop: Some(l), ..here }, "/a.c", 5, 0, &any), s);
        assert!(tables.has_site(l) && !tables.has_site(f));
        assert_eq!((tables.regions(), tables.sites()), (2, 4));
    }

    #[test]
    fn members_of_one_object_at_one_line_are_siblings() {
        let mut tables = Tables::default();
        let f = tables.region(key(RegionKind::Function, 3), 4, None);
        let here = Place { region: f, caller_loop: None };
        let mut site = |line, name: &str, stride| {
            let object = Object { kind: 3, name: name.into(), file: "/a.c".into(), line: 2 };
            let access = SiteAccess { object: Some(object), stride, ..SiteAccess::default() };
            tables.site(here, "/a.c", line, 0, &access)
        };
        let [x, y, z, inner] = ["p->x", "p->y", "p->c.z", "p->c.w"].map(|name| site(5, name, 8));
        let [whole, other, below, striding] =
            [site(5, "p", 8), site(5, "px", 8), site(6, "p->y", 8), site(5, "p->y", 4)];
        for sibling in [x, y, z] {
            assert!(tables.are_siblings(x, sibling));
        }
        for stranger in [whole, other, below, striding] {
            assert!(!tables.are_siblings(x, stranger), "{stranger:?}");
        }
        let mut joined = |sites: &[SiteId]| {
            let site = tables.joined_site(sites).unwrap();
            (site, tables.text(tables.accesses[site.0 as usize].object).to_owned())
        };
        assert_eq!(joined(&[x, x]), (x, "p->x".into()));
        assert_eq!(joined(&[z, inner]).1, "p->c.{w,z}");
        let (three, name) = joined(&[x, y, z]);
        assert_eq!((name.as_str(), joined(&[y, z, x]).0), ("p->{c.z,x,y}", three), "one name, whatever comes first");
        assert!(![x, y, z].contains(&three));
        assert_eq!(tables.line(three), tables.line(x));
    }

    #[test]
    fn many_members_are_not_listed() {
        let names = |all: &[&'static str]| members(&all.iter().copied().collect());
        assert_eq!(names(&["g.d", "g.a", "g.c", "g.b"]), "g.{a,b,c,d}");
        assert_eq!(names(&["g.d", "g.a", "g.c", "g.b", "g.e.f"]), "g.*");
    }

    #[test]
    fn bytes_have_the_documented_layout() {
        let mut tables = Tables::default();
        let f = tables.region(key(RegionKind::Function, 3), 9, None);
        let l = tables.region(key(RegionKind::Loop, 5), 6, Some(f));
        let object = Object { kind: 1, name: "f".into(), file: "/a.c".into(), line: 2 };
        let place = Place { region: l, caller_loop: Some(l) };
        tables.site(place, "/a.c", 5, 4, &SiteAccess { object: Some(object), stride: -8, ..SiteAccess::default() });
        let opcodes = [1, 2, 3, 4, 5, 6, 7, 8];
        let block = BlockEntry { region: 0, file: 3, line: 3, end_line: 4, opcodes, reads: 10, writes: 11 };
        let edge = EdgeEntry { from: u32::MAX, to: 0, counter: tables.counter() + 1, line: 3, flags: 2 };
        let call = CallEntry { block: 1, callee: 1, flags: 2, line: 9 };
        tables.control_function(f, 3, &[block, BlockEntry::default()], &[edge], &[call]);
        let bytes = tables.serialise("/m.c");
        let word = |i: usize| u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap());
        assert_eq!((0..8).map(word).collect::<Vec<_>>(), [2, 1, 1 + 2 + 5 + 5, 8, 1, 2, 1, 1]);
        assert_eq!((8..14).map(word).collect::<Vec<_>>(), [1, 1, 3, 3, 9, 0]);
        assert_eq!((14..20).map(word).collect::<Vec<_>>(), [2, 1, 3, 5, 6, 1]);
        assert_eq!((20..24).map(word).collect::<Vec<_>>(), [1, 3, 5, 4]);
        assert_eq!((24..32).map(word).collect::<Vec<_>>(), [0, 0, 2, 0, 1, 0, 1, 3]);
        assert_eq!((32..36).map(word).collect::<Vec<_>>(), [0, 3, 3, 4]);
        assert_eq!((36..41).map(word).collect::<Vec<_>>(), [0x2_0001, 0x4_0003, 0x6_0005, 0x8_0007, 0xb_000a]);
        assert_eq!((50..55).map(word).collect::<Vec<_>>(), [u32::MAX, 0, 1, 3, 2]);
        assert_eq!((55..59).map(word).collect::<Vec<_>>(), [1, 1, 2, 9]);
        assert_eq!(&bytes[236..249], b"\0f\0/a.c\0/m.c\0");
        let section: Vec<i32> =
            bytes[249..].chunks_exact(4).map(|w| i32::from_le_bytes(w.try_into().unwrap())).collect();
        assert_eq!(section, [1, 24, 1, 1, 3, 2, -8, i32::MIN, 2, 4, 2]);
    }

    #[test]
    fn empty_tables_still_have_the_empty_string() {
        let bytes = Tables::default().serialise("");
        assert_eq!(bytes[8..33], [[1].as_slice(), &[0; 24]].concat());
        assert_eq!(bytes[33..], [1, 0, 0, 0, 0, 0, 0, 0]);
    }
}
