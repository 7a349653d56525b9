//! LIME: what the paper and hand calculation give, random data against slow and obvious code, properties, planted
//! causes, time.

mod facts;
mod oracle;
mod planted;
mod properties;
mod random;
mod reference;
mod speed;
mod synthetic;
