//! The tasks that a thread is in, one inside the other.
//!
//! libomp tells where a thread begins a task and where one is complete. It does not tell where an untied task is left,
//! to be gone on with later and maybe by another thread: that shows in the next event, which comes from the task that
//! the thread is back in, or in the end of the wait in which it began it.

/// Tasks and waits inside one another; what is deeper is not told apart.
const DEPTH: usize = 64;

/// A task, by the address of its word for tools: 0 is none.
pub type Task = usize;

#[derive(Clone, Copy)]
struct Open {
    task: Task,
    /// In which the thread was when it began it.
    inside: Task,
}

/// Tasks that a thread has begun and that were not said to be complete, and its waits.
pub struct Tasks {
    open: [Open; DEPTH],
    depth: usize,
    /// Open tasks when each wait began.
    waits: [usize; DEPTH],
    waiting: usize,
}

impl Tasks {
    /// In none.
    pub const fn new() -> Self {
        Self { open: [Open { task: 0, inside: 0 }; DEPTH], depth: 0, waits: [0; DEPTH], waiting: 0 }
    }

    /// The block serves another thread.
    pub fn clear(&mut self) {
        (self.depth, self.waiting) = (0, 0);
    }

    /// The thread is in `current`: takes off the tasks that it has left, and returns their number.
    pub fn is_in(&mut self, current: Task) -> usize {
        let known = self.open.get(..self.depth).unwrap_or_default();
        if known.last().is_none_or(|top| top.task == current) {
            return 0;
        }
        // A task that is not listed is the implicit one of a region inside.
        let first = known.iter().rposition(|open| open.inside == current);
        self.cut(first.unwrap_or(self.depth))
    }

    /// It begins `task` in `current`.
    pub fn begin(&mut self, current: Task, task: Task) {
        if let Some(open) = self.open.get_mut(self.depth) {
            *open = Open { task, inside: current };
        }
        self.depth = self.depth.saturating_add(1);
    }

    /// The innermost one is complete.
    pub fn complete(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// It begins to wait.
    pub fn wait_begins(&mut self) {
        if let Some(wait) = self.waits.get_mut(self.waiting) {
            *wait = self.depth;
        }
        self.waiting = self.waiting.saturating_add(1);
    }

    /// That is over: takes off the tasks that it has begun since and left, and returns their number.
    pub fn wait_ends(&mut self) -> usize {
        let Some(last) = self.waiting.checked_sub(1) else { return 0 };
        self.waiting = last;
        let depth = self.waits.get(last).copied().unwrap_or(self.depth);
        self.cut(depth)
    }

    fn cut(&mut self, depth: usize) -> usize {
        let left = self.depth.saturating_sub(depth);
        self.depth -= left;
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_that_are_complete_have_not_been_left() {
        let mut tasks = Tasks::new();
        tasks.wait_begins();
        for task in 10..20 {
            assert_eq!(tasks.is_in(1), 0);
            tasks.begin(1, task);
            assert_eq!(tasks.is_in(task), 0);
            tasks.begin(task, 5);
            assert_eq!(tasks.is_in(5), 0);
            tasks.complete();
            assert_eq!(tasks.is_in(task), 0);
            tasks.complete();
        }
        assert_eq!(tasks.wait_ends(), 0);
    }

    #[test]
    fn a_task_that_is_left_shows_in_what_its_thread_does_next() {
        let mut tasks = Tasks::new();
        tasks.begin(1, 2);
        tasks.begin(2, 3);
        tasks.begin(3, 4);
        assert_eq!(tasks.is_in(2), 2, "in 2 again");
        assert_eq!(tasks.is_in(2), 0);
        assert_eq!(tasks.is_in(1), 1);
        assert_eq!(tasks.is_in(1), 0);
    }

    #[test]
    fn a_task_that_is_left_in_a_wait_shows_where_that_ends() {
        let mut tasks = Tasks::new();
        tasks.begin(1, 2);
        tasks.wait_begins();
        tasks.begin(2, 3);
        tasks.wait_begins();
        tasks.begin(3, 4);
        tasks.begin(4, 5);
        assert_eq!(tasks.wait_ends(), 2);
        assert_eq!(tasks.wait_ends(), 1);
        assert_eq!(tasks.is_in(2), 0);
    }

    #[test]
    fn the_implicit_task_of_a_region_inside_a_task_does_not_leave_it() {
        let mut tasks = Tasks::new();
        tasks.begin(1, 2);
        assert_eq!(tasks.is_in(77), 0);
        tasks.begin(77, 3);
        assert_eq!(tasks.is_in(77), 1);
        assert_eq!(tasks.is_in(2), 0);
        assert_eq!(tasks.is_in(1), 1);
    }

    #[test]
    fn depths_that_have_no_room_are_counted() {
        let mut tasks = Tasks::new();
        for task in 0..3 * DEPTH {
            tasks.begin(task + 1, task + 2);
            tasks.wait_begins();
        }
        for _ in 0..3 * DEPTH {
            assert_eq!(tasks.wait_ends(), 0);
            tasks.complete();
        }
        assert_eq!((tasks.depth, tasks.waiting, tasks.wait_ends()), (0, 0, 0));
    }
}
