//! Threads that live one after the other.
//!
//! A program that creates new threads for each step has many more threads than ever run at the same time. Counting them
//! all as a load would spread each generation unevenly, so a thread takes the *lane* of one that had ended when it
//! began. This is done only where there are more threads than processors: otherwise each has a processor of its own,
//! whatever this run's times were.

use crate::model::Thread;

/// Which threads take turns.
pub struct Lanes {
    /// Lane of each thread, by position.
    pub of_thread: Vec<usize>,
    /// Number of lanes: the most threads at the same time, or all.
    pub count: usize,
}

/// Lanes of threads, which come in the order of creation.
pub fn lanes(threads: &[Thread], processors: usize) -> Lanes {
    if threads.len() <= processors {
        return Lanes { of_thread: (0..threads.len()).collect(), count: threads.len() };
    }
    // When each lane is free again; never where the end is not known.
    let mut free_at: Vec<f64> = Vec::new();
    let mut of_thread = Vec::with_capacity(threads.len());
    for thread in threads {
        let end = thread.end_s.unwrap_or(f64::INFINITY);
        let lane = free_at.iter().position(|free| *free <= thread.start_s).unwrap_or(free_at.len());
        if lane == free_at.len() {
            free_at.push(end);
        } else {
            free_at[lane] = end;
        }
        of_thread.push(lane);
    }
    Lanes { of_thread, count: free_at.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(id: u32, start_s: f64, end_s: Option<f64>) -> Thread {
        Thread {
            id,
            name: String::new(),
            created_by: None,
            created_at: None,
            start_s,
            end_s,
            cpu_s: None,
            tid: 0,
            openmp: false,
            overflow: false,
        }
    }

    #[test]
    fn generations_share_lanes_where_processors_are_scarce() {
        let generations = [
            thread(0, 0.0, None),
            thread(1, 1.0, Some(2.0)),
            thread(2, 1.1, Some(2.1)),
            thread(3, 3.0, Some(4.0)),
            thread(4, 3.1, None),
            thread(5, 5.0, Some(6.0)),
        ];
        let few = lanes(&generations, 5);
        assert_eq!((few.of_thread, few.count), (vec![0, 1, 2, 1, 2, 1], 3));
        let enough = lanes(&generations, 6);
        assert_eq!((enough.of_thread, enough.count), (vec![0, 1, 2, 3, 4, 5], 6));
    }
}
