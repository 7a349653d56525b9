//! Where the counters of [`Accuracy`] are in the header.

use core::mem::offset_of;
use threadtalk_profile::layout::{Accuracy, FileHeader};

macro_rules! offsets {
    ($($name:ident = $field:ident;)*) => {
        $(#[doc = concat!("Of [`Accuracy::", stringify!($field), "`].")]
        pub const $name: usize = offset_of!(FileHeader, accuracy) + offset_of!(Accuracy, $field);)*
    };
}

offsets! {
    SIGNATURE_BUDGET = signature_budget;
    SIGNATURE_MAPPED = signature_mapped;
    CHUNKS = chunks;
    CHUNKS_ALIASED = chunks_aliased;
    EVENTS_CHECKED = events_checked;
    EVENTS_SUSPECT = events_suspect;
    STATES = states;
    STATES_EXHAUSTED = states_exhausted;
    THREADS = threads;
    THREADS_OVERFLOWED = threads_overflowed;
    MODULES_WITHOUT_LINES = modules_without_lines;
    DROPPED_REENTRANT = dropped_reentrant;
    DROPPED_FULL = dropped_full;
    CRD_BUDGET_REACHED = crd_budget_reached;
    RECORDS_BUDGET_REACHED = records_budget_reached;
    DROPPED_BUDGET = dropped_budget;
    REUSE_CHECKED = reuse_checked;
    REUSE_SUSPECT = reuse_suspect;
    REUSE_WEIGHT = reuse_weight;
    SUSPECT_REUSE_WEIGHT = suspect_reuse_weight;
}
