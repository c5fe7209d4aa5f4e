//! An object keeps its context alive, so there is no wrong order, and nothing has to be freed
//! before the process ends.

use std::error::Error;
use std::sync::Mutex;

use cuprum::context::PrimaryContext;
use cuprum::{Buffer, Driver};

/// Lives as long as the process, and is never dropped.
static IMAGES: Mutex<Vec<Buffer<'static, u8>>> = Mutex::new(Vec::new());

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?.share();
    let image = context.enter(|cx| Ok(Buffer::zeroed(cx, 1 << 20)?))?;
    let another = context.enter(|cx| Ok(Buffer::<u8>::zeroed(cx, 1 << 20)?))?;
    IMAGES.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(image);

    // The program drops its last handle, but the context stays: two buffers still need it.
    drop(context);
    drop(another);
    println!("the work is done");
    Ok(())
}
