//! Traces every driver call of a program, with its arguments, result and time, as text and as a
//! timeline for Perfetto and Chromium's viewer. It takes thirty lines with [`cuprum::sys::hook`]
//! (the feature `hook` of `cuprum-sys`). `cuprum trace` does the same for unmodified programs in
//! any language.
//!
//! ```text
//! cargo run --example 12_trace timeline.json
//! ```

use std::error::Error;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use cuprum::sys::hook::{Argument, Call, Hook};
use cuprum::sys::{CUresult, FnId, Fns};
use cuprum::{Buffer, In, InOut, LaunchConfig, Library, Module, Stream};

/// One call.
struct Entry {
    function: FnId,
    arguments: String,
    result: CUresult,
    start: Instant,
    time: Duration,
}

static DRIVER: OnceLock<Library> = OnceLock::new();
static ENTRIES: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

struct Trace;

impl Hook for Trace {
    fn target() -> &'static Fns {
        DRIVER.get().map_or(const { &Fns::STUBS }, |library| library.fns())
    }

    fn call(call: &Call<'_>, pass_on: &mut dyn FnMut() -> CUresult) -> CUresult {
        let text = |argument: Argument<'_>| {
            format!("{}: {}", argument.name(), argument.parameter().text(argument.word()))
        };
        let arguments = call.arguments().map(text).collect::<Vec<_>>().join(", ");
        let start = Instant::now();
        let result = pass_on();
        let entry = Entry { function: call.function(), arguments, result, start, time: start.elapsed() };
        ENTRIES.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        result
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    println!("{choice}");

    // Calls through the hooked library are traced. The rest of the program is unchanged.
    let library = *DRIVER.get_or_init(|| library);
    // SAFETY: the hook passes each call on to this library, unchanged, and returns its result.
    let traced = unsafe { library.hooked::<Trace>("traced") }?;
    let context = cuprum::open_in(traced, 0)?;
    context.enter(|cx| {
        let module = Module::load_ptx(cx, include_str!("../kernels/saxpy.ptx"))?;
        let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
        let x = Buffer::from_slice(cx, &[1.0f32; 1000])?;
        let mut y = Buffer::from_slice(cx, &[2.0f32; 1000])?;
        let config = LaunchConfig::for_elements(x.len(), 256);
        // SAFETY: saxpy(n, alpha, x, y) touches n elements of each; the copy below comes after it
        // on the same stream.
        unsafe { saxpy.launch(cx, &Stream::default_in(cx), config, (1000, 3.0, &x, &mut y)) }?;
        assert_eq!(y.to_vec(cx)?, [5.0; 1000]);
        Ok(())
    })?;

    let entries = std::mem::take(&mut *ENTRIES.lock().unwrap_or_else(PoisonError::into_inner));
    let mut bars = Vec::new();
    for Entry { function, arguments, result, start, time } in &entries {
        println!("{function}({arguments}) -> {result:?} in {time:?}");
        let begin = start.duration_since(entries[0].start).as_secs_f64() * 1e6;
        let length = time.as_secs_f64() * 1e6;
        bars.push(format!(
            r#"{{"name":"{function}","ph":"X","pid":1,"tid":1,"ts":{begin:.3},"dur":{length:.3},"args":{{"text":{arguments:?}}}}}"#
        ));
    }
    let slowest = entries.iter().max_by_key(|entry| entry.time).ok_or("no calls")?;
    println!("{} calls; the longest was {}", entries.len(), slowest.function);
    let path = std::env::args().nth(1).unwrap_or_else(|| "timeline.json".to_owned());
    std::fs::write(&path, format!("{{\"traceEvents\":[{}]}}\n", bars.join(",\n")))?;
    println!("the timeline is in {path}");
    Ok(())
}
