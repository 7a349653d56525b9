//! Every way in which a file can be wrong, and what the user is told.

mod sample;

use std::fs;
use std::mem::{offset_of, size_of};
use std::path::Path;
use threadtalk_abi::control::{BlockEntry, EdgeEntry, FunctionEntry, OUTSIDE};
use threadtalk_abi::module::{
    AccessEntry, ModuleBases, ObjectKind, RegionEntry, SectionHeader, SiteEntry, TablesHeader,
};
use threadtalk_profile::layout::{
    BlockHeader, BlockedRecord, CODE_SITE, CodeRecord, CountKind, CountRecord, EventRecord, FileHeader, InstanceRecord,
    LevelRecord, LiveVisits, ModuleRecord, NodeRecord, PhaseRecord, ThreadRecord, TraceRecord, UNIT, UserRegionRecord,
    block,
};
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Header, Profile, SiteAccess, State, Stride};

fn message(bytes: &[u8]) -> String {
    Profile::from_bytes(bytes).unwrap_err().to_string()
}

fn sealed() -> Vec<u8> {
    sample::contents().encode()
}

/// Without checksums, so that what a checksum would hide can be changed.
fn unsealed() -> Vec<u8> {
    let mut contents = sample::contents();
    contents.header.state = State::Running;
    contents.encode()
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn set(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Where the first block of a kind begins.
fn find(bytes: &[u8], kind: u16) -> usize {
    let mut at = UNIT as usize;
    while number(bytes, at + offset_of!(BlockHeader, kind)) & 0xffff != u32::from(kind) {
        at += number(bytes, at + offset_of!(BlockHeader, units)) as usize * UNIT as usize;
    }
    at
}

/// The message after one field of the header was changed.
fn with_header(field: usize, value: u32) -> String {
    let mut bytes = sealed();
    set(&mut bytes, field, value);
    message(&bytes)
}

/// The message after one field of a block's header was changed.
fn with_block(kind: u16, field: usize, value: u32) -> String {
    let mut bytes = unsealed();
    let at = find(&bytes, kind) + field;
    set(&mut bytes, at, value);
    message(&bytes)
}

/// The message after one field of a block's payload was changed.
fn with_payload(kind: u16, field: usize, value: u32) -> String {
    with_block(kind, size_of::<BlockHeader>() + field, value)
}

#[test]
fn no_file() {
    let error = Profile::open("/nowhere/x.ttp").unwrap_err();
    assert_eq!(error.to_string(), "/nowhere/x.ttp cannot be read: No such file or directory (os error 2)");
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn a_folder() {
    let error = Profile::open(Path::new("/")).unwrap_err().to_string();
    assert!(error.starts_with("/ is not a threadtalk profile"), "{error}");
}

#[test]
fn empty() {
    let expected = "the profile is empty: the profiled program ended before recording began; run it again";
    assert_eq!(message(&[]), expected);
    assert_eq!(message(&vec![0; UNIT as usize]), expected);
}

#[test]
fn something_else() {
    for bytes in [&b"#!/bin/sh\n"[..], b"\x7fELF\x02\x01\x01", b"x", &[0xff; 4096]] {
        assert!(message(bytes).starts_with("the profile is not a threadtalk profile"), "{}", message(bytes));
    }
}

#[test]
fn text_mode() {
    let mut bytes = sealed();
    bytes.remove(4);
    assert!(message(&bytes).contains("was altered by a transfer in text mode"));
    let mut bytes = sealed();
    bytes[0] &= 0x7f;
    assert!(message(&bytes).contains("was altered by a transfer in text mode"));
}

#[test]
fn other_byte_order() {
    let message = with_header(offset_of!(FileHeader, endian), 0x0403_0201);
    assert!(message.contains("other byte order"), "{message}");
}

#[test]
fn too_new_and_too_old() {
    assert_eq!(
        with_header(offset_of!(FileHeader, version), 7),
        "the profile has format version 7, which is too new; threadtalk 0.1.0 reads up to 1: \
         use the threadtalk that recorded it, or a newer one"
    );
    assert_eq!(
        with_header(offset_of!(FileHeader, version), 0),
        "the profile has format version 0, which is too old; this threadtalk reads 1: record it again"
    );
}

#[test]
fn truncated_at_every_length() {
    let bytes = sealed();
    for length in (1..bytes.len()).step_by(61).chain((1..bytes.len()).filter(|l| l % UNIT as usize == 0)) {
        let message = message(&bytes[..length]);
        assert!(message.contains("is truncated"), "{length}: {message}");
    }
    assert_eq!(
        message(&bytes[..bytes.len() - 1]),
        format!(
            "the profile is truncated: the file at byte 0 needs {} bytes, the file has {}; copy it again",
            bytes.len(),
            bytes.len() - 1
        )
    );
}

#[test]
fn truncated_while_running() {
    let bytes = unsealed();
    let last = bytes.len() - UNIT as usize;
    let cut = message(&bytes[..last + 1000]);
    assert!(cut.contains(&format!("is truncated: the block at byte {last} needs {} bytes", bytes.len())), "{cut}");
    assert!(message(&bytes[..last + 5]).contains("is truncated"));
    // A block that was not there yet is not missed, nor is a piece of a file that grew.
    assert!(Profile::from_bytes(&bytes[..last]).is_ok());
    let mut grown = bytes.clone();
    grown.resize(bytes.len() + 100, 0);
    assert!(Profile::from_bytes(&grown).is_ok());
    // A reserved block of many units of which the file has one.
    grown.resize(bytes.len() + UNIT as usize, 0);
    set(&mut grown, bytes.len() + offset_of!(BlockHeader, units), 3);
    assert!(message(&grown).contains("is truncated"));
}

#[test]
fn any_changed_byte_of_a_sealed_payload() {
    let bytes = sealed();
    let mut at = UNIT as usize;
    while at < bytes.len() {
        let used = number(&bytes, at + offset_of!(BlockHeader, used)) as usize;
        for offset in (0..used).step_by(7) {
            let mut changed = bytes.clone();
            changed[at + size_of::<BlockHeader>() + offset] ^= 0x10;
            let message = message(&changed);
            let expected =
                format!("block at byte {at}: its checksum does not fit its contents; copy or record it again");
            assert!(message.starts_with("the profile is damaged: ") && message.ends_with(&expected), "{message}");
        }
        at += number(&bytes, at + offset_of!(BlockHeader, units)) as usize * UNIT as usize;
    }
}

#[test]
fn damaged_header() {
    for (field, value, what) in [
        (offset_of!(FileHeader, endian), 5, "an unknown byte order"),
        (offset_of!(FileHeader, header_size), 8, "a header of another size"),
        (offset_of!(FileHeader, unit), 4096, "blocks of another unit"),
        (offset_of!(FileHeader, granule), 0, "an element size that is no power of two"),
        (offset_of!(FileHeader, granule), 12, "an element size that is no power of two"),
        (offset_of!(FileHeader, site_bits), 31, "more bits of sites than a cell has"),
        (offset_of!(FileHeader, state), 9, "an unknown state"),
        (offset_of!(FileHeader, signature_mode), 9, "an unknown signature mode"),
        (offset_of!(FileHeader, crd_mode), 9, "an unknown mode of reuse distances"),
    ] {
        let expected = format!("the profile is damaged: file header at byte 0: {what}; copy or record it again");
        assert_eq!(with_header(field, value), expected);
    }
}

#[test]
fn damaged_blocks() {
    let size = offset_of!(BlockHeader, record_size);
    for (kind, field, value, what) in [
        (block::META, offset_of!(BlockHeader, magic), 77, "no block begins here"),
        (block::META, offset_of!(BlockHeader, kind), 99 | 1 << 16, "unknown kind 99"),
        (block::META, offset_of!(BlockHeader, kind), 1 | 2 << 16, "unknown version 2"),
        (block::META, offset_of!(BlockHeader, units), 0, "it has no length"),
        (block::META, offset_of!(BlockHeader, used), u32::MAX, "its contents are longer than itself"),
        (block::EVENTS, size, 32, "records of another size"),
        (block::EVENTS, offset_of!(BlockHeader, used), 65, "it ends inside a record"),
    ] {
        let message = with_block(kind, field, value);
        assert!(message.contains(&format!(": {what}; copy or record it again")), "{message}");
    }
    assert!(with_block(block::META, offset_of!(BlockHeader, units), u32::MAX).contains("is truncated"));
}

#[test]
fn damaged_modules() {
    let tables = size_of::<ModuleRecord>();
    let region = tables + size_of::<TablesHeader>();
    let site = region + 2 * size_of::<RegionEntry>();
    let function = site + 2 * size_of::<SiteEntry>();
    let block_entry = function + 2 * size_of::<FunctionEntry>();
    let edge = block_entry + 4 * size_of::<BlockEntry>();
    let call = edge + 6 * size_of::<EdgeEntry>();
    for (field, value, what) in [
        (offset_of!(ModuleRecord, sites), 9, "its tables are not of the length that was registered"),
        (offset_of!(ModuleRecord, tables_len), 3, "its tables have an impossible length"),
        (offset_of!(ModuleRecord, tables_len), u32::MAX, "its tables have an impossible length"),
        (offset_of!(ModuleBases, site_base), 0, "its sites have impossible numbers"),
        (offset_of!(ModuleBases, site_base), u32::MAX, "its sites have impossible numbers"),
        (offset_of!(ModuleBases, region_base), 0, "its regions have impossible numbers"),
        (offset_of!(ModuleBases, region_base), 20, "two modules with the same numbers"),
        (offset_of!(ModuleBases, site_base), 11, "two modules with the same numbers"),
        (tables + offset_of!(TablesHeader, strings_len), u32::MAX, "its strings are longer than itself"),
        (tables + offset_of!(TablesHeader, name), 5000, "a string at 5000, where there is none"),
        (region + offset_of!(RegionEntry, kind), 99, "a region of unknown kind 99"),
        (region + offset_of!(RegionEntry, parent), 9, "a region in region 8, which it has not"),
        (region + offset_of!(RegionEntry, parent), 1, "a region inside itself"),
        (region + offset_of!(RegionEntry, parent), 2, "a region inside itself"),
        (site, 9, "a site in region 9, which it has not"),
        (offset_of!(ModuleRecord, counters), 1, "an edge with counter 1, which it has not"),
        (offset_of!(ModuleBases, counter_base), u32::MAX, "its counters have impossible numbers"),
        (offset_of!(ModuleBases, counter_base), 50, "two modules with the same counters"),
        (function + offset_of!(FunctionEntry, region), 9, "a function in region 9, which it has not"),
        (
            function + offset_of!(FunctionEntry, first_edge),
            1,
            "a function whose blocks do not follow those of the one before it",
        ),
        (
            function + offset_of!(FunctionEntry, blocks),
            0,
            "a function whose blocks do not follow those of the one before it",
        ),
        (tables + offset_of!(TablesHeader, functions), 0, "blocks that belong to no function"),
        (block_entry + offset_of!(BlockEntry, region), 9, "a block in region 9, which it has not"),
        (edge + offset_of!(EdgeEntry, to), 3, "an edge at block 3, which its function has not"),
        (edge + offset_of!(EdgeEntry, to), OUTSIDE, "an edge between no blocks"),
        (edge + offset_of!(EdgeEntry, counter), 2, "two edges with counter 1"),
        (call, 3, "a call in block 3, which its function has not"),
    ] {
        let message = with_payload(block::MODULE, field, value);
        assert!(message.starts_with("the profile is damaged: module block at byte "), "{message}");
        assert!(message.contains(&format!(": {what};")), "{message}");
    }
    assert!(with_block(block::MODULE, offset_of!(BlockHeader, used), 20).contains("it is too short for its header"));
    let mut bytes = unsealed();
    let payload = find(&bytes, block::MODULE) + size_of::<BlockHeader>();
    for counts in [offset_of!(ModuleRecord, regions), tables + offset_of!(TablesHeader, regions)] {
        set(&mut bytes, payload + counts, 1 << 30);
    }
    assert!(message(&bytes).contains("its tables are longer than itself"));
}

#[test]
fn damaged_loops_of_callers() {
    let mut contents = Contents { header: Header { state: State::Running, ..Header::default() }, ..sample::contents() };
    contents.modules.truncate(1);
    contents.modules[0].caller_loops = vec![None, Some(1)];
    let good = contents.encode();
    let block = find(&good, block::MODULE);
    let used = u64::from_le_bytes(good[block + offset_of!(BlockHeader, used)..][..8].try_into().unwrap()) as usize;
    let entries = block + size_of::<BlockHeader>() + used - 2 * size_of::<u32>();
    let length = entries - size_of::<SectionHeader>() + offset_of!(SectionHeader, bytes);
    for (at, value, what) in [
        (length, 1000, "a section of its tables is longer than itself"),
        (length, 4, "not one caller's loop for each site"),
        (entries, 3, "a site in the loop 2 of 2 regions"),
    ] {
        let mut bytes = good.clone();
        set(&mut bytes, at, value);
        assert!(message(&bytes).contains(&format!(": {what};")), "{}", message(&bytes));
    }
}

#[test]
fn damaged_accesses() {
    let access = || SiteAccess {
        kind: ObjectKind::Stack,
        object: "row".into(),
        file: "lu.c".into(),
        line: 3,
        stride: Stride::Bytes(8),
        outer_stride: Stride::None,
    };
    let mut contents = Contents { header: Header { state: State::Running, ..Header::default() }, ..sample::contents() };
    contents.modules.truncate(1);
    contents.modules[0].accesses = vec![access(), access()];
    let good = contents.encode();
    let block = find(&good, block::MODULE);
    let used = u64::from_le_bytes(good[block + offset_of!(BlockHeader, used)..][..8].try_into().unwrap()) as usize;
    let entries = block + size_of::<BlockHeader>() + used - 2 * size_of::<AccessEntry>();
    let section = entries - size_of::<SectionHeader>();
    for (at, value, what) in [
        (section + offset_of!(SectionHeader, bytes), 1000, "a section of its tables is longer than itself"),
        (section + offset_of!(SectionHeader, bytes), 24, "not one access for each site"),
        (entries + offset_of!(AccessEntry, object_kind), 9, "an object of unknown kind 9"),
        (entries + offset_of!(AccessEntry, object), 5000, "a string at 5000, where there is none"),
    ] {
        let mut bytes = good.clone();
        set(&mut bytes, at, value);
        assert!(message(&bytes).contains(&format!(": {what};")), "{}", message(&bytes));
    }
    // A section of a kind that is not known is skipped.
    let mut bytes = good;
    set(&mut bytes, section, 77);
    assert_eq!(Profile::from_bytes(&bytes).unwrap().access(1), None);
}

#[test]
fn damaged_records() {
    for (kind, field, value, what) in [
        (block::META, 0, u32::from_le_bytes(*b"ab\0c"), "a key without a value"),
        (block::THREADS, offset_of!(ThreadRecord, id), 2, "two threads with one number"),
        (block::USER_REGIONS, offset_of!(UserRegionRecord, id), u32::MAX - 1, "two regions with one number"),
        (block::EVENTS, offset_of!(EventRecord, writer), 1, "an event from thread 1 to thread 1"),
        (block::EVENTS, offset_of!(EventRecord, writer), u32::MAX, "an event from thread 4294967295 to thread 1"),
        (block::PHASES, offset_of!(PhaseRecord, writer), 1, "a phase from thread 1 to thread 1"),
        (block::PHASES, offset_of!(PhaseRecord, to_ns), 4, "a phase of thread 1 that ends before it begins"),
        (block::PHASES, offset_of!(PhaseRecord, end), 7, "a phase with an end of unknown kind 7"),
        (block::TRACES, offset_of!(TraceRecord, writer), 1, "a trace from thread 1 to thread 1"),
    ] {
        let message = with_payload(kind, field, value);
        assert!(message.contains(&format!(": {what};")), "{message}");
    }
    let third = 2 * size_of::<CountRecord>();
    for (kind, field, value, what) in [
        (block::COUNTS, offset_of!(CountRecord, kind), 99 | 2 << 16, "a count of unknown kind 99"),
        (
            block::COUNTS,
            third + offset_of!(CountRecord, kind),
            CountKind::Counter as u32,
            "a count of unknown event 10",
        ),
        (block::NODES, offset_of!(NodeRecord, id), 0, "node 0 of thread 1, which cannot be"),
        (block::NODES, offset_of!(NodeRecord, thread), u32::MAX, "node 1 of thread 4294967295, which cannot be"),
        (block::NODES, offset_of!(NodeRecord, parent), 2, "node 1 under one that its thread has not"),
        (block::NODES, offset_of!(NodeRecord, id), 2, "two nodes with the number 2"),
        (block::NODES, offset_of!(NodeRecord, thread), 0, "node 3 under one that its thread has not"),
        (block::INSTANCES, offset_of!(InstanceRecord, kind), 99, "an instance of unknown kind 99"),
        (block::INSTANCES, offset_of!(InstanceRecord, number), 0, "instance 0 with weight 4"),
        (block::INSTANCES, offset_of!(InstanceRecord, weight), 0, "instance 1 with weight 0"),
        (block::INSTANCES, offset_of!(InstanceRecord, begin_ns), 2001, "instance 1, whose times are out of order"),
        (block::INSTANCES, offset_of!(InstanceRecord, arrive_ns), 2501, "instance 1, whose times are out of order"),
        (block::BLOCKED, offset_of!(BlockedRecord, kind), 99, "waiting of unknown kind 99"),
        (block::LEVELS, offset_of!(LevelRecord, kind), 99, "a level of unknown kind 99"),
        (block::CODE, offset_of!(CodeRecord, id), CODE_SITE, "a place in code with the impossible number 2147483648"),
    ] {
        let message = with_payload(kind, field, value);
        assert!(message.contains(&format!(": {what};")), "{message}");
    }
    let second = size_of::<UserRegionRecord>();
    let parent = second + offset_of!(UserRegionRecord, parent);
    let message = with_payload(block::USER_REGIONS, parent, 1);
    assert!(message.contains("user region 4294967294 with the impossible parent 1;"), "{message}");
    let message = with_payload(block::USER_REGIONS, offset_of!(UserRegionRecord, id), 0);
    assert!(message.contains("a region inside one that is not there;"), "{message}");
    let message = with_block(block::META, offset_of!(BlockHeader, used), 25);
    assert!(message.contains("text without an end;"), "{message}");
}

#[test]
fn damaged_histograms() {
    let table = offset_of!(TraceRecord, distinct);
    let message = with_payload(block::TRACES, table, 1);
    assert!(message.contains("a histogram with page 1, which is not in the file;"), "{message}");
    assert!(with_payload(block::TRACES, table, u32::MAX).contains("which is not in the file;"));
    let bytes = unsealed();
    let page = number(&bytes, find(&bytes, block::TRACES) + size_of::<BlockHeader>() + table);
    let message = with_payload(block::TRACES, offset_of!(TraceRecord, index), page);
    assert!(message.contains(&format!("two histograms with page {page};")), "{message}");
}

#[test]
fn damaged_live_visits() {
    let mut bytes = unsealed();
    let at = find(&bytes, block::VISITS);
    let live = u32::from(block::LIVE_VISITS) | 1 << 16;
    set(&mut bytes, at + offset_of!(BlockHeader, kind), live);
    set(&mut bytes, at + size_of::<BlockHeader>() + offset_of!(LiveVisits, regions), 4);
    assert!(message(&bytes).contains("live visit block"), "{}", message(&bytes));
    assert!(message(&bytes).contains("it is too short for its counters;"));
}

#[test]
fn a_file_is_named_in_its_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.ttp");
    fs::write(&path, &sealed()[..5000]).unwrap();
    let error = Profile::open(&path).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{} is truncated", path.display())), "{error}");
    fs::write(&path, sealed()).unwrap();
    assert_eq!(Profile::open(&path).unwrap().threads().len(), 3);
    fs::write(&path, unsealed()).unwrap();
    assert_eq!(Profile::open(&path).unwrap().header().state, State::Running);
    fs::write(&path, "short").unwrap();
    assert!(Profile::open(&path).unwrap_err().to_string().contains("is not a threadtalk profile"));
}
