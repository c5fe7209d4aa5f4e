//! Memory in the order of streams, the driver's pools, and pools that keep blocks.

mod caching;
mod driver;
mod ordered;
mod pinned;
