//! Another library, which uses the first one within its own work, and is called back by it.

#![allow(clippy::missing_errors_doc, reason = "the errors are the driver's")]

use cuprum::{Buffer, ContextRef, MemoryError};
use cuprum_test_gray::Gray;

/// Brightens a picture by a table in another context, looked up from inside of the other library.
pub fn brightened(
    pictures: &ContextRef,
    tables: &ContextRef,
    points: &[u8],
    by: u8,
) -> Result<Vec<u8>, MemoryError> {
    tables.enter_as(|cx| {
        let table: Vec<u8> = (0..=u8::MAX).map(|point| point.saturating_add(by)).collect();
        let table = Buffer::from_slice(cx, &table)?;
        // The other library enters its context on top of ours, and in the middle of that we enter
        // ours again.
        let mut picture = pictures.enter_as(|cx| Gray::new(cx, points))?;
        let mut failed = None;
        picture.change(|point| {
            let looked_up = tables.enter_as(|cx| table.to_vec(cx));
            looked_up.map_or_else(
                |error| {
                    failed = Some(error);
                    point
                },
                |table| table[usize::from(point)],
            )
        })?;
        failed.map_or(Ok(()), Err)?;
        // And ours is current again.
        cx.memory_info()?;
        picture.points()
    })
}
