//! A Rust library with all of Rust's own: heap, threads, unwinding.

#[unsafe(no_mangle)]
pub extern "C" fn neighbour(numbers: u64) -> u64 {
    let threads: Vec<_> =
        (0..4).map(|_| std::thread::spawn(move || (0..numbers).collect::<Vec<_>>().iter().sum::<u64>())).collect();
    std::panic::set_hook(Box::new(|_| {}));
    assert!(std::panic::catch_unwind(|| panic!("{numbers}")).is_err());
    threads.into_iter().map(|thread| thread.join().unwrap()).sum()
}
