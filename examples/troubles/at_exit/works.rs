//! What was made in a context keeps it, so there is no wrong order; and nothing has to go before the process ends.

use std::error::Error;
use std::sync::Mutex;

use cuprum::{Buffer, Driver, PrimaryContext};

/// Lives as long as the process, and is dropped by nobody.
static IMAGES: Mutex<Vec<Buffer<'static, u8>>> = Mutex::new(Vec::new());

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?.share();
    let image = context.enter(|cx| Buffer::zeroed(cx, 1 << 20))??;
    let another = context.enter(|cx| Buffer::<u8>::zeroed(cx, 1 << 20))??;
    IMAGES.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(image);

    // The last handle of the program goes, and the context does not: two buffers still need it.
    drop(context);
    drop(another);
    println!("the work is done");
    Ok(())
}
