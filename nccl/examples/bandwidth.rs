//! Time of an all-reduce over every device of the machine, by the number of bytes.
//! `nccl/benches/against_c.sh` compares it with the same calls from C.
//!
//! ```text
//! cargo run --release -p cuprum-nccl --example bandwidth [MOST_BYTES]        1 GiB if not given
//! ```
//!
//! Prints a line for each size: bytes, and microseconds of one call, the least of five rounds on
//! member 0.

use std::error::Error;
use std::process::ExitCode;
use std::sync::Barrier;

use cuprum::context::PrimaryContext;
use cuprum::stream::{Event, EventFlags};
use cuprum::{Buffer, ContextRef, Driver, Shared, Stream};
use cuprum_emulator::Choice;
use cuprum_nccl::{Communicator, Nccl, Reduction};

const ROUNDS: usize = 5;
const CANNOT_RUN: u8 = 77;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Calls of a round: many where one takes microseconds.
const fn calls(bytes: usize) -> usize {
    match bytes {
        0..0x10_0000 => 200,
        0x10_0000..0x400_0000 => 50,
        _ => 10,
    }
}

/// Sizes from 8 bytes on, each eight times the last.
fn sizes(most: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(8), |bytes| Some(bytes * 8)).take_while(move |bytes| *bytes <= most)
}

/// The work of a member: returns bytes and microseconds for each size.
fn measure(
    context: &Shared<ContextRef>,
    member: &Communicator,
    together: &Barrier,
    most: usize,
) -> Result<Vec<(usize, f64)>> {
    let measured = context.enter(|cx| {
        let stream = Stream::new(cx)?;
        let (start, end) = (Event::new(cx, EventFlags::empty())?, Event::new(cx, EventFlags::empty())?);
        let mut measured = Vec::new();
        for bytes in sizes(most) {
            let numbers = Buffer::<f32>::zeroed(cx, bytes / 4)?;
            let mut sums = Buffer::<f32>::zeroed(cx, bytes / 4)?;
            let mut least = f64::INFINITY;
            for _ in 0..=ROUNDS {
                together.wait();
                cx.scope(&stream, |scope| {
                    let (numbers, sums) = (scope.lend(&numbers)?, scope.lend(&mut sums)?);
                    start.record(cx, &stream)?;
                    for _ in 0..calls(bytes) {
                        member.all_reduce(scope, &sums, &numbers, Reduction::Sum)?;
                    }
                    Ok(end.record(cx, &stream)?)
                })?;
                least = least.min(end.elapsed_since(&start)?.as_secs_f64() * 1e6 / calls(bytes) as f64);
            }
            member.check()?;
            measured.push((bytes, least));
        }
        // Each member adds its number: the sums show that the calls did their work.
        let mut numbers = Buffer::from_slice(cx, &[member.rank() as f32 + 1.0; 1000])?;
        cx.scope(&stream, |scope| {
            let numbers = scope.lend(&mut numbers)?;
            Ok(member.all_reduce(scope, &numbers, &numbers, Reduction::Sum)?)
        })?;
        let sum = (1..=member.size()).sum::<u32>() as f32;
        Ok((measured, numbers.to_vec(cx)? == [sum; 1000]))
    })?;
    if measured.1 { Ok(measured.0) } else { Err("wrong sums".into()) }
}

fn main() -> Result<ExitCode> {
    let most = std::env::args().nth(1).map_or(Ok(1 << 30), |most| most.parse())?;
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    let driver = Driver::init(library)?;
    let nccl = match &choice {
        Choice::Gpu { .. } => match Nccl::open() {
            Ok(nccl) => nccl,
            Err(error) => {
                eprintln!("{error}");
                return Ok(ExitCode::from(CANNOT_RUN));
            }
        },
        _ => cuprum_nccl_stand_in::nccl!(library),
    };
    let devices = driver.devices()?;
    println!("# {choice}; NCCL {} from {}; {} devices", nccl.version(), nccl.origin(), devices.len());
    let context = |device| -> Result<_> { Ok(PrimaryContext::retain(device)?.share()) };
    let contexts = devices.into_iter().map(context).collect::<Result<Vec<_>>>()?;
    let members = Communicator::init_all(nccl, &contexts)?;
    let together = Barrier::new(members.len());
    let measured = std::thread::scope(|scope| {
        let each = contexts.iter().zip(&members);
        let threads: Vec<_> =
            each.map(|(context, member)| scope.spawn(|| measure(context, member, &together, most))).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a panic")?).collect::<Result<Vec<_>>>()
    })?;
    for (bytes, microseconds) in &measured[0] {
        println!("{bytes}\t{microseconds:.3}");
    }
    Ok(ExitCode::SUCCESS)
}
