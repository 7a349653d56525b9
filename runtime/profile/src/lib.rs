//! The profile file of threadtalk: its layout, and (feature `std`) its decoder.
#![cfg_attr(not(feature = "std"), no_std)]

pub mod buckets;
pub mod layout;
