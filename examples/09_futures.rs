//! Tasks on one thread that await requests. The driver wakes them, with any executor.

use std::error::Error;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake};

use cuprum::context::PrimaryContext;
use cuprum::memory::PinnedFlags;
use cuprum::stream::{Event, EventFlags, Request};
use cuprum::{Buffer, ContextRef, Driver, MemoryError, PinnedBuffer, Shared, Stream};

/// Sends the number of its task to wake it.
struct Alarm(usize, mpsc::Sender<usize>);

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        let _ = self.1.send(self.0);
    }
}

/// Lets the device write on `stream` three times, and returns the last result.
async fn task(context: &Shared<ContextRef>, stream: &Stream<'_>, number: u32) -> Result<u32, Box<dyn Error>> {
    let mut request = context.enter(|cx| {
        let host = PinnedBuffer::<u32>::zeroed(cx, 1000, PinnedFlags::empty())?;
        Ok(Request::new(Event::new(cx, EventFlags::DISABLE_TIMING)?, (host, Buffer::alloc(cx, 1000)?)))
    })?;
    for round in 0..3 {
        request = context
            .enter(|cx| {
                let pending =
                    request.submit(cx, stream, |scope, (host, buffer)| -> Result<(), MemoryError> {
                        let device = scope.lend(buffer)?;
                        scope.fill(&device, 10 * number + round)?;
                        scope.copy(&scope.lend(host)?, &device)
                    })?;
                Ok(pending.notify(cx, stream)?)
            })?
            .await?;
    }
    Ok(request.0[999])
}

fn main() -> Result<(), Box<dyn Error>> {
    let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?.share();
    let stream = context.enter(|cx| Ok(Stream::new(cx)?))?;
    let mut tasks: Vec<_> = (0..4).map(|number| Box::pin(task(&context, &stream, number))).collect();
    let (sender, woken) = mpsc::channel();
    (0..tasks.len()).for_each(|task| Arc::new(Alarm(task, sender.clone())).wake());
    let mut done = 0;
    while done < tasks.len() {
        let task = woken.recv()?;
        let waker = Arc::new(Alarm(task, sender.clone())).into();
        if let Poll::Ready(result) = tasks[task].as_mut().poll(&mut Context::from_waker(&waker)) {
            println!("task {task}: {}", result?);
            done += 1;
        }
    }
    Ok(())
}
