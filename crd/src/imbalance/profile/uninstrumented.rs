//! Sections whose executed instructions say little of their time: where threads work in libraries that were not
//! instrumented, or in the kernel, one that works in the program itself seems to do all.

/// An instruction of an instrumented program takes no longer, in nanoseconds of CPU time: about what a miss of the last
/// level of cache does. Of 180 sections in 65 profiles, with all hooks, it was at most 63 in the mean of a section,
/// besides three of 10 to 30 ms in which 16 threads began (155 to 457). Where zlib does the work it was 4 000 (bgzip)
/// and 34 000 (pigz).
const MOST_NS: f64 = 100.0;

/// Less than this in all, in nanoseconds, tells nothing: a scheduler's tick at 100 Hz.
const TOO_SHORT_NS: f64 = 1e7;

/// Part of the threads' time that has to be elsewhere: less than half does not decide who is late.
const MOST: f64 = 0.5;

/// Threads are as uneven by work as by time if no more than this part of either is another thread's in the other: what
/// caches and hooks take moves a few hundredths.
const SAME_STORY: f64 = 0.1;

/// Time for each instruction differs by more than this factor: page faults or a region's begin, of which all threads
/// have some, made it five at most.
const OTHER_PACE: f64 = 10.0;

/// Threads with less than this part of time and of work have no pace of their own.
const PACE: f64 = 0.01;

/// Whether the threads' time is mostly that of code without counts, and their work tells another story. `work` and
/// `cpu_ns`: what each thread executed, in instructions, and its CPU time.
pub fn is_uninstrumented(work: &[f64], cpu_ns: &[f64]) -> bool {
    let (all_work, all_ns): (f64, f64) = (work.iter().sum(), cpu_ns.iter().sum());
    if all_work <= 0.0 {
        return false;
    }
    let threads = || work.iter().zip(cpu_ns);
    let elsewhere: f64 = threads().map(|(work, ns)| (ns - MOST_NS * work).max(0.0)).sum();
    if elsewhere < TOO_SHORT_NS || elsewhere < MOST * all_ns {
        return false;
    }
    let shares = || threads().map(|(work, ns)| (work / all_work, ns / all_ns));
    let differ = shares().map(|(work, time)| (work - time).abs()).sum::<f64>() / 2.0;
    let paces = shares().filter(|(work, time)| work.max(*time) >= PACE).map(|(work, time)| time / work);
    let (slow, fast) = paces.fold((0.0, f64::INFINITY), |(slow, fast), pace| (pace.max(slow), pace.min(fast)));
    differ > SAME_STORY && slow > OTHER_PACE * fast
}

#[cfg(test)]
mod tests {
    use super::is_uninstrumented;

    const MS: f64 = 1e6;

    /// Of seven threads like the first, and another one, by instructions and milliseconds.
    fn of((work, ms): (f64, f64), other: (f64, f64)) -> bool {
        let values = |first: f64, other: f64| [&[first; 7][..], &[other]].concat();
        is_uninstrumented(&values(work, other.0), &values(ms * MS, other.1 * MS))
    }

    #[test]
    fn threads_that_work_in_a_library_beside_one_that_does_not() {
        assert!(of((13.0, 62.0), (5e7, 5.0)));
        assert!(of((0.0, 62.0), (5e7, 62.0)), "no instruction at all");
        assert!(of((4000.0, 62.0), (5e7, 5.0)), "some in each call");
    }

    #[test]
    fn threads_that_are_as_uneven_by_work_as_by_time() {
        assert!(!of((13.0, 62.0), (13.0, 60.0)));
        assert!(!of((100.0, 20.0), (300.0, 60.0)), "calls of the library are counted by the loop around them");
    }

    #[test]
    fn time_that_instructions_may_have_taken() {
        assert!(!of((1e6, 50.0), (5e7, 5.0)), "hooks and misses: 50 ns each");
        assert!(!of((1e8, 20.0), (13.0, 60.0)), "the library's share is less than half");
        assert!(!of((13.0, 0.1), (5e6, 20.0)), "beginnings of threads");
        assert!(!of((13.0, 0.1), (5e3, 0.02)), "no time to speak of");
        assert!(!of((1e4, 12.0), (2e3, 10.0)), "page faults of all threads");
    }

    #[test]
    fn threads_that_did_nothing_tell_nothing() {
        assert!(!of((0.0, 62.0), (0.0, 5.0)));
        assert!(!is_uninstrumented(&[], &[]));
    }
}
