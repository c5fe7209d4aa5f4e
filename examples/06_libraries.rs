//! A library used by two others in one program, which know neither each other nor the program's
//! context stack.
//!
//! `gray` keeps pictures on the device. `album` works on borrowed contexts, `poster` keeps its
//! state in a struct; both use `gray`. Each takes its requirements as arguments (`tests/crates`).
//!
//! ```text
//! cargo run --release --example 06_libraries
//! ```

use cuprum::Driver;
use cuprum::context::{ContextStack, PrimaryContext};
use cuprum_test_album::brightened;
use cuprum_test_poster::Poster;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    println!("{choice}");
    let device = Driver::init(library)?.device(0)?;

    // Each part of the program may retain the primary context; it is the same context.
    let ours = PrimaryContext::retain(device)?;
    let mut poster = Poster::new(&PrimaryContext::retain(device)?.share(), &[10, 20, 30])?;

    let mut stack = ContextStack::take()?;
    let mut cx = stack.push(&ours)?;
    println!("album:  {:?}", brightened(&ours, &ours, &[1, 2, 250], 10)?);
    poster.frame(7)?;
    println!("poster: {:?}", poster.points()?);

    // Both also work while another context is current, and restore it afterwards.
    let other = cuprum::context::Context::create(device, cuprum::context::ContextFlags::empty())?;
    let inner = cx.push(&other)?;
    println!("album:  {:?}", brightened(&ours, &other, &[1, 2, 250], 10)?);
    let thread = std::thread::spawn(move || poster.points().map(|points| (points, poster)));
    let (points, poster) = thread.join().map_err(|_| "the thread panicked")??;
    println!("poster: {points:?} on another thread");
    drop(poster);
    println!("free:   {} bytes in the inner context", inner.memory_info()?.free);
    Ok(())
}
