//! Error of work on regions.

use crate::error::Error;
use crate::launch::{LaunchError, Mismatch};
use crate::memory::MemoryError;
use crate::module::ModuleError;

/// Error of work on regions, found on the host or by the driver.
///
/// # Example
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
///     // The memory may still be in use by earlier work of its own queue, after which the other one has to come.
///     assert!(matches!(other.fill(cx, &region, 7u32), Err(RegionError::NotOrdered)));
///     other.wait(cx, &one.mark(cx)?)?;
///     Ok(other.fill(cx, &region, 7u32)?)
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegionError {
    /// A region was given out in the order of another queue, and earlier work there may still use its memory. Nothing was
    /// queued.
    #[error(
        "the region is in the order of the queue that allocated it: make this queue wait for a mark of that one, made \
         after the allocation (for a recording, before it begins)"
    )]
    NotOrdered,
    /// The queue is being recorded, and the call would wait, or cannot be part of a graph. Nothing was queued.
    #[error("the queue is being recorded: end the recording first, or use another queue")]
    Recording,
    /// The mark was made in another recording than the one of this queue, or in one that has ended, or only one of both is
    /// recorded. Nothing was queued.
    #[error("the mark and the queue are not part of the same recording")]
    OtherRecording,
    /// A recording of the queue could not be ended, so that its work may or may not run.
    #[error("a recording of this queue could not be ended: drop the queue")]
    Lost,
    /// The arguments of a launch are others than the kernel's parameters. Nothing was queued.
    #[error(transparent)]
    Arguments(Mismatch),
    /// The geometry of a launch does not fit. Nothing was queued.
    #[error(transparent)]
    Launch(LaunchError),
    /// There is no such kernel.
    #[error(transparent)]
    Module(ModuleError),
    /// A region does not begin at a multiple of the size of the number to fill it with. Nothing was queued.
    #[error("address {address:#x} is no multiple of {align}")]
    Unaligned {
        /// Address of the region.
        address: u64,
        /// Bytes of the number.
        align: usize,
    },
    /// Sizes do not fit, or sides overlap. Nothing was queued.
    #[error(transparent)]
    Memory(MemoryError),
    /// The driver refused.
    #[error(transparent)]
    Driver(#[from] Error),
}

/// The driver's refusals are in one variant, whichever error contains them.
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
