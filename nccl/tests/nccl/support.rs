//! Members on threads, each with a device of its own.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use cuprum::sys::environment;
use cuprum::{ContextRef, Current, Shared};
use cuprum_emulator::Settings;
use cuprum_nccl::{Communicator, Config, Nccl, UniqueId};

/// Error of a test.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Time limit of steps that should not take long.
pub(crate) const SOON: Duration = Duration::from_secs(60);

/// The software device, eight times, and the stand-in over it.
pub(crate) fn nccl() -> Result<Nccl, Failure> {
    static LIBRARY: OnceLock<cuprum::Library> = OnceLock::new();
    let library = *LIBRARY.get_or_init(|| {
        let settings = Settings::from_env().unwrap_or_default();
        // The first test installs it; the device is the same for all.
        let _ = settings.devices(8).install();
        cuprum_emulator::library()
    });
    Ok(cuprum_nccl_stand_in::nccl!(library))
}

pub(crate) fn device(ordinal: u32) -> Result<Shared<ContextRef>, Failure> {
    nccl()?;
    Ok(cuprum::open_in(cuprum_emulator::library(), ordinal)?)
}

/// Lets one group of this process work at a time. Two groups on the same devices could wait for
/// each other forever: the default stream of a device waits for a collective of one, whose other
/// member waits for the default stream of another device.
pub(crate) fn one_group() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `body` as each member of a group, on threads.
pub(crate) fn on_threads<R: Send>(
    size: u32,
    config: Config,
    body: impl Fn(&Communicator, &mut Current<'_, 'static>) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, Failure> {
    let _one = one_group();
    let nccl = nccl()?;
    let id = nccl.unique_id()?;
    let member = |rank| -> Result<R, Failure> {
        device(rank)?
            .enter_as::<Any, _>(|cx| {
                let member = join(nccl, cx, id, (rank, size), config)?;
                let result = body(&member, cx)?;
                member.finalize()?;
                Ok(result)
            })
            .map_err(|error| error.0)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..size).map(|rank| scope.spawn(move || member(rank))).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a member panicked")?).collect()
    })
}

pub(crate) fn join(
    nccl: Nccl,
    cx: &Current<'_, 'static>,
    id: UniqueId,
    (rank, size): (u32, u32),
    config: Config,
) -> Result<Communicator, Failure> {
    let member = Communicator::init_rank(nccl, cx, id, rank, size, config)?;
    member.wait(SOON)?;
    Ok(member)
}

/// Any error, for closures that enter a context.
pub(crate) struct Any(pub(crate) Failure);

impl<E: Into<Failure>> From<E> for Any {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

/// Runs a test of this program by itself, in a process with other variables.
pub(crate) fn rerun(test: &str, variables: &[(&str, &str)]) -> Result<std::process::Child, Failure> {
    let mut command = std::process::Command::new(std::env::current_exe()?);
    command.args(["--exact", test, "--nocapture", "--include-ignored"]).env(CHILD, "1");
    command.envs(variables.iter().copied());
    Ok(command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn()?)
}

/// Set in processes that a test has started.
pub(crate) const CHILD: &str = "CUPRUM_NCCL_TEST_CHILD";

pub(crate) fn is_child() -> bool {
    environment::variable(CHILD).is_some()
}
