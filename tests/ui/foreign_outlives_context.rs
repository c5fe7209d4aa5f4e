// An object borrowed from other code ends before the context that it is used in.
use cuprum::sys::CUstream;
use cuprum::context::Context;
use cuprum::memory::ForeignBuffer;
use cuprum::stream::ForeignStream;

fn stream(context: Context) {
    let stream = context.enter_as(|cx| unsafe { ForeignStream::from_raw(cx, CUstream::null()) });
    drop(context);
    drop(stream);
}

fn buffer(context: Context) {
    let buffer = context.enter_as(|cx| unsafe { ForeignBuffer::<u8>::from_raw(cx, 0, 16) });
    drop(context);
    drop(buffer);
}

fn main() {}
