//! What the report says of its own accuracy, against programs whose counts do not depend on the order of the threads.

use std::time::Duration;

use threadtalk_benchmarks::accuracy::{self, Row};
use threadtalk_benchmarks::build::Compilers;
use threadtalk_benchmarks::kernels::Kernel;

/// No mutex, no reduction: each element has one writer at a time, given by the input and the number of threads.
const KERNELS: [&str; 3] = ["lu", "cg", "radix"];

fn measured(kernels: &[&str], budget: &str) -> Vec<Row> {
    let mut options = accuracy::parse([]).unwrap().unwrap();
    options.kernels = kernels.iter().map(|name| Kernel::named(name).unwrap()).collect();
    options.budgets = vec![budget.into()];
    options.timeout = Duration::from_secs(600);
    accuracy::measure(&options, &Compilers::find(), |step| eprintln!("{step}")).unwrap()
}

/// ```text
/// scripts/build.sh; cargo test --release -p threadtalk-benchmarks --test accuracy -- --ignored
/// ```
#[test]
#[ignore = "some minutes, and needs the built tool"]
fn programs_within_the_default_budget_are_exact() {
    for row in measured(&KERNELS, "256M") {
        assert_eq!((row.error.made_up, row.error.missing, row.error.worst_entry), (0.0, 0.0, 0.0), "{row:?}");
        assert!(row.error.events > 100_000, "{row:?}");
    }
}

#[test]
#[ignore = "some minutes, and needs the built tool"]
fn the_estimate_covers_what_a_small_budget_gets_wrong() {
    let rows = measured(&KERNELS, "2M");
    for row in &rows {
        let error = row.error.wrong();
        assert!(error <= row.estimate, "{} is off by {error}, and says {}", row.kernel, row.estimate);
    }
    // Else the budget was large enough, and nothing was tested.
    assert!(rows.iter().all(|row| row.error.wrong() > 0.001), "{rows:?}");
}

/// Nearly all reuse is false here, and less of the communication.
#[test]
#[ignore = "needs the built tool"]
fn the_estimate_covers_reuse_that_is_falser_than_communication() {
    for row in measured(&["jacobi"], "1M") {
        assert!(row.error.made_up > 0.5 && row.covered(), "{row:?}");
    }
}
