//! Contexts and code that are counted: structs, statics, threads, any order of drops.

use std::sync::{Mutex, OnceLock};
use std::thread;

use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::module::ModuleError;
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::CUresult;
use cuprum::{AnyError, Buffer, ContextRef, In, InOut, Kernel, LaunchConfig, Module, Shared, Stream};

use crate::common::{self, context, device, in_context, raw_current};

const SAXPY: &str = include_str!("../../../kernels/saxpy.ptx");

type Signature = (u32, f32, In<f32>, InOut<f32>);

/// State of an application: no lifetime, no borrow of itself.
struct Saxpy {
    // Dropped first, although all else lives in it.
    context: Shared<ContextRef>,
    kernel: Kernel<'static, Signature>,
    stream: Stream<'static>,
    done: Event<'static>,
    x: Buffer<'static, f32>,
    y: Buffer<'static, f32>,
}

impl Saxpy {
    fn new(context: Shared<ContextRef>, x: &[f32]) -> Result<Self, Box<dyn std::error::Error>> {
        context.enter_as(|cx| {
            let module = Module::load_ptx(cx, SAXPY)?.share();
            Ok::<_, Box<dyn std::error::Error>>(Self {
                context: context.clone(),
                kernel: module.kernel("saxpy")?,
                stream: Stream::new(cx)?,
                done: Event::new(cx, EventFlags::DISABLE_TIMING)?,
                x: Buffer::from_slice(cx, x)?,
                y: Buffer::zeroed(cx, x.len())?,
            })
        })
    }

    /// Adds `alpha` times x to y, which begins with zeros.
    fn step(&mut self, alpha: f32) -> Vec<f32> {
        let Self { context, kernel, stream, done, x, y } = self;
        let n = x.len();
        context
            .enter(|cx| {
                // SAFETY: saxpy touches n elements of each, and the copy below is ordered by the
                // default stream.
                unsafe {
                    kernel.launch(
                        cx,
                        stream,
                        LaunchConfig::for_elements(n, 64),
                        (n as u32, alpha, &*x, &mut *y),
                    )
                }
                .unwrap();
                done.record(cx, stream).unwrap();
                done.synchronize().unwrap();
                Ok(y.to_vec(cx).unwrap())
            })
            .unwrap()
    }
}

fn primary() -> Shared<ContextRef> {
    PrimaryContext::retain(device()).unwrap().share()
}

#[test]
fn a_struct_owns_its_state_and_moves() {
    let mut saxpy = Saxpy::new(context().share(), &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(saxpy.step(2.0), [2.0, 4.0, 6.0]);
    let again = thread::spawn(move || saxpy.step(1.0)).join().unwrap();
    assert_eq!(again, [3.0, 6.0, 9.0]);
    assert!(raw_current().is_null());
}

#[test]
fn a_static_holds_it() {
    static SHARED: OnceLock<Mutex<Saxpy>> = OnceLock::new();
    let get = || SHARED.get_or_init(|| Mutex::new(Saxpy::new(primary(), &[1.0; 10]).unwrap()));
    let total: f32 = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| get().lock().unwrap().step(1.0)[0])).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(total, 1.0 + 2.0 + 3.0 + 4.0);
}

/// The last user ends the context, whichever it is, on whichever thread, and no sooner.
#[test]
fn the_context_goes_with_the_last_of_its_users() {
    let swallowed = cuprum::swallowed::count();
    for last in 0..4 {
        let context = context().share();
        let raw = context.as_raw();
        let (buffer, stream, kernel) = context
            .enter(|cx| {
                let module = Module::load_ptx(cx, SAXPY).unwrap().share();
                let buffer = Buffer::from_slice(cx, &[7u32; 5]).unwrap();
                Ok((buffer, Stream::new(cx).unwrap(), module.kernel::<Signature>("saxpy").unwrap()))
            })
            .unwrap();
        let mut users: Vec<Box<dyn Send>> =
            vec![Box::new(buffer), Box::new(stream), Box::new(kernel), Box::new(context)];
        let survivor = users.remove(last);
        users.into_iter().for_each(|user| thread::spawn(move || drop(user)).join().unwrap());
        assert!(is_alive(raw), "user {last} is left");
        drop(survivor);
        assert!(!is_alive(raw), "nobody is left");
    }
    assert_eq!(cuprum::swallowed::count(), swallowed);
}

/// True if the driver knows a context.
fn is_alive(raw: cuprum::sys::CUcontext) -> bool {
    let mut version = 0;
    // SAFETY: the out-parameter outlives the call; the emulator refuses a handle that is none any
    // more, and on a GPU drivers of today do.
    let (code, _) = unsafe {
        cuprum::sys::call!(common::driver().library().fns(), cuCtxGetApiVersion(raw, &raw mut version))
    };
    code == CUresult::CUDA_SUCCESS
}

#[test]
fn objects_made_through_a_stack_are_static_too() {
    let context = context().share();
    let mut stack = ContextStack::take().unwrap();
    let buffer: Buffer<'static, u8> = {
        let cx = stack.push(&context).unwrap();
        Buffer::from_slice(&cx, &[1, 2, 3]).unwrap()
    };
    let other = context.clone();
    drop(context);
    let cx = stack.push(&other).unwrap();
    assert_eq!(buffer.to_vec(&cx).unwrap(), [1, 2, 3]);
}

#[test]
fn a_forgotten_token_of_a_context_that_ended_is_popped() {
    let (below, shared) = (context(), context().share());
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&below).unwrap();
    std::mem::forget(cx.push(&shared).unwrap());
    drop(shared);
    assert!(cx.memory_info().is_ok());
    cx.pop().unwrap();
    assert!(raw_current().is_null());
}

#[test]
fn code_is_shared_by_its_kernels() {
    in_context(|cx| {
        let module = Module::load_ptx(cx, SAXPY).unwrap().share();
        let first = module.kernel::<Signature>("saxpy").unwrap();
        let second = module.clone().kernel::<Signature>("saxpy").unwrap();
        drop(module);
        drop(first);
        let x = Buffer::from_slice(cx, &[1f32; 8]).unwrap();
        let mut y = Buffer::from_slice(cx, &[1f32; 8]).unwrap();
        // SAFETY: saxpy touches eight elements of each; the copy comes after it on the same stream.
        unsafe {
            second.launch(cx, &Stream::default_in(cx), LaunchConfig::new(1, 8), (8u32, 3f32, &x, &mut y))
        }
        .unwrap();
        assert_eq!(y.to_vec(cx).unwrap(), [4.0; 8]);
    });
}

#[test]
fn errors_name_the_kernel() {
    in_context(|cx| {
        let module = Module::load_ptx(cx, SAXPY).unwrap().share();
        let error = module.kernel::<(u32,)>("saxpy").unwrap_err();
        assert_eq!(error.to_string(), "kernel `saxpy`: the kernel has 4 parameters, the signature 1");
        let AnyError::Module(ModuleError::NoFunction { name, .. }) =
            module.kernel::<(u32,)>("saxpi").unwrap_err()
        else {
            panic!("another error")
        };
        assert_eq!(name, "saxpi");
    });
}

/// Objects kept by a thread are dropped after the last use of the record of its stack of contexts,
/// and in any order with the record.
#[test]
fn a_thread_may_keep_it_until_it_ends() {
    use std::cell::RefCell;
    thread_local! {
        static FIRST: RefCell<Option<Buffer<'static, u8>>> = const { RefCell::new(None) };
        static LAST: RefCell<Option<Buffer<'static, u8>>> = const { RefCell::new(None) };
    }
    struct AtTheEnd(Shared<ContextRef>);
    impl Drop for AtTheEnd {
        fn drop(&mut self) {
            let read = self.0.enter(|cx| Ok(Buffer::from_slice(cx, &[3u8]).unwrap().to_vec(cx).unwrap()));
            assert_eq!(read.unwrap(), [3]);
        }
    }
    thread_local! {
        static RUNS: RefCell<Option<AtTheEnd>> = const { RefCell::new(None) };
    }
    let (swallowed, shared) = (cuprum::swallowed::count(), context().share());
    let raw = shared.as_raw();
    let thread = thread::spawn(move || {
        let buffer = || shared.enter(|cx| Ok(Buffer::from_slice(cx, &[1u8]).unwrap())).unwrap();
        FIRST.set(Some(buffer()));
        RUNS.set(Some(AtTheEnd(shared.clone())));
        LAST.set(Some(buffer()));
    });
    thread.join().expect("no destructor panics");
    assert!(!is_alive(raw));
    assert_eq!(cuprum::swallowed::count(), swallowed);
}
