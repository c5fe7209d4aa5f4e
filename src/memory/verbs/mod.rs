//! Copies and fills on the default stream: one method for each, between places of any kind.

mod current;
mod pairs;
