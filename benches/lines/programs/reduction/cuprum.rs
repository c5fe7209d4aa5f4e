use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::stream::{Event, EventFlags};
use cuprum::{Buffer, Driver, In, InOut, LaunchConfig, Module, Stream};

const N: usize = 1 << 22;
const BLOCKS: u32 = 256;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = PrimaryContext::retain(Driver::load()?.device(0)?)?;
    let mut stack = ContextStack::take()?;
    let cx = stack.push(&context)?;
    let module =
        Module::load_ptx(&cx, include_str!("../../../../kernels/reduce_shared.ptx"))?.share();
    let reduce = module.kernel::<(In<f32>, InOut<f32>, u32)>("reduce_shared")?;
    let stream = Stream::new(&cx)?;
    let input = Buffer::from_slice(&cx, &vec![0.5f32; N])?;
    let mut partial = Buffer::<f32>::alloc(&cx, BLOCKS as usize)?;
    let (start, end) = (
        Event::new(&cx, EventFlags::empty())?,
        Event::new(&cx, EventFlags::empty())?,
    );
    let config = LaunchConfig::new(BLOCKS, 256);
    start.record(&cx, &stream)?;
    // SAFETY: blocks of 256 threads read N elements, and each writes one of BLOCKS sums.
    unsafe { reduce.launch(&cx, &stream, config, (&input, &mut partial, N as u32)) }?;
    end.record(&cx, &stream)?;
    end.synchronize()?;
    let sum: f32 = partial.to_vec(&cx)?.iter().sum();
    let milliseconds = end.elapsed_since(&start)?.as_secs_f32() * 1e3;
    println!("{sum}, in less than a minute: {}", milliseconds < 60e3);
    Ok(())
}
