//! Records of the kinds that are arrays.

use std::mem::size_of;

use super::bytes::{Field, put, text};
use crate::layout::{
    Accuracy, AllocationRecord, BUCKETS_PER_PAGE, BucketPage, BucketTable, EventRecord, LengthTable, ObjectEventRecord,
    PhaseRecord, PrivateRecord, SharedLineRecord, ThreadRecord, TraceRecord, UserRegionRecord, VisitRecord,
    WrittenSiteRecord, thread_flags, trace_flags,
};
use crate::tables::{
    Allocations, Event, Histogram, ObjectEvents, Phase, PrivateBytes, SharedLines, Thread, Trace, UserRegion, Visit,
    WrittenSite,
};

/// A record type and what it is made from.
pub trait Encoded {
    /// Bytes of a record.
    const SIZE: usize;
}

macro_rules! encoded {
    ($($table:ty => $record:ty),*) => {
        $(impl $crate::write::arrays::Encoded for $table { const SIZE: usize = size_of::<$record>(); })*
    };
}
pub(crate) use encoded;
encoded!(Thread => ThreadRecord, Event => EventRecord, Visit => VisitRecord, Trace => TraceRecord,
    Phase => PhaseRecord, PrivateBytes => PrivateRecord, UserRegion => UserRegionRecord, Allocations => AllocationRecord,
    ObjectEvents => ObjectEventRecord, SharedLines => SharedLineRecord, WrittenSite => WrittenSiteRecord);

/// All records, one after the other.
pub fn encode<T: Encoded>(values: &[T], mut one: impl FnMut(&mut [u8], &T)) -> Vec<u8> {
    let mut bytes = vec![0; values.len() * T::SIZE];
    for (value, record) in values.iter().zip(bytes.chunks_exact_mut(T::SIZE)) {
        one(record, value);
    }
    bytes
}

pub fn thread(r: &mut [u8], t: &Thread) {
    let flag = |set: bool, bit: u32| if set { bit } else { 0 };
    let flags = thread_flags::USED
        | flag(t.ended, thread_flags::ENDED)
        | flag(t.openmp, thread_flags::OPENMP)
        | flag(t.overflow, thread_flags::OVERFLOW);
    put!(r, ThreadRecord, id, t.id);
    put!(r, ThreadRecord, creator, t.creator.map_or(0, |c| c + 1));
    put!(r, ThreadRecord, creation_site, t.creation_site);
    put!(r, ThreadRecord, flags, flags);
    put!(r, ThreadRecord, start_ns, t.start_ns);
    put!(r, ThreadRecord, end_ns, t.end_ns.unwrap_or(0));
    put!(r, ThreadRecord, cpu_ns, t.cpu_ns.unwrap_or(0));
    put!(r, ThreadRecord, tid, t.tid);
    put!(r, ThreadRecord, name, text(&t.name));
}

pub fn event(r: &mut [u8], e: &Event) {
    put!(r, EventRecord, rar, e.rar);
    put!(r, EventRecord, raw, e.raw);
    put!(r, EventRecord, reader, e.reader);
    put!(r, EventRecord, writer, e.writer);
    put!(r, EventRecord, writer_site, e.writer_site);
    put!(r, EventRecord, reader_site, e.reader_site);
    put!(r, EventRecord, region, e.region);
    put!(r, EventRecord, context, e.context);
    put!(r, EventRecord, flags, e.flags);
}

pub fn visit(r: &mut [u8], v: &Visit) {
    put!(r, VisitRecord, thread, v.thread);
    put!(r, VisitRecord, region, v.region);
    put!(r, VisitRecord, count, v.count);
}

pub fn private_bytes(r: &mut [u8], p: &PrivateBytes) {
    put!(r, PrivateRecord, region, p.region);
    put!(r, PrivateRecord, writer, p.writer);
    put!(r, PrivateRecord, bytes, p.bytes);
}

pub fn allocations(r: &mut [u8], a: &Allocations) {
    put!(r, AllocationRecord, site, a.site);
    put!(r, AllocationRecord, blocks, a.blocks);
    put!(r, AllocationRecord, bytes, a.bytes);
}

pub fn object_events(r: &mut [u8], o: &ObjectEvents) {
    put!(r, ObjectEventRecord, reader_site, o.reader_site);
    put!(r, ObjectEventRecord, writer_site, o.writer_site);
    put!(r, ObjectEventRecord, allocation_site, o.allocation_site);
    put!(r, ObjectEventRecord, raw, o.raw);
    put!(r, ObjectEventRecord, rar, o.rar);
}

pub fn shared_lines(r: &mut [u8], s: &SharedLines) {
    put!(r, SharedLineRecord, site, s.site);
    put!(r, SharedLineRecord, other_site, s.other_site);
    put!(r, SharedLineRecord, thread, s.thread);
    put!(r, SharedLineRecord, other_thread, s.other_thread);
    put!(r, SharedLineRecord, allocation_site, s.allocation_site);
    put!(r, SharedLineRecord, flags, s.flags);
    put!(r, SharedLineRecord, lines, s.lines);
    put!(r, SharedLineRecord, address, s.address);
    put!(r, SharedLineRecord, threads, s.threads);
}

pub fn written_site(r: &mut [u8], w: &WrittenSite) {
    put!(r, WrittenSiteRecord, site, w.site);
    put!(r, WrittenSiteRecord, lines, w.lines);
    put!(r, WrittenSiteRecord, elements, w.elements);
    put!(r, WrittenSiteRecord, read, w.read);
    put!(r, WrittenSiteRecord, readers, w.readers);
}

pub fn user_region(r: &mut [u8], u: &UserRegion) {
    put!(r, UserRegionRecord, id, u.id);
    put!(r, UserRegionRecord, parent, u.parent.unwrap_or(0));
    put!(r, UserRegionRecord, name, text(&u.name));
}

pub fn trace(r: &mut [u8], t: &Trace, tables: &[BucketTable; 3], lengths: &[LengthTable; 2]) {
    put!(r, TraceRecord, reader, t.reader);
    put!(r, TraceRecord, writer, t.writer);
    put!(r, TraceRecord, region, t.region);
    let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
    let flags = flag(t.is_sampled, trace_flags::SAMPLED) | flag(t.makes_up, trace_flags::MAKES_UP);
    put!(r, TraceRecord, flags, flags);
    put!(r, TraceRecord, exact_usages, t.exact_usages);
    put!(r, TraceRecord, exact_elements, t.exact_elements);
    put!(r, TraceRecord, samples, t.samples);
    put!(r, TraceRecord, abandoned, t.abandoned);
    put!(r, TraceRecord, distinct, tables[0]);
    put!(r, TraceRecord, index, tables[1]);
    put!(r, TraceRecord, sampled, tables[2]);
    put!(r, TraceRecord, begun, lengths[0]);
    put!(r, TraceRecord, open, lengths[1]);
}

pub fn accuracy(r: &mut [u8], a: &Accuracy) {
    put!(r, Accuracy, signature_budget, a.signature_budget);
    put!(r, Accuracy, signature_mapped, a.signature_mapped);
    put!(r, Accuracy, chunks, a.chunks);
    put!(r, Accuracy, chunks_aliased, a.chunks_aliased);
    put!(r, Accuracy, events_checked, a.events_checked);
    put!(r, Accuracy, events_suspect, a.events_suspect);
    put!(r, Accuracy, states, a.states);
    put!(r, Accuracy, states_exhausted, a.states_exhausted);
    put!(r, Accuracy, threads, a.threads);
    put!(r, Accuracy, threads_overflowed, a.threads_overflowed);
    put!(r, Accuracy, modules_without_lines, a.modules_without_lines);
    put!(r, Accuracy, dropped_reentrant, a.dropped_reentrant);
    put!(r, Accuracy, dropped_full, a.dropped_full);
    put!(r, Accuracy, crd_budget_reached, a.crd_budget_reached);
    put!(r, Accuracy, records_budget_reached, a.records_budget_reached);
    put!(r, Accuracy, dropped_budget, a.dropped_budget);
    put!(r, Accuracy, reuse_checked, a.reuse_checked);
    put!(r, Accuracy, reuse_suspect, a.reuse_suspect);
    put!(r, Accuracy, reuse_weight, a.reuse_weight);
    put!(r, Accuracy, suspect_reuse_weight, a.suspect_reuse_weight);
}

/// The pages of all histograms.
pub struct Pages {
    next: u32,
    bytes: Vec<u8>,
}

impl Pages {
    /// `first`: the number that the first page will have.
    pub fn new(first: u32) -> Self {
        Self { next: first, bytes: Vec::new() }
    }

    /// Appends the pages of a histogram and returns its table; buckets beyond the table are left out.
    pub fn add<const PAGES: usize>(&mut self, histogram: &Histogram) -> [u32; PAGES] {
        let mut table = [0; PAGES];
        let page_of = |bucket: u16| usize::from(bucket) / BUCKETS_PER_PAGE;
        for chunk in histogram.buckets().chunk_by(|a, b| page_of(a.0) == page_of(b.0)) {
            let Some(number) = table.get_mut(page_of(chunk[0].0)) else { break };
            let mut page: BucketPage = [0; BUCKETS_PER_PAGE];
            for (bucket, count) in chunk {
                page[usize::from(*bucket) % BUCKETS_PER_PAGE] = *count;
            }
            *number = self.next;
            self.next += 1;
            let at = self.bytes.len();
            self.bytes.resize(at + size_of::<BucketPage>(), 0);
            page.encode(&mut self.bytes[at..]);
        }
        table
    }

    /// The payload of the bucket block.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
