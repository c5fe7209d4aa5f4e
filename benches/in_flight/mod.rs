//! Copies of page-locked memory and requests, against the calls that they are made of.

use cuprum::context::{Context, ContextFlags};
use cuprum::memory::PinnedFlags;
use cuprum::stream::{Event, EventFlags, Request};
use cuprum::sys::CUresult;
use cuprum::{Buffer, Current, Driver, PinnedBuffer, Stream};

use crate::{Answer, COPIED_BYTES, Measurement, operation};

type Slot = (PinnedBuffer<'static, u8>, Buffer<'static, u8>);

/// Measures in a context of its own, which its objects share.
pub(crate) fn measure(measurement: &mut Measurement<'_>, driver: Driver) {
    let device = driver.device(0).expect("a device");
    let context = Context::create(device, ContextFlags::empty()).expect("a context").share();
    let measured = context.enter(|cx| {
        let stream = Stream::new(cx).expect("a stream");
        copies(measurement, driver, cx, &stream);
        requests(measurement, driver, cx, &stream);
        Ok(())
    });
    measured.expect("a push");
}

fn slot(cx: &Current<'_, 'static>) -> Slot {
    let host = PinnedBuffer::zeroed(cx, COPIED_BYTES, PinnedFlags::empty()).expect("page-locked memory");
    (host, Buffer::zeroed(cx, COPIED_BYTES).expect("a buffer"))
}

fn copies(measurement: &mut Measurement<'_>, driver: Driver, cx: &Current<'_, 'static>, stream: &Stream<'_>) {
    let (mut host, mut bytes) = slot(cx);
    let (raw_host, raw_bytes, raw_stream) = (host.as_raw().cast(), bytes.as_raw(), stream.as_raw());
    let measured = cx.scope(stream, |scope| {
        let lent = scope.lend(bytes.as_mut_slice()).expect("a loan");
        let host = scope.lend(&mut host).expect("a loan");
        operation! {
            measurement, "pinned copy 4 KiB, queued", driver, || stream.synchronize(cx).must_succeed(),
            raw [cuMemcpyHtoDAsync_v2] {
                unsafe { cuMemcpyHtoDAsync_v2(raw_bytes, raw_host, COPIED_BYTES, raw_stream) }
            }
            wrapper { scope.copy(&lent, &host) }
        };
        Ok(())
    });
    measured.expect("a wait");
    operation! {
        measurement, "pinned copy 4 KiB back + sync", driver, || (),
        raw [cuMemcpyDtoHAsync_v2 cuStreamSynchronize] {
            match unsafe { cuMemcpyDtoHAsync_v2(raw_host, raw_bytes, COPIED_BYTES, raw_stream) } {
                CUresult::CUDA_SUCCESS => unsafe { cuStreamSynchronize(raw_stream) },
                refused => refused,
            }
        }
        wrapper {
            cx.scope_as(stream, |scope| {
                let lent = scope.lend(bytes.as_mut_slice())?;
                scope.copy(&scope.lend(&mut host)?, &lent)
            })
        }
    }
}

fn requests(
    measurement: &mut Measurement<'_>,
    driver: Driver,
    cx: &Current<'_, 'static>,
    stream: &Stream<'_>,
) {
    let (host, bytes) = slot(cx);
    let done = Event::new(cx, EventFlags::DISABLE_TIMING).expect("an event");
    let (raw_host, raw_bytes) = (host.as_raw().cast(), bytes.as_raw());
    let (raw_stream, raw_done) = (stream.as_raw(), done.as_raw());
    let mut idle = Some(Request::new(done, (host, bytes)));
    operation! {
        measurement, "request: pinned copy 4 KiB back, wait", driver, || (),
        raw [cuMemcpyDtoHAsync_v2 cuEventRecord cuEventSynchronize] {
            let answers = [
                unsafe { cuMemcpyDtoHAsync_v2(raw_host, raw_bytes, COPIED_BYTES, raw_stream) },
                unsafe { cuEventRecord(raw_done, raw_stream) },
                unsafe { cuEventSynchronize(raw_done) },
            ];
            answers.into_iter().find(|answer| !answer.is_success()).unwrap_or(CUresult::CUDA_SUCCESS)
        }
        wrapper {
            let request: Request<Slot> = idle.take().expect("it came back");
            let pending = request.submit(cx, stream, |scope, (host, bytes)| {
                scope.copy(&scope.lend(host)?, &scope.lend(bytes.as_mut_slice())?)
            });
            let done = pending.map_err(|error: cuprum::stream::RequestError<_, cuprum::MemoryError>| error.error);
            done.and_then(|pending| Ok(pending.wait().map_err(|error| error.error)?)).map(|request| {
                idle = Some(request);
            })
        }
    }
}
