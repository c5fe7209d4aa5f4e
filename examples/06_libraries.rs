//! A library that is used by two others in one program, which know nothing of each other, nor of the program's stack.
//!
//! `gray` keeps pictures on the device. `album` works on borrowed contexts, `poster` keeps its state in a struct; both use
//! `gray`. Each takes what it needs as an argument (`tests/crates`).
//!
//! ```text
//! cargo run --release --example 06_libraries
//! ```

use cuprum::{ContextStack, Driver, PrimaryContext};
use cuprum_test_album::brightened;
use cuprum_test_poster::Poster;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    println!("{choice}");
    let device = Driver::init(library)?.device(0)?;

    // Each part of the program may retain the primary context for itself: it is the same one.
    let ours = PrimaryContext::retain(device)?;
    let mut poster = Poster::new(&PrimaryContext::retain(device)?.share(), &[10, 20, 30])?;

    let mut stack = ContextStack::take()?;
    let mut cx = stack.push(&ours)?;
    println!("album:  {:?}", brightened(&ours, &ours, &[1, 2, 250], 10)?);
    poster.frame(7)?;
    println!("poster: {:?}", poster.points()?);

    // Inside of another context of the program, both work as well, and that one is current again afterwards.
    let other = cuprum::Context::create(device, cuprum::ContextFlags::empty())?;
    let inner = cx.push(&other)?;
    println!("album:  {:?}", brightened(&ours, &other, &[1, 2, 250], 10)?);
    let thread = std::thread::spawn(move || poster.points().map(|points| (points, poster)));
    let (points, poster) = thread.join().map_err(|_| "the thread panicked")??;
    println!("poster: {points:?} on another thread");
    drop(poster);
    println!("free:   {} bytes in the inner context", inner.memory_info()?.free);
    Ok(())
}
