// The device reads memory that was moved into an upload.
use cuprum::Current;
use cuprum::region::{Pinned, Queue, Region, RegionError};

fn wrong(
    cx: &Current<'_, 'static>,
    queue: &Queue,
    to: &Region,
    mut from: Pinned,
) -> Result<(), RegionError> {
    let bytes = &mut from[..];
    queue.upload(cx, to, from)?;
    bytes[0] = 1;
    Ok(())
}

fn main() {}
