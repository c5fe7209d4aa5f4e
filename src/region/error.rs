//! Error of work on regions.

use crate::error::Error;
use crate::launch::{LaunchError, Mismatch};
use crate::memory::MemoryError;
use crate::module::ModuleError;

/// Error of work on regions, detected on the host or by the driver.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::PrimaryContext;
/// use cuprum::region::{Pool, RegionError};
///
/// let context = PrimaryContext::retain(driver.device(0)?)?.share();
/// context.enter(|cx| {
///     let pool = Pool::new(cx);
///     let (one, other) = (pool.queue(cx)?, pool.queue(cx)?);
///     let region = one.alloc(cx, 4)?;
///     // Earlier work of the memory's own queue may still use it, so the other queue must come after it.
///     assert!(matches!(other.fill(cx, &region, 7u32), Err(RegionError::NotOrdered)));
///     other.wait(cx, &one.mark(cx)?)?;
///     Ok(other.fill(cx, &region, 7u32)?)
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegionError {
    /// A region was allocated in the order of another queue, whose earlier work may still use its
    /// memory. Nothing was queued.
    #[error(
        "the region is in the order of the queue that allocated it: make this queue wait for a mark of that one, made \
         after the allocation (for a recording, before it begins)"
    )]
    NotOrdered,
    /// The queue is being recorded, and a graph cannot contain the call. Nothing was queued.
    #[error("the queue is being recorded: end the recording first, or use another queue")]
    Recording,
    /// The call was made by code that [`with_raw`](super::Queue::with_raw) lends the queue to.
    /// Nothing was queued.
    #[error("`with_raw` lends the queue to the code that makes this call: call it after `with_raw` returns")]
    Busy,
    /// The mark belongs to a recording that has ended or is not the queue's recording, or only one
    /// of them is recorded. Nothing was queued.
    #[error("the mark and the queue are not part of the same recording")]
    OtherRecording,
    /// A recording of the queue could not be ended, so its work may or may not run.
    #[error("a recording of this queue could not be ended: drop the queue")]
    Lost,
    /// The arguments of a launch differ from the kernel's parameters. Nothing was queued.
    #[error(transparent)]
    Arguments(Mismatch),
    /// The geometry of a launch is invalid. Nothing was queued.
    #[error(transparent)]
    Launch(LaunchError),
    /// The kernel does not exist.
    #[error(transparent)]
    Module(ModuleError),
    /// A region does not begin at a multiple of the fill value's size. Nothing was queued.
    #[error("address {address:#x} is no multiple of {align}")]
    Unaligned {
        /// Address of the region.
        address: u64,
        /// Size of the value in bytes.
        align: usize,
    },
    /// Sizes do not match, or sides overlap. Nothing was queued.
    #[error(transparent)]
    Memory(MemoryError),
    /// A driver call failed.
    #[error(transparent)]
    Driver(#[from] Error),
}

/// The driver's errors are in one variant, even if another error contains them.
macro_rules! around {
    ($($error:ident => $variant:ident;)*) => { $(
        impl From<$error> for RegionError {
            fn from(error: $error) -> Self {
                match error {
                    $error::Driver(error) => Self::Driver(error),
                    other => Self::$variant(other),
                }
            }
        }
    )* };
}

around! {
    MemoryError => Memory;
    Mismatch => Arguments;
    LaunchError => Launch;
    ModuleError => Module;
}
