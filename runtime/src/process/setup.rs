//! Sets the process up.

use super::binding::Binding;
use super::options::{self, Mistake, Options};
use super::{Process, accuracy, clock, environment, message::Line, meta};
use crate::distance::pace::Plan;
use crate::distance::shares::Shares;
use crate::file::ProfileFile;
use crate::file::name::{self, Path};
use crate::memory;
use crate::module::Sites;
use crate::thread::Thread;
use crate::thread::pool::Pool;
use crate::thread::roll::Roll;
use core::num::NonZeroU32;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use threadtalk_abi::thread::{EMPTY_KEY, EVENT_SLOTS, EventSlot};
use threadtalk_abi::{ADDRESS_BITS, CHUNK_BYTES, DIRECTORY_ENTRIES, GRANULE, LEAST_ADDRESSES};
use threadtalk_profile::layout::{CrdMode, ENDIAN_MARK, FILE_MAGIC, FileHeader, SignatureMode, UNIT, VERSION, state};
use threadtalk_sigmem::Waiters;
use threadtalk_sigmem::claims::TOUCHED;
use threadtalk_sigmem::open::{LINE, Lines};
use threadtalk_sigmem::states::{ENDED_WORDS, VALUES};
use threadtalk_sigmem::{
    Claims, Directory, FreshId, Pool as ChunkPool, Segment, Signature, StateMemory, States, UNFORESEEN,
};

/// Shared states: 4 M of 8 bytes, reserved; pages are used as states appear. With the reader sets at most 300 MiB.
const STATES_LOG2: u32 = 22;
/// Words of reader sets: 128 MiB, reserved.
const SET_WORDS: u64 = 1 << 24;
const SETS_LOG2: u32 = 22;
/// Counts of who waits for an element, 256 KiB of addresses: with the thousand elements that are watched at a time, one
/// in 64 shares its count.
const WAITERS: usize = 1 << 16;
/// Lines of 64 bytes of cells: what threads know of values in the first 128 MiB takes 16 MiB for each at most.
const MOST_OPEN_LINES: usize = 1 << 21;
const HUGE_PAGE: usize = 2 << 20;

pub(super) fn build() -> Process {
    let disabled = environment::get(b"THREADTALK_DISABLE").is_some_and(|v| v != b"0" && !v.is_empty());
    let options = options::parse(options_text(), |item, mistake| {
        let what: &[u8] = match mistake {
            Mistake::Unknown => b"unknown option in THREADTALK_OPTIONS: ",
            Mistake::Value => b"value out of range in THREADTALK_OPTIONS: ",
        };
        let colons: &[u8] = if item.contains(&b',') { b"; colons separate options" } else { b"" };
        Line::new().text(what).text(item).text(b"; ignored").text(colons).text(b" (help=1 lists all options)").print();
    });
    if options.help {
        options::print_help();
    }
    let file = if disabled { None } else { open_profile() };
    let Some(process) = assemble(options, file, disabled) else { give_up() };
    write_header(&process);
    process
}

fn options_text() -> &'static [u8] {
    environment::get(b"THREADTALK_OPTIONS").unwrap_or(b"")
}

/// After the process can be used: what needs it.
pub(super) fn announce(process: &'static Process) {
    meta::write(process);
}

/// A signal handler with instrumented code interrupted the setup on its own thread.
pub(super) fn interrupted() -> ! {
    Line::new()
        .text(b"a signal handler ran instrumented code before the profiler was set up; set THREADTALK_DISABLE=1")
        .print();
    // SAFETY: ends the process; there is no state to go on with.
    unsafe { libc::_exit(1) }
}

/// Without address space there is no directory, and instrumented code cannot run.
fn give_up() -> ! {
    Line::new()
        .text(b"cannot reserve address space for the profile's tables (about ")
        .number(LEAST_ADDRESSES >> 30)
        .text(b" GiB, used sparsely): lift `ulimit -v`, or build without threadtalk")
        .print();
    // SAFETY: as above.
    unsafe { libc::_exit(1) }
}

fn assemble(options: Options, file: Option<i32>, disabled: bool) -> Option<Process> {
    let directory = memory::reserve(Directory::words(ADDRESS_BITS) * 8)?;
    let no_directory = memory::reserve_zeros((DIRECTORY_ENTRIES * 8) as usize)?;
    // SAFETY: zeroed, of the right length, never unmapped.
    let directory = unsafe { Directory::new(directory.as_ptr().cast::<AtomicU64>(), ADDRESS_BITS) };
    let words = memory::reserve((DIRECTORY_ENTRIES * 4) as usize)?;
    let limited = memory::is_limited();
    let touched = if limited { None } else { memory::reserve(DIRECTORY_ENTRIES as usize * TOUCHED * 8) };
    let bits = touched.map_or(ptr::null(), |bits| bits.as_ptr().cast_const().cast::<AtomicU64>());
    // SAFETY: as above; without bits there are no claims.
    let claims = unsafe { Claims::new(words.as_ptr().cast::<AtomicU32>(), bits) };
    if touched.is_none() {
        claims.give_up();
    }
    let pool = if options.exact { exact_pool() } else { hashed_pool(&options)? };
    let open_lines = open_lines(&pool, limited);
    let sites = Sites::new()?;
    let site_bits = if options.site_bits > 0 { (options.site_bits as u32).max(8) } else { site_bits_for(text_bytes()) };
    let crd = match options.crd {
        0 => CrdMode::Off,
        1 => CrdMode::Auto,
        _ => CrdMode::Exact,
    };
    let no_events = memory::reserve(size_of::<EventSlot>() * EVENT_SLOTS as usize)?.as_ptr().cast::<EventSlot>();
    for i in 0..EVENT_SLOTS as usize {
        // SAFETY: inside the reserved memory.
        unsafe { (*no_events.add(i)).key = EMPTY_KEY };
    }
    let mut process = Process {
        options,
        file: ProfileFile::begin(file)?,
        signature: Signature::new(directory, pool),
        open_lines,
        claims,
        states: states(site_bits)?,
        plan: Plan {
            mode: crd,
            exact_usages: options.crd_exact_usages,
            least_period: options.crd_period,
            shares: Shares::new()?,
            waiters: Waiters::new(memory::counts(WAITERS)?),
        },
        binding: options::bind_list(options_text()).map_or(Some(Binding::none()), Binding::new)?,
        phases: crate::phases::Plan::new(options.phases, options.phases_bytes, processors()),
        site_bits,
        lineless_sites: FreshId::first_lineless(site_bits),
        last_thread: (1 << (31 - site_bits - 1)) - 1,
        sites,
        user_regions: crate::region::UserRegions::new(),
        private: crate::module::private::PrivateSums::new()?,
        lines: crate::module::lines::SharedLines::new()?,
        objects: crate::objects::Objects::new()?,
        roll: Roll::new(),
        pool: Pool::new(),
        pair: crate::thread::pair::Pair::new(),
        levels: crate::execution::levels::Levels::new(&options)?,
        rest: crate::execution::counts::Rest::new(),
        budget: crate::execution::part::Budget::new(),
        counters: if disabled { 0 } else { crate::execution::counters::available(options.counters) },
        nodes: crate::execution::tree::Shared::new(),
        ticks: super::ticks::Ticks::new(),
        alive: AtomicU32::new(1),
        no_events,
        no_patterns: crate::thread::patterns::Patterns::new()?.table(),
        no_windows: crate::thread::windows::Windows::new()?.table(),
        off: ptr::null_mut(),
        start_ns: clock::monotonic_ns(),
        recording: AtomicBool::new(!disabled),
        paused: AtomicBool::new(options.paused),
        ended: AtomicU32::new(0),
        ender: AtomicPtr::new(ptr::null_mut()),
    };
    process.pair.begin(&process.states);
    process.off = off_thread(&process, no_directory.as_ptr().cast())?;
    Some(process)
}

/// The control block for threads that are not recorded: a directory without entries sends each access to the slow path,
/// which returns at once.
fn off_thread(process: &Process, no_directory: *const u64) -> Option<*mut Thread> {
    let off = Thread::create(process)?;
    // Room for the counters of 2^24 regions, so that no module can count past the end.
    let visits = memory::reserve(8 << 24)?;
    // SAFETY: just made, nobody else has it.
    unsafe {
        (*off).header.directory = no_directory;
        (*off).header.writable = no_directory;
        (*off).header.set_own(0, 0);
        (*off).header.events = process.no_events;
        (*off).header.windows = process.no_windows;
        (*off).header.patterns = process.no_patterns;
        (*off).header.visits = visits.as_ptr().cast();
        (*off).busy.store(true, Ordering::Relaxed);
    }
    Some(off)
}

/// How many processors the process may use. On machines with more than a set of the C library holds: as many as there
/// are threads.
fn processors() -> NonZeroU32 {
    // SAFETY: all zero bytes are an empty set.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    // SAFETY: a valid set to fill in, of this size.
    let count = unsafe {
        match libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) {
            0 => libc::CPU_COUNT(&set) as u32,
            _ => u32::MAX,
        }
    };
    NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN)
}

fn hashed_pool(options: &Options) -> Option<ChunkPool> {
    let chunks = options.signature_bytes / CHUNK_BYTES;
    let bytes = (chunks * CHUNK_BYTES) as usize;
    let cells = memory::reserve_aligned(bytes, HUGE_PAGE)?;
    let foresee = if options.huge_pages {
        memory::prefer_huge_pages(cells, bytes.min(UNFORESEEN as usize));
        memory::cells::foresee
    } else {
        |_, _| {}
    };
    let occupants = memory::reserve(chunks as usize * size_of::<u32>())?;
    let region = Segment { base: cells.as_ptr().expose_provenance() as u64, chunks };
    // SAFETY: both ranges are zeroed, of the promised length, and never unmapped.
    Some(unsafe { ChunkPool::fixed(region, occupants.as_ptr().cast::<AtomicU32>(), foresee) })
}

/// Hashed mode, the first cells: a thread's bits take an eighth of what cells do.
fn open_lines(pool: &ChunkPool, limited: bool) -> Lines {
    let Some(region) = pool.region().filter(|_| !limited) else { return Lines::NONE };
    let lines = (region.chunks * CHUNK_BYTES) as usize / (LINE * size_of::<AtomicU32>());
    let lines = lines.min(MOST_OPEN_LINES);
    let Some(numbers) = memory::reserve((lines + 1) * size_of::<AtomicU32>()) else { return Lines::NONE };
    let first = core::ptr::with_exposed_provenance(region.base as usize);
    // SAFETY: the region has that many cells; zeroed numbers, never unmapped.
    unsafe { Lines::new(first, lines, numbers.as_ptr().cast_const().cast()) }
}

fn exact_pool() -> ChunkPool {
    // SAFETY: segments are zeroed memory that is never unmapped.
    unsafe { ChunkPool::growing(segment) }
}

fn segment(used_up: Option<Segment>) -> Option<Segment> {
    memory::cells::block(used_up, super::get().is_none_or(|p| p.options.huge_pages))
}

fn states(site_bits: u32) -> Option<States> {
    let words = |n: u64| memory::reserve((n * 8) as usize).map(|p| p.as_ptr().cast_const().cast::<AtomicU64>());
    let memory = StateMemory {
        site_bits,
        entries: words(1 << STATES_LOG2)?,
        capacity: 1 << STATES_LOG2,
        slots: words(2 << STATES_LOG2)?,
        slots_log2: STATES_LOG2 + 1,
        values: words(VALUES.into())?,
        ended: words(ENDED_WORDS as u64)?,
        sets: threadtalk_sigmem::states::SetMemory {
            words: words(SET_WORDS)?,
            capacity: SET_WORDS,
            slots: words(1 << SETS_LOG2)?,
            slots_log2: SETS_LOG2,
        },
    };
    // SAFETY: zeroed memory of the promised lengths, never unmapped.
    Some(unsafe { States::new(memory) })
}

fn write_header(process: &Process) {
    let header = process.file.header();
    // SAFETY: unit 0 is mapped and nobody else uses it yet.
    unsafe {
        (*header).version = VERSION;
        (*header).endian = ENDIAN_MARK;
        (*header).header_size = size_of::<FileHeader>() as u32;
        (*header).unit = UNIT as u32;
        (*header).granule = GRANULE as u32;
        (*header).site_bits = process.site_bits;
        (*header).pid = libc::getpid() as u32;
        (*header).signature_mode =
            if process.options.exact { SignatureMode::Exact } else { SignatureMode::Hashed } as u32;
        (*header).crd_mode = process.plan.mode as u32;
        (*header).state = state::RUNNING;
        (*header).start_unix_ns = clock::unix_ns();
        (*header).exit_status = -1;
        (*header).magic = FILE_MAGIC;
    }
    if !process.options.exact {
        process.header_count(accuracy::SIGNATURE_BUDGET, process.options.signature_bytes);
    }
}

/// Opens the profile where the user wants it, else under `$TMPDIR` or /tmp, else nowhere.
fn open_profile() -> Option<i32> {
    let mut buffer = [0u8; 4096];
    let program = meta::program_name(&mut buffer);
    let wanted = environment::get(b"THREADTALK_OUT").filter(|p| !p.is_empty());
    // Who times what profiling costs wants no file, and no `/dev/null.1` either.
    if wanted == Some(b"/dev/null") || wanted.is_none() && is_probe(program) {
        return None;
    }
    let mut path = Path::new();
    name::expand(wanted.unwrap_or(b"threadtalk.%n.%p.ttp"), program, &mut path);
    let error = match name::create(&mut path) {
        Ok(fd) => {
            meta::set_path(&path);
            return Some(fd);
        }
        Err(error) => error,
    };
    let mut fallback = Path::new();
    fallback.push(environment::get(b"TMPDIR").filter(|d| !d.is_empty()).unwrap_or(b"/tmp"));
    fallback.push(b"/threadtalk.%n.%p.ttp");
    let mut second = Path::new();
    name::expand(fallback.as_bytes(), program, &mut second);
    let line =
        Line::new().text(b"cannot write ").text(path.as_bytes()).text(b" (error ").number(error.unsigned_abs().into());
    match name::create(&mut second) {
        Ok(fd) => {
            // Said at the end, with where the profile is: one line in all.
            meta::set_path(&second);
            meta::set_instead_of(&path, error);
            Some(fd)
        }
        Err(_) => {
            line.text(b") nor anything under $TMPDIR; this run leaves no profile: ")
                .text(b"set THREADTALK_OUT to a writable file")
                .print();
            None
        }
    }
}

/// Programs that configure and CMake make to ask the compiler something: they must leave no file and say nothing.
fn is_probe(program: &[u8]) -> bool {
    program == b"conftest" || program.starts_with(b"cmTC_")
}

/// Bytes of the executable's code, as a measure of how many sites it has.
fn text_bytes() -> u64 {
    // SAFETY: values of the auxiliary vector; the headers are mapped as long as the program.
    unsafe {
        let headers = libc::getauxval(libc::AT_PHDR) as *const libc::Elf64_Phdr;
        let count = libc::getauxval(libc::AT_PHNUM) as usize;
        if headers.is_null() {
            return 0;
        }
        (0..count)
            .map(|i| &*headers.add(i))
            .filter(|h| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_X != 0)
            .map(|h| h.p_memsz)
            .sum()
    }
}

/// An instrumented line takes some 200 bytes of code; a quarter of the numbers stays for modules loaded later, and
/// libraries must fit as well. 16 bits leave 16 384 threads, 21 leave 512.
fn site_bits_for(text: u64) -> u32 {
    let sites = text / 128 + (16 << 10);
    (u64::BITS - (sites * 4 / 3).leading_zeros()).clamp(16, 21)
}

#[cfg(test)]
mod tests {
    use super::site_bits_for;

    #[test]
    fn large_programs_get_more_bits_for_lines() {
        assert_eq!(site_bits_for(0), 16);
        assert_eq!(site_bits_for(1 << 20), 16);
        assert_eq!(site_bits_for(64 << 20), 20);
        assert_eq!(site_bits_for(1 << 40), 21);
    }
}
