//! The host cannot access the elements of a device buffer. It copies the buffer, or uses memory
//! that both can access.

use std::error::Error;

use cuprum::context::PrimaryContext;
use cuprum::memory::ManagedBuffer;
use cuprum::{Buffer, Driver};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?;
    context.enter_as(|cx| {
        let numbers: Vec<f32> = (0..1000).map(|number| number as f32).collect();
        let buffer = Buffer::from_slice(cx, &numbers)?;
        // `buffer[4]` does not compile.
        println!("the fifth element: {:.1}", buffer.to_vec(cx)?[4]);

        let managed = ManagedBuffer::from_slice(cx, &numbers)?;
        println!("the fifth element: {:.1}", managed.host(cx)?[4]);
        Ok(())
    })
}
