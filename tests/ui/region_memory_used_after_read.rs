// The device writes memory that was moved into a read, until it comes back from a wait.
use cuprum::Current;
use cuprum::region::{Pinned, Queue, Region, RegionError};

fn wrong(
    cx: &Current<'_, 'static>,
    queue: &Queue,
    from: &Region,
    to: Pinned,
) -> Result<u8, RegionError> {
    let _read = queue.read(cx, from, to)?;
    Ok(to[0])
}

fn main() {}
