//! Records of the kinds that are arrays.

use super::record::{field, text};
use crate::layout::{
    AllocationRecord, EventRecord, NO_THREAD, ObjectEventRecord, PrivateRecord, SharedLineRecord, ThreadRecord,
    TraceRecord, UserRegionRecord, VisitRecord, WrittenSiteRecord, thread_flags, trace_flags,
};
use crate::read::pages::Pages;
use crate::tables::{
    Allocations, Event, ObjectEvents, PrivateBytes, SharedLines, Thread, Trace, UserRegion, Visit, WrittenSite,
};

/// Reads a thread; none if the record is not in use.
pub fn thread(r: &[u8]) -> Option<Thread> {
    let flags = field!(r, ThreadRecord, flags);
    if flags & thread_flags::USED == 0 {
        return None;
    }
    let ended = flags & thread_flags::ENDED != 0;
    Some(Thread {
        id: field!(r, ThreadRecord, id),
        creator: field!(r, ThreadRecord, creator).checked_sub(1),
        creation_site: field!(r, ThreadRecord, creation_site),
        ended,
        openmp: flags & thread_flags::OPENMP != 0,
        overflow: flags & thread_flags::OVERFLOW != 0,
        start_ns: field!(r, ThreadRecord, start_ns),
        end_ns: ended.then_some(field!(r, ThreadRecord, end_ns)),
        cpu_ns: ended.then_some(field!(r, ThreadRecord, cpu_ns)),
        tid: field!(r, ThreadRecord, tid),
        name: text(&field!(r, ThreadRecord, name)),
    })
}

/// Reads an event.
#[inline]
pub fn event(r: &[u8]) -> Event {
    Event {
        writer: field!(r, EventRecord, writer),
        reader: field!(r, EventRecord, reader),
        writer_site: field!(r, EventRecord, writer_site),
        reader_site: field!(r, EventRecord, reader_site),
        region: field!(r, EventRecord, region),
        context: field!(r, EventRecord, context),
        flags: field!(r, EventRecord, flags),
        raw: field!(r, EventRecord, raw),
        rar: field!(r, EventRecord, rar),
    }
}

/// Reads a visit.
pub fn visit(r: &[u8]) -> Visit {
    Visit {
        thread: field!(r, VisitRecord, thread),
        region: field!(r, VisitRecord, region),
        count: field!(r, VisitRecord, count),
    }
}

/// Reads a trace with its histograms.
pub fn trace(r: &[u8], bytes: &[u8], pages: &Pages) -> Trace {
    Trace {
        reader: field!(r, TraceRecord, reader),
        writer: field!(r, TraceRecord, writer),
        region: field!(r, TraceRecord, region),
        is_sampled: field!(r, TraceRecord, flags) & trace_flags::SAMPLED != 0,
        makes_up: field!(r, TraceRecord, flags) & trace_flags::MAKES_UP != 0,
        exact_usages: field!(r, TraceRecord, exact_usages),
        exact_elements: field!(r, TraceRecord, exact_elements),
        samples: field!(r, TraceRecord, samples),
        abandoned: field!(r, TraceRecord, abandoned),
        distinct: pages.histogram(bytes, &field!(r, TraceRecord, distinct)),
        index: pages.histogram(bytes, &field!(r, TraceRecord, index)),
        sampled: pages.histogram(bytes, &field!(r, TraceRecord, sampled)),
        begun: pages.histogram(bytes, &field!(r, TraceRecord, begun)),
        open: pages.histogram(bytes, &field!(r, TraceRecord, open)),
    }
}

/// Reads private bytes.
pub fn private_bytes(r: &[u8]) -> PrivateBytes {
    PrivateBytes {
        region: field!(r, PrivateRecord, region),
        writer: field!(r, PrivateRecord, writer),
        bytes: field!(r, PrivateRecord, bytes),
    }
}

/// Reads allocations.
pub fn allocations(r: &[u8]) -> Allocations {
    Allocations {
        site: field!(r, AllocationRecord, site),
        blocks: field!(r, AllocationRecord, blocks),
        bytes: field!(r, AllocationRecord, bytes),
    }
}

/// Reads where memory came from.
pub fn object_events(r: &[u8]) -> ObjectEvents {
    ObjectEvents {
        reader_site: field!(r, ObjectEventRecord, reader_site),
        writer_site: field!(r, ObjectEventRecord, writer_site),
        allocation_site: field!(r, ObjectEventRecord, allocation_site),
        raw: field!(r, ObjectEventRecord, raw),
        rar: field!(r, ObjectEventRecord, rar),
    }
}

/// Reads lines that threads share.
pub fn shared_lines(r: &[u8]) -> SharedLines {
    SharedLines {
        site: field!(r, SharedLineRecord, site),
        other_site: field!(r, SharedLineRecord, other_site),
        thread: field!(r, SharedLineRecord, thread),
        other_thread: field!(r, SharedLineRecord, other_thread),
        allocation_site: field!(r, SharedLineRecord, allocation_site),
        flags: field!(r, SharedLineRecord, flags),
        lines: field!(r, SharedLineRecord, lines),
        address: field!(r, SharedLineRecord, address),
        threads: field!(r, SharedLineRecord, threads),
    }
}

/// Reads what a site's writes left.
pub fn written_site(r: &[u8]) -> WrittenSite {
    WrittenSite {
        site: field!(r, WrittenSiteRecord, site),
        lines: field!(r, WrittenSiteRecord, lines),
        elements: field!(r, WrittenSiteRecord, elements),
        read: field!(r, WrittenSiteRecord, read),
        readers: field!(r, WrittenSiteRecord, readers),
    }
}

/// Reads a user region, none if the record is not in use; the error says what is wrong with it.
pub fn user_region(r: &[u8]) -> Result<Option<UserRegion>, String> {
    let id = field!(r, UserRegionRecord, id);
    let parent = field!(r, UserRegionRecord, parent);
    if id == 0 {
        return Ok(None);
    }
    if parent != 0 && parent <= id {
        return Err(format!("user region {id} with the impossible parent {parent}"));
    }
    Ok(Some(UserRegion { id, parent: (parent != 0).then_some(parent), name: text(&field!(r, UserRegionRecord, name)) }))
}

/// True if the pair of threads is possible.
pub fn is_pair(writer: u32, reader: u32) -> bool {
    writer != reader && writer != NO_THREAD && reader != NO_THREAD
}
