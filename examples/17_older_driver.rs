//! One program for all drivers. It checks for the functions that it requires at startup. A call to
//! any other missing function returns an error, which names the CUDA version that has the function
//! and the version of the driver.
//!
//! ```text
//! CUPRUM_EMULATOR_DRIVER_VERSION=11.0 cargo run --example 17_older_driver   # the software device as an old driver
//! ```

use std::error::Error;

use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::pool::StreamBuffer;
use cuprum::sys::FnId;
use cuprum::{Buffer, Driver, MemoryError, Stream};

fn main() -> Result<(), Box<dyn Error>> {
    let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
    // One sentence names all missing functions.
    library.require(&[FnId::cuDevicePrimaryCtxRetain, FnId::cuLaunchKernel, FnId::cuStreamWaitEvent])?;

    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?;
    let mut stack = ContextStack::take()?;
    let cx = stack.push(&context)?;
    let stream = Stream::new(&cx)?;

    // Stream-ordered memory needs no wait, if the driver supports it.
    match StreamBuffer::<f32>::zeroed(&cx, &stream, 1000) {
        Ok(memory) => println!("{} numbers in the order of a stream", memory.len()),
        Err(MemoryError::Driver(error)) if error.code() == cuprum::Error::UNRESOLVED => {
            println!("{error}");
            let memory = Buffer::<f32>::zeroed(&cx, 1000)?;
            println!("{} numbers by an allocation that waits", memory.len());
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
