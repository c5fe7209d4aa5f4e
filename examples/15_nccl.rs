//! NCCL on cuprum's streams and buffers: sums over two GPUs, in one process and in two. That is the road beyond one
//! machine: NCCL connects the members of a group by network as well, and the calls are the same.
//!
//! Ends with code 77 where it cannot run: without NCCL (`pip install nvidia-nccl-cu12`, or `CUPRUM_NCCL=path`), without
//! two GPUs, and on the software device, since NCCL calls the CUDA runtime library, which works with NVIDIA's driver alone.

mod nccl;

use std::io::{Read, Write};
use std::process::{Command, ExitCode, Stdio};

use cuprum::{Buffer, Current, Driver, PrimaryContext, Stream};
use cuprum_emulator::Choice;
use nccl::{Nccl, Result, UniqueId};

const LEN: usize = 1 << 20;
const CANNOT_RUN: u8 = 77;
/// The argument of the second process.
const SECOND: &str = "second-process";

/// What a member works on: `send` has its number plus one.
struct Work<'ctx> {
    stream: Stream<'ctx>,
    send: Buffer<'ctx, f32>,
    receive: Buffer<'ctx, f32>,
}

impl<'ctx> Work<'ctx> {
    fn new(cx: &Current<'_, 'ctx>, rank: u8) -> Result<Self> {
        let send = Buffer::from_slice(cx, &vec![f32::from(rank) + 1.0; LEN])?;
        Ok(Self { stream: Stream::new(cx)?, send, receive: Buffer::zeroed(cx, LEN)? })
    }

    fn check(&self, cx: &Current<'_, '_>, who: &str) -> Result<()> {
        // In order with the stream, and waits.
        let sums = self.receive.to_vec(cx)?;
        let wrong = sums.iter().filter(|sum| **sum != 3.0).count();
        println!("{who}: {LEN} sums, {wrong} wrong");
        if wrong == 0 { Ok(()) } else { Err("wrong sums".into()) }
    }
}

/// One thread for both devices: the calls of a group start together.
fn one_process(driver: Driver, nccl: &Nccl) -> Result<()> {
    let first = PrimaryContext::retain(driver.device(0)?)?.share();
    let second = PrimaryContext::retain(driver.device(1)?)?.share();
    let mut a = first.enter(|cx| Work::new(cx, 0))??;
    let mut b = second.enter(|cx| Work::new(cx, 1))??;
    first.enter(|cx| {
        let [one, two] = nccl.all::<2>(cx)?;
        nccl.group(|| {
            // SAFETY: all of it is of the first device; the check below waits before anything is dropped.
            unsafe { one.all_reduce(&a.send, &mut a.receive, &a.stream) }?;
            // SAFETY: the same for the second.
            unsafe { two.all_reduce(&b.send, &mut b.receive, &b.stream) }
        })?;
        a.check(cx, "one process, device 0")?;
        second.enter(|cx| b.check(cx, "one process, device 1"))?
    })?
}

/// One of two processes, each with a device.
fn one_of_two(driver: Driver, nccl: &Nccl, id: UniqueId, rank: u8) -> Result<()> {
    let context = PrimaryContext::retain(driver.device(rank.into())?)?;
    context.enter(|cx| {
        let mut work = Work::new(cx, rank)?;
        let member = nccl.join(cx, id, 2, rank.into())?;
        // SAFETY: all of it is of this device; the check waits before anything is dropped.
        unsafe { member.all_reduce(&work.send, &mut work.receive, &work.stream) }?;
        work.check(cx, &format!("two processes, device {rank}"))
    })?
}

/// Starts this program again, tells it the group, and joins the group.
fn two_processes(driver: Driver, nccl: &Nccl) -> Result<()> {
    let id = nccl.unique_id()?;
    let program = std::env::current_exe()?;
    let mut other = Command::new(program).arg(SECOND).stdin(Stdio::piped()).spawn()?;
    other.stdin.take().ok_or("no pipe")?.write_all(&id.0)?;
    one_of_two(driver, nccl, id, 0)?;
    if other.wait()?.success() { Ok(()) } else { Err("the second process failed".into()) }
}

fn main() -> Result<ExitCode> {
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    let (driver, nccl) = (Driver::init(library)?, Nccl::open());
    if std::env::args().nth(1).as_deref() == Some(SECOND) {
        let mut id = UniqueId([0; 128]);
        std::io::stdin().read_exact(&mut id.0)?;
        one_of_two(driver, &nccl?, id, 1)?;
        return Ok(ExitCode::SUCCESS);
    }
    println!("{choice}");
    match &nccl {
        Ok(nccl) => println!("NCCL {} from {}", nccl.version()?, nccl.path.display()),
        Err(error) => {
            println!("no NCCL: {error}\n`pip install nvidia-nccl-cu12`, or name it by {}", nccl::VARIABLE)
        }
    }
    match nccl {
        Ok(nccl) if matches!(choice, Choice::Gpu { devices: 2.. }) => {
            one_process(driver, &nccl)?;
            two_processes(driver, &nccl)?;
            return Ok(ExitCode::SUCCESS);
        }
        _ if matches!(choice, Choice::Emulator(_)) => {
            println!(
                "NCCL calls the CUDA runtime library, which works with NVIDIA's driver alone: not with the software device"
            );
        }
        _ => println!("this example needs NCCL and two GPUs"),
    }
    Ok(ExitCode::from(CANNOT_RUN))
}
