//! A recording as files for people: for trace viewers, and as a page.

mod bars;
mod json;
mod page;
mod summary;
mod text;
mod timeline;

pub use self::timeline::Timeline;
