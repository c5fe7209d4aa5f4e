//! Every call that a program makes, with its arguments, its answer and its time: as text, and as a timeline that Perfetto and
//! Chromium's viewer open.
//!
//! ```text
//! cargo run --features trace --example 12_trace timeline.json
//! ```

use std::error::Error;

use cuprum::trace::Trace;
use cuprum::{Buffer, Driver, In, InOut, LaunchConfig, Module, PrimaryContext, Stream};

fn main() -> Result<(), Box<dyn Error>> {
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    println!("{choice}");

    // What is made through the traced library is traced; the program is otherwise the same.
    let trace = Trace::of(library)?;
    let context = PrimaryContext::retain(Driver::init(trace.library())?.device(0)?)?.share();
    context.enter(|cx| -> Result<(), Box<dyn Error>> {
        let module = Module::load_ptx(cx, include_str!("../kernels/saxpy.ptx"))?;
        let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
        let x = Buffer::from_slice(cx, &[1.0f32; 1000])?;
        let mut y = Buffer::from_slice(cx, &[2.0f32; 1000])?;
        let config = LaunchConfig::for_elements(x.len(), 256);
        // SAFETY: saxpy(n, alpha, x, y) touches n elements of each; the copy below comes after it on the same stream.
        unsafe { saxpy.launch(cx, &Stream::default_in(cx), config, (1000, 3.0, &x, &mut y)) }?;
        assert_eq!(y.to_vec(cx)?, [5.0; 1000]);
        Ok(())
    })??;

    let entries = trace.take();
    print!("{entries}");
    let slowest = entries.iter().max_by_key(|entry| entry.time()).ok_or("no calls")?;
    println!("{} calls; the longest was {}", entries.len(), slowest.function());
    let path = std::env::args().nth(1).unwrap_or_else(|| "timeline.json".to_owned());
    std::fs::write(&path, entries.timeline().to_string())?;
    println!("the timeline is in {path}");
    Ok(())
}
