//! Overlaps uploads, kernels and downloads on two streams. Page-locked memory lets the copies run
//! concurrently with the host and with each other. Events measure each step.

use std::error::Error;

use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::memory::PinnedFlags;
use cuprum::stream::{Event, EventFlags};
use cuprum::{Buffer, Driver, In, InOut, LaunchConfig, Module, PinnedBuffer, Stream};

const CHUNKS: usize = 6;
/// Launches per chunk, chosen so that its kernels take about as long as its copies.
const LAUNCHES: u32 = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    println!("{choice}");
    let len = if matches!(choice, cuprum_emulator::Choice::Emulator(_)) { 1 << 14 } else { 1 << 23 };
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?;
    let mut stack = ContextStack::take()?;
    let cx = stack.push(&context)?;
    let module = Module::load_ptx(&cx, include_str!("../kernels/saxpy.ptx"))?;
    let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
    let streams = [Stream::new(&cx)?, Stream::new(&cx)?];
    let event = || Event::new(&cx, EventFlags::empty());
    let (start, x) = (event()?, Buffer::from_slice(&cx, &vec![1f32; len])?);
    let mut chunks = Vec::new();
    for number in 0..CHUNKS {
        let host = PinnedBuffer::from_slice(&cx, &vec![number as f32; len], PinnedFlags::empty())?;
        chunks.push((host, Buffer::<f32>::alloc(&cx, len)?, [event()?, event()?, event()?, event()?]));
    }
    let config = LaunchConfig::for_elements(len, 256);
    start.record(&cx, &streams[0])?;
    cx.multi_scope(|scope| {
        for (number, (host, device, marks)) in chunks.iter_mut().enumerate() {
            let stream = &streams[number % streams.len()];
            let lane = scope.on(stream)?;
            let (host, y) = (lane.lend(host)?, lane.lend(device.as_mut_slice())?);
            marks[0].record(&cx, stream)?;
            lane.copy(&y, &host)?;
            marks[1].record(&cx, stream)?;
            for _ in 0..LAUNCHES {
                // SAFETY: saxpy touches `len` elements of each: it reads x, and y is lent to it.
                unsafe { saxpy.launch(&cx, stream, config, (len as u32, 2.0, &x, &y)) }?;
            }
            marks[2].record(&cx, stream)?;
            lane.copy(&host, &y)?;
            marks[3].record(&cx, stream)?;
        }
        Ok(())
    })?;
    println!("chunk stream  copied in   computed   copied out (ms since the start)");
    for (number, (host, _, marks)) in chunks.iter().enumerate() {
        assert!(host.iter().all(|&sum| sum == number as f32 + 2.0 * LAUNCHES as f32));
        let [a, b, c, d] =
            marks.each_ref().map(|mark| mark.elapsed_since(&start).map(|at| at.as_secs_f64() * 1e3));
        println!("{number:>5} {:>6}  {:.3} - {:.3} - {:.3} - {:.3}", number % 2, a?, b?, c?, d?);
    }
    Ok(())
}
