//! The profile file of threadtalk: its layout, and (feature `std`) its decoder and an encoder for tools.
//!
//! * [`layout`]: what the bytes mean. The runtime writes them in place.
//! * [`buckets`]: the bounds of histogram buckets.
//! * [`counters`]: names of what processors and kernels count.
//! * [`Profile`]: a profile that was opened and checked, as tables.
//! * [`mod@write`]: tables to bytes, for merged and synthetic profiles.
//! * [`mod@merge`]: several profiles as one.
#![cfg_attr(not(feature = "std"), no_std)]

pub mod buckets;
pub mod counters;
pub mod layout;

#[cfg(feature = "std")]
mod error;
#[cfg(feature = "std")]
pub mod merge;
#[cfg(feature = "std")]
mod read;
#[cfg(feature = "std")]
mod tables;
#[cfg(feature = "std")]
pub mod write;

#[cfg(feature = "std")]
pub use error::{Error, ErrorKind};
#[cfg(feature = "std")]
pub use read::Profile;
#[cfg(feature = "std")]
pub use tables::{
    Allocations, Block, Blocked, Call, Code, Count, Edge, Event, Function, Header, Histogram, Instance, Level, Module,
    Node, ObjectEvents, Phase, PrivateBytes, Region, SharedLines, Site, SiteAccess, State, Stride, Thread, Trace,
    UserRegion, Visit, WrittenSite,
};
