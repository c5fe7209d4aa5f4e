//! A queue of requests: the host fills one while the device works on earlier ones. Each owns
//! everything that it uses.

use std::collections::VecDeque;

use cuprum::memory::PinnedFlags;
use cuprum::stream::{Event, EventFlags, Pending, Request};
use cuprum::{Buffer, Current, In, InOut, Kernel, LaunchConfig, Module, PinnedBuffer, Shared, Stream};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const LEN: usize = 10_000;

struct Slot {
    host: PinnedBuffer<'static, f32>,
    x: Buffer<'static, f32>,
    y: Buffer<'static, f32>,
    saxpy: Kernel<'static, (u32, f32, In<f32>, InOut<f32>)>,
}

fn idle(cx: &Current<'_, 'static>, module: &Shared<Module<'static>>) -> Result<Request<Slot>> {
    let host = PinnedBuffer::zeroed(cx, LEN, PinnedFlags::empty())?;
    let (x, y) = (Buffer::from_slice(cx, &[1.0; LEN])?, Buffer::alloc(cx, LEN)?);
    let slot = Slot { host, x, y, saxpy: module.kernel("saxpy")? };
    Ok(Request::new(Event::new(cx, EventFlags::DISABLE_TIMING)?, slot))
}

/// Queues work that adds two, and returns while the device does it.
fn submit(cx: &Current<'_, '_>, stream: &Stream<'_>, request: Request<Slot>) -> Result<Pending<Slot>> {
    Ok(request.submit(cx, stream, |scope, slot| -> Result<()> {
        let (host, y) = (scope.lend(&mut slot.host)?, scope.lend(slot.y.as_mut_slice())?);
        scope.copy(&y, &host)?;
        let config = LaunchConfig::for_elements(LEN, 256);
        // SAFETY: saxpy touches LEN elements of each: x is never written, and y is lent to it.
        unsafe { slot.saxpy.launch(cx, stream, config, (LEN as u32, 2.0, &slot.x, &y)) }?;
        Ok(scope.copy(&host, &y)?)
    })?)
}

/// Waits for the request that was queued first.
fn answered(oldest: Option<Pending<Slot>>) -> Result<Request<Slot>> {
    let request = oldest.ok_or("nothing is queued")?.wait()?;
    println!("{}", request.host[LEN - 1]);
    Ok(request)
}

fn main() -> Result<()> {
    let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    cuprum::open_in(library, 0)?.enter_as(|cx| {
        let module = Module::load_ptx(cx, include_str!("../kernels/saxpy.ptx"))?.share();
        let stream = Stream::new(cx)?;
        let mut busy = VecDeque::new();
        for input in 1..=8u8 {
            let mut request = if input <= 3 { idle(cx, &module)? } else { answered(busy.pop_front())? };
            request.host.fill(f32::from(input));
            busy.push_back(submit(cx, &stream, request)?);
        }
        busy.into_iter().try_for_each(|pending| answered(Some(pending)).map(drop))
    })
}
