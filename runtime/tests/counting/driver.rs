//! Drives several logical threads through the hooks' bodies, and reads the profile afterwards.

use super::inlined;
use fastrand::Rng;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use threadtalk_abi::CHUNK_BYTES;
use threadtalk_abi::module::{ModuleBases, ModuleDescriptor, RegionEntry, SiteEntry, TablesHeader, site_flags};
use threadtalk_profile::layout::Accuracy;
use threadtalk_profile::{Event, Profile, Trace};
use threadtalk_runtime::hooks::{self, access, again, range};
use threadtalk_runtime::process::{self, Process, end};
use threadtalk_runtime::thread::Thread;
use threadtalk_sigmem::oracle::{Access, Op, Oracle, Pair, Step};

/// Counts by pair of threads.
pub type Matrix = BTreeMap<Pair, u64>;

/// The program's memory: some chunks and a bit, so that accesses straddle.
const MEMORY: u64 = 200 << 10;

/// A process with a profile, and its logical threads.
pub struct Driver {
    process: &'static Process,
    threads: Vec<*mut Thread>,
    regions: Vec<u32>,
    bases: ModuleBases,
    memory: Vec<u64>,
    base: u64,
    path: PathBuf,
    inline: u64,
}

/// What the profile says.
pub struct Recorded {
    profile: Profile,
    region_base: u32,
    /// Reads counted without a hook.
    pub inline: u64,
}

/// Where a process of these tests puts its profile.
pub fn profile_of(process: u32) -> PathBuf {
    std::env::temp_dir().join(format!("threadtalk-counting-{process}.ttp"))
}

/// A new logical thread begins in a block.
///
/// # Safety
/// Nobody else uses the block.
unsafe fn begin(process: &'static Process, block: *mut Thread) {
    let ticket = process.roll.enter(process, 0, 0);
    // SAFETY: the caller's promise.
    assert!(unsafe { (*block).begin(process, ticket.id, ticket.record, false) });
}

impl Driver {
    /// Sets the process up with these options.
    pub fn start(options: &str, threads: u32, regions: u32) -> Self {
        let path = profile_of(std::process::id());
        let _ = std::fs::remove_file(&path);
        // SAFETY: this test binary has one test, so no other thread reads the environment now.
        unsafe {
            std::env::set_var("THREADTALK_OUT", &path);
            std::env::set_var("THREADTALK_OPTIONS", options);
        }
        let process = process::start();
        let bases = register(regions);
        // From the border of two chunks on, so that tests know where the others are.
        let memory = vec![0u64; (MEMORY + CHUNK_BYTES) as usize / 8];
        let base = (memory.as_ptr().expose_provenance() as u64).next_multiple_of(CHUNK_BYTES);
        let blocks = (0..threads).map(|_| {
            let block = process.pool.take(process).expect("a control block");
            // SAFETY: the block was just taken, nobody else uses it.
            unsafe { begin(process, block) };
            block
        });
        let threads = blocks.collect();
        Self { process, threads, regions: vec![0; 64], bases, memory, base, path, inline: 0 }
    }

    /// Number of logical threads.
    pub fn threads(&self) -> u32 {
        self.threads.len() as u32
    }

    /// The process.
    pub fn process(&self) -> &'static Process {
        self.process
    }

    /// Where the program's memory begins.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// The plain site of a region as reads and as writes name it.
    pub fn sites(&self, region: u32) -> (u32, u32) {
        (self.bases.site_base + 2 * (region - 1), self.bases.write_site_base + 2 * (region - 1))
    }

    /// Does something with a logical thread, given also what says the state of a granule.
    pub fn on<R>(&mut self, thread: u32, what: impl FnOnce(&mut Thread, &dyn Fn(u64) -> u32) -> R) -> R {
        let (process, base) = (self.process, self.base);
        let state = |at: u64| {
            let cell = process.signature.directory.translate(base + at);
            // SAFETY: the directory leads to cells that live for ever.
            cell.map_or(0, |cell| unsafe { (*cell).load(Ordering::Relaxed) })
        };
        // SAFETY: the driver's blocks; one thing at a time.
        what(unsafe { &mut *self.threads[thread as usize] }, &state)
    }

    /// A logical thread ends, and another one has its block from now on.
    pub fn replace(&mut self, thread: u32) {
        let block = self.threads[thread as usize];
        // SAFETY: the driver's block; one thing at a time.
        unsafe {
            (*block).end(self.process);
            begin(self.process, block);
        }
    }

    /// The number of a region among those of all modules.
    pub fn region(&self, region: u32) -> u32 {
        self.bases.region_base + region
    }

    /// The control blocks, by logical thread.
    pub fn blocks(&self) -> &[*mut Thread] {
        &self.threads
    }

    /// One step of the program, of the model as well.
    pub fn both(&mut self, oracle: &mut Oracle, step: Step) {
        oracle.step(&step);
        self.step(&step);
    }

    /// One step of the program. Addresses are relative to the driver's memory.
    pub fn step(&mut self, step: &Step) {
        // SAFETY: the driver's blocks; one step at a time.
        let t = unsafe { &mut *self.threads[step.thread as usize] };
        let p = self.process;
        match step.op {
            Op::Enter(region) => self.regions[step.thread as usize] = region,
            Op::Exit(_) => self.regions[step.thread as usize] = 0,
            op => {
                for part in op.accesses() {
                    // Sites: for each region a plain one and an atomic one.
                    let site = |sync: bool| {
                        self.bases.site_base + 2 * (self.regions[step.thread as usize] - 1) + u32::from(sync)
                    };
                    match part {
                        Access::Read { at, bytes, sync } => {
                            let (address, site) = (self.base + at, site(sync));
                            if bytes > 64 {
                                range::read(t, p, address, bytes, site);
                            } else if bytes > 0 {
                                match inlined::read(&t.header, address, bytes, site) {
                                    Some(counted) => self.inline += u64::from(counted),
                                    None => slow_read(t, p, address, bytes, site),
                                }
                            }
                        }
                        Access::Write { at, bytes } => {
                            let (address, site) = (self.base + at, site(false));
                            if bytes > 64 || (bytes > 0 && !inlined::write(&t.header, address, bytes, site)) {
                                slow_write(t, p, address, bytes, site);
                            }
                        }
                        Access::Death { at, bytes } => p.clear(self.base + at, bytes),
                    }
                }
            }
        }
    }

    /// Ends the process's recording and reads the profile.
    pub fn finish(self) -> Recorded {
        for thread in &self.threads {
            // SAFETY: the driver's blocks, not used after this.
            unsafe { (**thread).end(self.process) };
        }
        end::end(self.process, end::End::Normal, Some(0));
        drop(self.memory);
        let profile = Profile::open(&self.path).expect("the profile can be read");
        std::fs::remove_file(&self.path).expect("the profile is there");
        Recorded { profile, region_base: self.bases.region_base, inline: self.inline }
    }
}

impl Recorded {
    /// The timed visits of a region by each thread that has any.
    pub fn visits(&self, region: u32) -> Vec<(u32, u64)> {
        self.profile.nodes().filter(|node| node.region == region).map(|node| (node.thread, node.visits)).collect()
    }

    /// What the run says of its accuracy.
    pub fn accuracy(&self) -> Accuracy {
        self.profile.header().accuracy
    }

    /// Counts in a region (numbered from 1) by pair of threads.
    pub fn matrix(&self, region: u32, count: impl Fn(&Event) -> u64) -> Matrix {
        let mut matrix = Matrix::new();
        for event in self.profile.events().filter(|e| e.region == self.region_base + region - 1) {
            let n = count(&event);
            if n > 0 {
                *matrix.entry(Pair { writer: event.writer, reader: event.reader }).or_default() += n;
            }
        }
        matrix
    }

    /// Sampled intervals of all traces.
    pub fn samples(&self) -> u64 {
        self.profile.traces().map(|t| t.samples).sum()
    }

    /// Sampled intervals without any event. Each ends with one.
    pub fn empty_intervals(&self) -> u64 {
        let empty =
            |t: Trace| t.sampled.buckets().iter().find(|(bucket, _)| *bucket == 0).map_or(0, |(_, count)| *count);
        self.profile.traces().map(empty).sum()
    }

    /// The reuse distances of a pair in a region.
    pub fn trace(&self, region: u32, pair: Pair) -> Trace {
        let wanted =
            |t: &Trace| (t.region, t.writer, t.reader) == (self.region_base + region - 1, pair.writer, pair.reader);
        let mut found = self.profile.traces().filter(wanted);
        let trace = found.next().unwrap_or_else(|| panic!("no trace of {pair:?} in region {region}"));
        assert!(found.next().is_none(), "two traces of {pair:?} in region {region}");
        trace
    }
}

/// A module with two sites in each region.
fn register(regions: u32) -> ModuleBases {
    let mut tables: Vec<u8> = Vec::new();
    let header = TablesHeader { regions, sites: 2 * regions, strings_len: 1, ..TablesHeader::default() };
    let push = |tables: &mut Vec<u8>, words: &[u32]| words.iter().for_each(|w| tables.extend(w.to_le_bytes()));
    push(&mut tables, &[header.regions, header.sites, header.strings_len, header.name, 0, 0, 0, 0]);
    for region in 0..regions {
        let entry = RegionEntry { kind: 1, flags: 0, name: 0, file: 0, line: region + 1, end_line: 0, parent: 0 };
        push(&mut tables, &[u32::from(entry.kind), entry.name, entry.file, entry.line, entry.end_line, entry.parent]);
    }
    for site in 0..2 * regions {
        let flags = if site % 2 == 1 { site_flags::ATOMIC } else { 0 };
        let entry = SiteEntry { region: site / 2, file: 0, line: site, flags };
        push(&mut tables, &[entry.region, entry.file, entry.line, entry.flags]);
    }
    tables.push(0);
    let bases = Box::leak(Box::new(ModuleBases::default()));
    let descriptor = ModuleDescriptor {
        abi_version: threadtalk_abi::ABI_VERSION,
        sites: 2 * regions,
        regions,
        tables_len: tables.len() as u32,
        counters: 0,
        reserved: 0,
        tables: tables.as_ptr().cast(),
        bases,
    };
    // SAFETY: laid out as the pass does; the runtime copies the tables.
    unsafe { hooks::__threadtalk_register(&descriptor) };
    *bases
}

fn slow_read(t: &mut Thread, p: &Process, address: u64, bytes: u64, site: u32) {
    // As the pass knows alignments.
    let again = match bytes {
        1 => again::at_once::<1>(t, p, address, site),
        4 if address.is_multiple_of(4) => again::at_once::<1>(t, p, address, site),
        8 if address.is_multiple_of(4) => again::at_once::<2>(t, p, address, site),
        _ => false,
    };
    match bytes {
        _ if again => {}
        1 => access::read::<1>(t, p, address, site),
        4 => access::read::<4>(t, p, address, site),
        8 => access::read::<8>(t, p, address, site),
        32 => access::read::<32>(t, p, address, site),
        _ => range::read(t, p, address, bytes, site),
    }
}

fn slow_write(t: &mut Thread, p: &Process, address: u64, bytes: u64, site: u32) {
    match bytes {
        1 => access::write::<1>(t, p, address, site),
        4 => access::write::<4>(t, p, address, site),
        8 => access::write::<8>(t, p, address, site),
        32 => access::write::<32>(t, p, address, site),
        _ => range::write(t, p, address, bytes, site),
    }
}

/// A random program of 600 steps, always inside some region.
pub fn program(rng: &mut Rng, threads: u32, regions: u32) -> Vec<Step> {
    let hot: Vec<u64> = (0..12).map(|_| rng.u64(0..MEMORY - 4096)).collect();
    let mut steps: Vec<Step> =
        (0..threads).map(|thread| Step { thread, op: Op::Enter(rng.u32(1..=regions)) }).collect();
    for _ in 0..600 {
        let thread = rng.u32(0..threads);
        let at = hot[rng.usize(0..hot.len())] + rng.u64(0..5) * 4;
        let bytes = [1, 2, 4, 4, 8, 8, 8, 16, 32, 3, 100][rng.usize(0..11)];
        let op = match rng.u32(0..100) {
            0..4 => Op::Enter(rng.u32(1..=regions)),
            4..60 => Op::Read { at, bytes },
            60..78 => Op::Write { at, bytes },
            78..82 => Op::AtomicRead { at, bytes: 8 },
            82..86 => Op::ReadModifyWrite { at, bytes: 4 },
            86..90 => Op::Copy { to: hot[0], from: hot[1] + 64, bytes: rng.u64(1..400) },
            90..94 => Op::Set { at, bytes: rng.u64(1..300) },
            94..97 => Op::Free { at, bytes: rng.u64(1..300) },
            97..99 => Op::Reallocate { old: hot[2], old_bytes: 64, new: hot[3] + 128, new_bytes: 96 },
            _ => Op::FailedExchange { at, bytes: 8 },
        };
        steps.push(Step { thread, op });
    }
    steps
}
