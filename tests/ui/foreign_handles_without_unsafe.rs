// The caller guarantees the kind of a foreign handle.
use cuprum::sys::{CUevent, CUstream};
use cuprum::memory::ForeignBuffer;
use cuprum::stream::{Event, ForeignEvent, ForeignStream};
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>) {
    let _ = Stream::from_raw(cx, CUstream::null());
    let _ = Event::from_raw(cx, CUevent::null());
    let _ = ForeignStream::from_raw(cx, CUstream::null());
    let _ = ForeignEvent::from_raw(cx, CUevent::null());
    let _ = ForeignBuffer::<u8>::from_raw(cx, 0, 16);
    let _ = ForeignBuffer::<u8>::with_release(cx, 0, 16, |_, _| Ok(()));
}

fn main() {}
