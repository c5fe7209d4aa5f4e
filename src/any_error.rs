//! One error type for the whole crate, for closures and programs to return.

use cuprum_sys::{LoadError, MissingFunction, MissingFunctions, TooOld};

use crate::context::StackTaken;
use crate::device::ChoiceError;
use crate::diagnosis::ImageError;
use crate::driver::DriverError;
use crate::error::Error;
use crate::graph::GraphError;
use crate::launch::{BindError, LaunchError, Mismatch};
use crate::memory::{MemoryError, RegisterError};
use crate::module::ModuleError;
use crate::region::RegionError;
use crate::stream::RequestError;
use crate::texture::{TensorError, TextureError};

/// A result with the error that all errors of this crate convert into.
///
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// use cuprum::context::PrimaryContext;
/// use cuprum::{Device, Driver};
///
/// fn free_bytes(device: Device) -> cuprum::Result<usize> {
///     let context = PrimaryContext::retain(device)?;
///     context.enter(|cx| Ok(cx.memory_info()?.free))
/// }
/// assert!(free_bytes(Driver::init(library)?.device(0)?)? > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Result<T> = std::result::Result<T, AnyError>;

/// Any error of this crate or of the program. [`enter`](crate::ContextRef::enter),
/// [`scope`](crate::Current::scope) and their closures return it.
///
/// Operations return precise errors, and `?` converts each of them. Each precise type has one
/// variant, with two exceptions, so that a program finds each cause in one place:
/// - If the driver refused a call and the precise error adds nothing, the variant is
///   [`Driver`](AnyError::Driver).
/// - [`DriverError`], which wraps one of two errors, becomes [`Load`](AnyError::Load) or
///   [`Driver`](AnyError::Driver).
///
/// The text and the [source](std::error::Error::source) are the same as of the precise error. The
/// conversion drops objects that an error returns, such as the memory in a [`RegisterError`].
///
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let context = cuprum::context::PrimaryContext::retain(cuprum::Driver::init(library)?.device(0)?)?;
/// use cuprum::{AnyError, Buffer, MemoryError};
///
/// let error = context.enter(|cx| {
///     let mut buffer = Buffer::from_slice(cx, &[1, 2, 3])?;
///     cx.copy(&mut buffer, &[4, 5])?;
///     Ok(buffer.to_vec(cx)?)
/// });
/// match error {
///     Err(AnyError::Memory(MemoryError::Length { source_len, .. })) => assert_eq!(source_len, 2),
///     other => println!("not refused: {other:?}"),
/// }
///
/// // The program's own error.
/// let parsed = context.enter(|_| "seven".parse::<u32>().map_err(AnyError::other));
/// assert_eq!(parsed.unwrap_err().to_string(), "invalid digit found in string");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnyError {
    /// A driver call failed.
    #[error(transparent)]
    Driver(#[from] Error),
    /// No driver could be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The driver is older than required.
    #[error(transparent)]
    TooOld(#[from] TooOld),
    /// The driver lacks a function that is required.
    #[error(transparent)]
    MissingFunction(#[from] MissingFunction),
    /// The driver lacks functions that are required.
    #[error(transparent)]
    MissingFunctions(#[from] MissingFunctions),
    /// No device was chosen.
    #[error(transparent)]
    Choice(ChoiceError),
    /// The thread's stack of contexts is already taken.
    #[error(transparent)]
    StackTaken(#[from] StackTaken),
    /// Memory sizes, order or kinds do not match.
    #[error(transparent)]
    Memory(MemoryError),
    /// The geometry of a launch is invalid.
    #[error(transparent)]
    Launch(LaunchError),
    /// The kernel's parameters differ from its signature.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The arguments do not match the parameters of the kernel.
    #[error(transparent)]
    Arguments(Mismatch),
    /// Code could not be loaded or linked, or does not contain the name.
    #[error(transparent)]
    Module(ModuleError),
    /// Code has an unknown format or is damaged.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// A graph, a capture or a replay failed.
    #[error(transparent)]
    Graph(GraphError),
    /// An operation on memory or queues without types failed.
    #[error(transparent)]
    Region(RegionError),
    /// A texture or surface could not be created.
    #[error(transparent)]
    Texture(TextureError),
    /// A tensor map could not be created.
    #[error(transparent)]
    Tensor(TensorError),
    /// A request failed, and its memory is leaked because the device may still use it. Other
    /// requests fail with the error of their work.
    #[error(transparent)]
    Request(Box<RequestError<(), AnyError>>),
    /// An error of the program: see [`other`](AnyError::other).
    #[error(transparent)]
    Other(#[from] Box<dyn std::error::Error + Send + Sync>),
}

impl AnyError {
    /// Wraps an error of the program, for `map_err(AnyError::other)`. `?` converts text and
    /// [`std::io::Error`].
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }

    /// Returns the driver call that failed, if this error contains one.
    pub fn failed_call(&self) -> Option<Error> {
        match self {
            Self::Driver(error)
            | Self::Memory(MemoryError::NoRoom { error, .. })
            | Self::Module(
                ModuleError::Rejected { error, .. }
                | ModuleError::NoFunction { error, .. }
                | ModuleError::NoGlobal { error, .. }
                | ModuleError::Link { error, .. },
            )
            | Self::Bind(BindError { reason: Mismatch::Driver(error), .. })
            | Self::Arguments(Mismatch::Driver(error))
            | Self::Graph(GraphError::Update { error, .. }) => Some(*error),
            Self::Module(ModuleError::Input { error, .. }) => match &**error {
                ModuleError::Rejected { error, .. } | ModuleError::Driver(error) => Some(*error),
                _ => None,
            },
            Self::Request(request) => request.error.failed_call(),
            Self::Other(other) => failed_call_in(&**other),
            _ => None,
        }
    }

    /// True if a driver call failed with a [sticky](Error::is_sticky) error: the context is lost.
    pub fn is_sticky(&self) -> bool {
        self.failed_call().is_some_and(Error::is_sticky)
    }
}

fn failed_call_in(error: &(dyn std::error::Error + 'static)) -> Option<Error> {
    std::iter::successors(Some(error), |error| error.source()).find_map(|error| {
        error.downcast_ref::<Error>().copied().or_else(|| error.downcast_ref::<AnyError>()?.failed_call())
    })
}

/// Errors with one variant that only wraps the driver's error.
macro_rules! refused {
    ($($error:ident => $variant:ident $(($boxed:ident))?;)*) => { $(
        impl From<$error> for AnyError {
            fn from(error: $error) -> Self {
                match error {
                    $error::Driver(error) => Self::Driver(error),
                    other => Self::$variant($($boxed::new)? (other)),
                }
            }
        }
    )* };
}

refused! {
    ChoiceError => Choice;
    MemoryError => Memory;
    LaunchError => Launch;
    ModuleError => Module;
    GraphError => Graph;
    RegionError => Region;
    TextureError => Texture;
    TensorError => Tensor;
}

impl From<DriverError> for AnyError {
    fn from(error: DriverError) -> Self {
        match error {
            DriverError::Load(error) => error.into(),
            DriverError::Init(error) => error.into(),
        }
    }
}

impl From<Mismatch> for AnyError {
    fn from(error: Mismatch) -> Self {
        Self::Arguments(error)
    }
}

impl<O> From<RegisterError<O>> for AnyError {
    /// Drops the memory, if the error returns it.
    fn from(error: RegisterError<O>) -> Self {
        error.error.into()
    }
}

impl<V, E: Into<AnyError>> From<RequestError<V, E>> for AnyError {
    /// Drops the request, if the error returns it.
    fn from(error: RequestError<V, E>) -> Self {
        let (error, leaked) = (error.error.into(), error.request.is_none());
        if leaked { Self::Request(Box::new(RequestError { error, request: None })) } else { error }
    }
}

/// Common errors of programs besides this crate's: text, and errors of files.
macro_rules! others {
    ($($other:ty)*) => { $(
        impl From<$other> for AnyError {
            fn from(other: $other) -> Self {
                Self::other(other)
            }
        }
    )* };
}

others! { &str String std::io::Error }
