//! The trace of calls: all of them are in it, in order, of each thread, and viewers can read it.
//!
//! A program of its own, since a library has one trace for the process.

#[path = "../../../support/json.rs"]
mod json;

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuprum::sys::{CUresult, FnId};
use cuprum::trace::{Entries, Trace};
use cuprum::{
    Buffer, ContextStack, Driver, In, InOut, LaunchConfig, Library, Module, PrimaryContext, Stream,
};
use json::Json;

fn untraced() -> Library {
    cuprum_emulator::library()
}

/// The trace, empty, for one test at a time.
fn trace() -> (Trace, MutexGuard<'static, ()>) {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let trace = Trace::of(untraced()).unwrap();
    trace.set_on(true);
    let _ = trace.take();
    (trace, guard)
}

fn names(entries: &Entries) -> Vec<FnId> {
    entries.iter().map(|entry| entry.function()).collect()
}

/// Runs saxpy through a library.
fn saxpy(library: Library) {
    let context = PrimaryContext::retain(Driver::init(library).unwrap().device(0).unwrap()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let module = Module::load_ptx(&cx, include_str!("../../../../kernels/saxpy.ptx")).unwrap();
    let kernel = module.function("saxpy").unwrap().bind::<(u32, f32, In<f32>, InOut<f32>)>().unwrap();
    let x = Buffer::from_slice(&cx, &[1f32; 100]).unwrap();
    let mut y = Buffer::from_slice(&cx, &[2f32; 100]).unwrap();
    let config = LaunchConfig::for_elements(100, 32);
    // SAFETY: saxpy touches 100 elements of each; the copy below waits for it.
    unsafe { kernel.launch(&cx, &Stream::default_in(&cx), config, (100, 3.0, &x, &mut y)) }.unwrap();
    assert_eq!(y.to_vec(&cx).unwrap(), [5.0; 100]);
}

#[test]
fn a_timeline_is_json_and_names_the_calls_that_were_made() {
    let (trace, _guard) = trace();
    saxpy(trace.library());
    let entries = trace.take();
    let made: Vec<_> = entries.iter().map(|entry| entry.function().to_string()).collect();
    let order =
        ["cuModuleLoadDataEx", "cuMemAlloc_v2", "cuMemcpyHtoD_v2", "cuLaunchKernel", "cuMemcpyDtoH_v2"];
    let mut at = order.map(|name| made.iter().position(|made| made == name).expect(name));
    assert!(at.is_sorted(), "{made:?}");
    at.sort_unstable();

    let timeline = Json::read(&entries.timeline().to_string()).unwrap();
    let events = timeline.get("traceEvents").list();
    let (bars, rest): (Vec<_>, Vec<_>) = events.iter().partition(|event| event.get("ph").text() == "X");
    let drawn: Vec<_> = bars.iter().map(|bar| bar.get("name").text().to_owned()).collect();
    assert_eq!(drawn, made);
    for (bar, entry) in bars.iter().zip(entries.iter()) {
        assert_eq!(bar.get("tid").number(), f64::from(entry.thread()));
        assert_eq!(bar.get("pid").number(), f64::from(std::process::id()));
        assert!((bar.get("ts").number() - entry.start().as_secs_f64() * 1e6).abs() < 0.001);
        assert!((bar.get("dur").number() - entry.time().as_secs_f64() * 1e6).abs() < 0.001);
        for (name, value) in entry.arguments() {
            assert_eq!(bar.get("args").get(name).text(), value);
        }
    }
    let launch = bars.iter().find(|bar| bar.get("name").text() == "cuLaunchKernel").unwrap();
    assert_eq!(launch.get("args").get("kernel").text(), "saxpy");
    assert_eq!(launch.get("args").get("gridDimX").text(), "4");
    assert_eq!(launch.get("args").get("result").text(), "CUDA_SUCCESS");
    // The rest names the lanes.
    let lanes: BTreeSet<_> = rest.iter().map(|event| event.get("tid").number() as u32).collect();
    assert!(entries.iter().all(|entry| lanes.contains(&entry.thread())));
    assert!(rest.iter().all(|event| event.get("name").text() == "thread_name"));
}

#[test]
fn a_line_has_arguments_what_was_given_and_what_failed() {
    let (trace, _guard) = trace();
    let context =
        PrimaryContext::retain(Driver::init(trace.library()).unwrap().device(0).unwrap()).unwrap().share();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let _ = trace.take();
    let buffer = Buffer::<u8>::alloc(&cx, 4096).unwrap();
    let error = Buffer::<u8>::alloc(&cx, usize::MAX / 2).unwrap_err();
    let entries = trace.take();
    assert_eq!(names(&entries), [FnId::cuMemAlloc_v2; 2]);
    let address = format!("{:#x}", buffer.as_raw());
    assert_eq!(entries[0].gave(), Some(&*address));
    assert_eq!(entries[0].arguments()[1], ("bytesize", "4096".to_owned()));
    let line = entries[0].to_string();
    assert!(line.contains(&format!(", bytesize: 4096) -> {address} in ")), "{line}");
    assert_eq!(entries[1].result(), CUresult::CUDA_ERROR_OUT_OF_MEMORY, "{error}");
    assert!(entries[1].to_string().contains(") -> CUDA_ERROR_OUT_OF_MEMORY in "), "{}", entries[1]);
    assert_eq!(entries.to_string().lines().count(), 2);
    let module = Module::load_ptx(&cx, include_str!("../../../../kernels/saxpy.ptx")).unwrap();
    let _ = module.function("no \"such\" kernel");
    let asked = trace.take();
    let asked = asked.iter().find(|entry| entry.function() == FnId::cuModuleGetFunction).unwrap();
    assert_eq!(asked.arguments()[2], ("name", "\"no \\\"such\\\" kernel\"".to_owned()));
    assert_eq!(asked.gave(), None);
}

#[test]
fn each_thread_has_its_lane_and_no_call_is_lost() {
    const THREADS: usize = 4;
    const CALLS: usize = 200;
    let (trace, _guard) = trace();
    let device = Driver::init(trace.library()).unwrap().device(0).unwrap();
    let context = PrimaryContext::retain(device).unwrap().share();
    let _ = trace.take();
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let work = || {
                for _ in 0..CALLS {
                    context.enter(|cx| cx.memory_info().map(drop)).unwrap().unwrap();
                }
            };
            std::thread::Builder::new().name(format!("worker {number}")).spawn_scoped(scope, work).unwrap();
        }
    });
    let entries = trace.take();
    let asked = entries.iter().filter(|entry| entry.function() == FnId::cuMemGetInfo_v2);
    let mut counted = std::collections::BTreeMap::<_, usize>::new();
    asked.for_each(|entry| *counted.entry(entries.thread_name(entry.thread())).or_default() += 1);
    let expected = (0..THREADS).map(|number| (format!("worker {number}"), CALLS));
    let counted = counted.into_iter().map(|(name, count)| (name.to_owned(), count));
    assert!(counted.eq(expected));
    // Of one thread the calls come one behind the other.
    for (thread, _) in entries.threads() {
        let of_thread: Vec<_> = entries.iter().filter(|entry| entry.thread() == thread).collect();
        assert!(of_thread.windows(2).all(|two| two[0].start() + two[0].time() <= two[1].start()));
    }
}

#[test]
fn what_is_not_traced_is_as_before() {
    let before = untraced();
    let functions: Vec<_> = FnId::ALL.iter().map(|&function| before.address(function)).collect();
    let (trace, _guard) = trace();
    // The library is the same, down to the addresses of its functions, and its calls are in no trace.
    assert_eq!(untraced(), before);
    assert!(FnId::ALL.iter().zip(&functions).all(|(&function, &was)| untraced().address(function) == was));
    saxpy(before);
    assert_eq!(names(&trace.take()), []);
    // The traced one has the same functions, and no others.
    let traced = trace.library();
    assert_ne!(traced, before);
    assert!(FnId::ALL.iter().all(|&function| traced.has(function) == before.has(function)));
    assert_eq!((traced.version(), traced.stream_mode()), (before.version(), before.stream_mode()));
    assert_eq!(traced.origin(), format!("{} (traced)", before.origin()));
    // Off and on again.
    trace.set_on(false);
    saxpy(traced);
    assert!(!trace.is_on());
    assert_eq!(names(&trace.take()), []);
    trace.set_on(true);
    saxpy(traced);
    assert!(!trace.take().is_empty());
}

#[test]
fn a_library_has_one_trace_and_there_is_room_for_a_few() {
    let (trace, _guard) = trace();
    assert_eq!(Trace::of(untraced()).unwrap().library(), trace.library());
    assert_eq!(Trace::of(trace.library()).unwrap().library(), trace.library());
    let other = cuprum_emulator::library_in(cuprum::sys::StreamMode::PerThread);
    let other = Trace::of(other).unwrap();
    assert_eq!(other.library().stream_mode(), cuprum::sys::StreamMode::PerThread);
    saxpy(other.library());
    assert!(names(&other.take()).contains(&FnId::cuLaunchKernel));
    assert_eq!(names(&trace.take()), []);
}

/// What a trace reads through the first parameter is one value: functions that take an array there are on its list.
#[test]
fn arrays_are_not_taken_for_what_a_call_gives() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
    let read = |path: &str| std::fs::read_to_string(format!("{root}/{path}")).unwrap();
    let list = read("sys/src/fns.rs");
    let code = read("sys/src/hook/given.rs") + &read("sys/src/hook/parameter.rs");
    let arrays: BTreeSet<_> = code
        .split("const ARRAYS")
        .nth(1)
        .and_then(|rest| rest.split("];").next())
        .unwrap()
        .split("FnId::")
        .skip(1)
        .map(|name| name.split(',').next().unwrap())
        .collect();
    // Counts of something else than the first parameter.
    let others = [
        "numDependencies",
        "numOptions",
        "numJitOptions",
        "numLibraryOptions",
        "numParams",
        "numMipmapLevels",
        "numChannels",
        "numBlocks",
        "numExtSems",
    ];
    let readable = ["i32", "u32", "usize", "f32"];
    let mut found = BTreeSet::new();
    for line in list.lines().filter_map(|line| line.trim_start().split_once(" fn ")).map(|(_, line)| line) {
        let (name, rest) = line.split_once('(').unwrap();
        let parameters: Vec<_> =
            rest.split(", ").filter_map(|parameter| parameter.split_once(": ")).collect();
        let Some(ty) = parameters.first().and_then(|(_, ty)| ty.strip_prefix("*mut ")) else { continue };
        let ty = ty.trim_end_matches([')', ';']);
        let is_read = readable.contains(&ty) || code.contains(&format!("\"{ty}\""));
        let counts = parameters.iter().skip(1).any(|(name, ty)| {
            let by_value = ty.starts_with("u32") || ty.starts_with("usize") || ty.starts_with("i32");
            by_value && (*name == "count" || name.starts_with("num")) && !others.contains(name)
        });
        if is_read && counts {
            found.insert(name);
        }
    }
    assert_eq!(found, arrays);
}
