//! Functions of the C library in which a thread may wait. The runtime times the wait; before each call of one of them
//! instrumented code says where it is ([`crate::thread::ThreadHeader::call_site`]), so that the wait has its line.
//!
//! What does not wait, such as unlocking, says nothing: its line would be taken for that of the next wait in code that
//! is not instrumented.

/// Their names.
pub const TIMED: [&str; 52] = [
    "accept",
    "accept4",
    "clock_nanosleep",
    "cnd_timedwait",
    "cnd_wait",
    "epoll_pwait",
    "epoll_wait",
    "msgrcv",
    "mtx_lock",
    "nanosleep",
    "pause",
    "poll",
    "ppoll",
    "pselect",
    "pthread_barrier_wait",
    "pthread_clockjoin_np",
    "pthread_cond_clockwait",
    "pthread_cond_timedwait",
    "pthread_cond_wait",
    "pthread_join",
    "pthread_mutex_clocklock",
    "pthread_mutex_lock",
    "pthread_mutex_timedlock",
    "pthread_rwlock_clockrdlock",
    "pthread_rwlock_clockwrlock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_timedrdlock",
    "pthread_rwlock_timedwrlock",
    "pthread_rwlock_wrlock",
    "pthread_timedjoin_np",
    "read",
    "recv",
    "recvfrom",
    "recvmsg",
    "select",
    "sem_clockwait",
    "sem_timedwait",
    "sem_wait",
    "sigsuspend",
    "sigtimedwait",
    "sigwait",
    "sigwaitinfo",
    "sleep",
    "syscall",
    "thrd_join",
    "thrd_sleep",
    "usleep",
    "wait",
    "wait3",
    "wait4",
    "waitid",
    "waitpid",
];

/// Whether a function is one of them. The runtime asks when it is compiled, of each that it times.
pub const fn is_timed(name: &str) -> bool {
    let mut at = 0;
    while at < TIMED.len() {
        if is_same(TIMED[at].as_bytes(), name.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{TIMED, is_timed};

    #[test]
    fn what_waits_is_told_from_what_lets_others_go_on() {
        assert!(TIMED.iter().all(|name| is_timed(name)) && TIMED.is_sorted());
        for name in ["pthread_mutex_unlock", "pthread_mutex_trylock", "pthread_cond_signal", "sem_post", "wait5", ""] {
            assert!(!is_timed(name), "{name}");
        }
    }
}
