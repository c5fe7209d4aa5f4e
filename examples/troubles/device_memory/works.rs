//! A buffer of the device has no elements that the host could reach: it is copied, or is memory that both have.

use std::error::Error;

use cuprum::memory::ManagedBuffer;
use cuprum::{Buffer, Driver, PrimaryContext};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?;
    context.enter(|cx| -> Result<(), Box<dyn Error>> {
        let numbers: Vec<f32> = (0..1000).map(|number| number as f32).collect();
        let buffer = Buffer::from_slice(cx, &numbers)?;
        // `buffer[4]` does not compile.
        println!("the fifth: {:.1}", buffer.to_vec(cx)?[4]);

        let managed = ManagedBuffer::from_slice(cx, &numbers)?;
        println!("the fifth: {:.1}", managed.host(cx)?[4]);
        Ok(())
    })?
}
