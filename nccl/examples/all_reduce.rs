//! NCCL: sums over two devices, in one process and in two. That is the road beyond one machine:
//! NCCL connects the members of a group by network as well, and the calls are the same.
//!
//! On GPUs it loads NCCL (`pip install nvidia-nccl-cu12`, or `CUPRUM_NCCL=path`), and ends with
//! code 77 without it or without a second GPU. On the software device it uses a stand-in for NCCL.

use std::error::Error;
use std::process::{Command, ExitCode};
use std::time::Duration;

use cuprum::context::PrimaryContext;
use cuprum::{Buffer, ContextRef, Driver, Shared, Stream};
use cuprum_emulator::Choice;
use cuprum_nccl::{Communicator, Config, Members, Nccl, Reduction, World};

const LEN: usize = 1 << 18;
const CANNOT_RUN: u8 = 77;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn device(driver: Driver, ordinal: u32) -> Result<Shared<ContextRef>> {
    Ok(PrimaryContext::retain(driver.device(ordinal)?)?.share())
}

/// The work of each member, on its device.
fn sum(context: &Shared<ContextRef>, member: &Communicator, who: &str) -> Result<()> {
    let wrong = context.enter(|cx| {
        let stream = Stream::new(cx)?;
        let mine = Buffer::from_slice(cx, &vec![member.rank() as f32 + 1.0; LEN])?;
        let mut sums = Buffer::<f32>::zeroed(cx, LEN)?;
        cx.scope(&stream, |scope| {
            let (sums, mine) = (scope.lend(&mut sums)?, scope.lend(&mine)?);
            Ok(member.all_reduce(scope, &sums, &mine, Reduction::Sum)?)
        })?;
        // The scope has ended in any case; whether the sums were made, the communicator says.
        member.check()?;
        Ok(sums.to_vec(cx)?.iter().filter(|sum| **sum != 3.0).count())
    })?;
    println!("{who}, device {}: {LEN} sums, {wrong} wrong", member.rank());
    if wrong == 0 { Ok(()) } else { Err("wrong sums".into()) }
}

/// A thread for each device.
fn one_process(driver: Driver, nccl: Nccl) -> Result<()> {
    let contexts = [device(driver, 0)?, device(driver, 1)?];
    let members = Communicator::init_all(nccl, &contexts)?;
    std::thread::scope(|scope| {
        let both = contexts.iter().zip(&members);
        let threads: Vec<_> =
            both.map(|(context, member)| scope.spawn(|| sum(context, member, "one process"))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a panic")?)
    })
}

/// One of two processes, each with a device.
fn one_of_two(driver: Driver, nccl: Nccl, world: World) -> Result<()> {
    let context = device(driver, world.local_rank())?;
    let members = Members::join(world, Duration::from_secs(60))?;
    let member = context.enter(|cx| Ok(members.communicator(nccl, cx, Config::default())?))?;
    sum(&context, &member, "two processes")?;
    member.finalize()?;
    Ok(members.leave()?)
}

/// Starts this program twice, as a launcher would.
fn two_processes() -> Result<()> {
    let program = std::env::current_exe()?;
    Ok(World::start_all(2, |_| Command::new(&program))?)
}

fn main() -> Result<ExitCode> {
    cuprum_emulator::Settings::from_env()?.devices(2).install()?;
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    let driver = Driver::init(library)?;
    let nccl = match &choice {
        Choice::Gpu { .. } => match Nccl::open() {
            Ok(nccl) => nccl,
            Err(error) => {
                println!("{error}");
                return Ok(ExitCode::from(CANNOT_RUN));
            }
        },
        _ => cuprum_nccl_stand_in::nccl!(library),
    };
    let world = World::from_environment()?;
    if world.size() > 1 {
        one_of_two(driver, nccl, world)?;
        return Ok(ExitCode::SUCCESS);
    }
    println!("{choice}\nNCCL {} from {}", nccl.version(), nccl.origin());
    if driver.devices()?.len() < 2 {
        println!("this example needs two devices");
        return Ok(ExitCode::from(CANNOT_RUN));
    }
    one_process(driver, nccl)?;
    two_processes()?;
    Ok(ExitCode::SUCCESS)
}
