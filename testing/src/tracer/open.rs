//! Opens a traced driver: over a backing, as a version, without some functions.

use cuprum::sys::hook::{Call, Hook};
use cuprum::sys::{CUresult, FnId, Fns, StreamMode, Version};
use cuprum::{Driver, Library};

use super::asked::Asked;
use super::emulator::emulator;
use super::session::answer;
use super::target::{POSING, call_nothing, current, functions};

/// Driver that the traced functions call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backing {
    /// The emulator, with the legacy default stream.
    Emulator,
    /// The emulator, with a default stream for each thread.
    EmulatorPerThread,
    /// A driver that does nothing and poses as CUDA 9.0.
    Nothing,
    /// The same with a default stream for each thread.
    NothingPerThread,
    /// Another driver that does nothing; its handles are the same numbers.
    OtherNothing,
}

/// Options of opening a driver.
#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    pub backing: Backing,
    /// The version that it poses as, if it is not to say its own.
    pub version: Option<Version>,
    /// Functions that it lacks besides those that came later.
    pub lacking: &'a [FnId],
}

impl Backing {
    pub fn driver(self) -> Driver {
        Build::of(self).driver()
    }

    /// Number of the traced driver.
    const fn number(self) -> usize {
        match self {
            Self::Emulator => 0,
            Self::EmulatorPerThread => 1,
            Self::Nothing | Self::NothingPerThread => 2,
            Self::OtherNothing => 3,
        }
    }

    /// The context current on this thread, 0 for none. Not traced.
    pub fn current(self) -> u64 {
        current(self.number())
    }

    fn posing_as(self) -> Version {
        match self {
            Self::Emulator | Self::EmulatorPerThread => emulator(StreamMode::Legacy).version(),
            _ => Version::new(9, 0),
        }
    }
}

impl Build<'_> {
    /// All of a driver.
    pub const fn of(backing: Backing) -> Self {
        Self { backing, version: None, lacking: &[] }
    }

    pub fn driver(self) -> Driver {
        Driver::init(self.library().expect("a driver")).expect("it initializes")
    }

    pub fn library(self) -> Result<Library, cuprum::sys::LoadError> {
        let fns = match self.backing {
            Backing::Emulator => Fns::hooked::<Traced<0>>(),
            Backing::EmulatorPerThread => Fns::hooked::<Traced<1>>(),
            Backing::Nothing | Backing::NothingPerThread => Fns::hooked::<Traced<2>>(),
            Backing::OtherNothing => Fns::hooked::<Traced<3>>(),
        };
        let version = self.version.unwrap_or_else(|| self.backing.posing_as());
        let per_thread = matches!(self.backing, Backing::EmulatorPerThread | Backing::NothingPerThread);
        // The resolver is asked once for each function, in order.
        let mut functions = FnId::ALL.iter();
        let options = Library::options().per_thread_default_stream(per_thread);
        let is_emulator = matches!(self.backing, Backing::Emulator | Backing::EmulatorPerThread);
        let options = if is_emulator { options.same_driver(emulator(StreamMode::Legacy)) } else { options };
        POSING.set(Some(version));
        // SAFETY: each address is the traced function of that name, which has the signature of the
        // list.
        let library = unsafe {
            options.from_resolver("a tracer", |symbol| {
                let function = functions.next().expect("one question for each function");
                assert_eq!(symbol.base, function.symbol().base);
                if symbol.since > version || self.lacking.contains(function) {
                    return std::ptr::null();
                }
                fns.address(*function)
            })
        };
        POSING.set(None);
        library
    }
}

/// Traced driver number `D`.
struct Traced<const D: usize>;

impl<const D: usize> Hook for Traced<D> {
    fn target() -> &'static Fns {
        functions(D).unwrap_or(const { &Fns::STUBS })
    }

    fn call(call: &Call<'_>, pass_on: &mut dyn FnMut() -> CUresult) -> CUresult {
        const MOST: usize = 16;
        let (mut types, mut words) = ([""; MOST], [0; MOST]);
        let arguments = call.arguments();
        let count = arguments.len();
        for ((ty, word), argument) in types.iter_mut().zip(&mut words).zip(arguments) {
            (*ty, *word) = (argument.ty(), argument.word());
        }
        let (types, words) = (&types[..count], &words[..count]);
        let asked = Asked { driver: D, function: call.function(), types, words };
        answer(&asked, || if functions(D).is_some() { pass_on() } else { call_nothing(&asked) })
    }
}
