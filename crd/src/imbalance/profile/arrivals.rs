//! Whether the threads of a section came to its end as far apart as their work says.
//!
//! Where work is shared out beforehand, who has less of it has to wait for the others. Who takes the next piece when it
//! has finished one has not: such threads differ by what the scheduler gave them, and come to the end together. With
//! fewer processors than threads that holds, too: who has less comes earlier.

use super::instances::Instance;
use super::observed::Part;

/// Threads that wait for less than this share of what their work says came together. Measured on two processors: 0 to
/// .11 where two threads take pieces of 1/4000, and 1.3 to 17 where four had iterations shared out beforehand. With
/// fewer processors than threads it cannot always be told, as one that has to stop with its last piece in hand lets the
/// others wait for some milliseconds.
const TOGETHER: f64 = 0.25;

/// Time that the threads of a section waited for the last one, and what they would have at least, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waiting {
    seen: f64,
    expected: f64,
}

impl Waiting {
    /// Of one instance. Each thread would wait for what it has less than the one with the most, at that one's speed.
    pub fn of(instance: &Instance, dependent: &[f64]) -> Waiting {
        let parts = &instance.parts;
        let Some((most, value)) = parts.iter().zip(dependent).max_by(|a, b| a.1.total_cmp(b.1)) else {
            return Waiting::default();
        };
        let less = |of: &f64| if *value > 0.0 { most.cpu_ns as f64 * (1.0 - of / value) } else { 0.0 };
        let end = |p: &&Part| p.begin_ns + p.wall_ns;
        let last = parts.iter().map(end).max().unwrap_or(0);
        Waiting { seen: parts.iter().map(|p| (last - end(p)) as f64).sum(), expected: dependent.iter().map(less).sum() }
    }

    /// Adds an instance that stands for `weight` of them.
    pub fn add(&mut self, other: Waiting, weight: f64) {
        self.seen += weight * other.seen;
        self.expected += weight * other.expected;
    }

    /// Threads waited so long for others before they came to the end.
    pub fn has_waited(&mut self, ns: f64) {
        self.seen += ns;
    }

    /// Whether the threads came together, although they did not do the same.
    pub fn is_together(self) -> bool {
        self.expected > 0.0 && self.seen < TOGETHER * self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waiting of threads with these beginnings, ends, and work, which takes as long as it says.
    fn waiting(threads: &[(u64, u64, f64)]) -> Waiting {
        let part = |&(begin_ns, end, work): &(u64, u64, f64)| Part {
            begin_ns,
            wall_ns: end - begin_ns,
            cpu_ns: work as u64,
            ..Part::default()
        };
        let parts: Vec<Part> = threads.iter().map(part).collect();
        let dependent: Vec<f64> = threads.iter().map(|t| t.2).collect();
        let executions = vec![Vec::new(); parts.len()];
        Waiting::of(&Instance { parts: parts.iter().collect(), executions, runs: Vec::new() }, &dependent)
    }

    #[test]
    fn who_has_less_and_comes_earlier_waits() {
        let shared_out = waiting(&[(0, 700, 700.0), (0, 500, 500.0), (0, 300, 300.0)]);
        assert_eq!(shared_out, Waiting { seen: 600.0, expected: 600.0 });
        assert!(!shared_out.is_together());
    }

    #[test]
    fn who_has_less_and_comes_at_the_same_time_took_less() {
        let taken = waiting(&[(0, 700, 700.0), (0, 690, 500.0), (400, 700, 300.0)]);
        assert_eq!(taken, Waiting { seen: 10.0, expected: 600.0 });
        assert!(taken.is_together());
    }

    #[test]
    fn who_waits_on_the_way_comes_at_the_same_time_and_has_waited() {
        let mut spun = waiting(&[(0, 700, 700.0), (0, 700, 100.0)]);
        assert!(spun.is_together());
        spun.has_waited(590.0);
        assert!(!spun.is_together());
    }

    #[test]
    fn instances_count_as_often_as_they_stand_for_others() {
        let mut sum = Waiting::default();
        sum.add(waiting(&[(0, 100, 100.0), (0, 100, 50.0)]), 1.0);
        assert!(sum.is_together());
        sum.add(waiting(&[(200, 300, 100.0), (200, 250, 50.0)]), 3.0);
        assert_eq!(sum, Waiting { seen: 150.0, expected: 200.0 });
        assert!(!sum.is_together());
    }

    #[test]
    fn where_all_do_the_same_or_nothing_there_is_nothing_to_tell() {
        for threads in [&[(0, 100, 100.0), (0, 100, 100.0)][..], &[(0, 100, 0.0), (0, 5, 0.0)], &[]] {
            assert!(!waiting(threads).is_together(), "{threads:?}");
        }
    }
}
