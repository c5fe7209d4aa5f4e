//! Registered programs: kernels, variables, launches and their errors.

use core::ffi::c_void;
use core::ptr;

use cuprum_sys::{CUkernel, CUstream};

use super::program::Program;
use super::{call, device};
use crate::calls::copy::{cudaGetSymbolAddress, cudaGetSymbolSize, cudaMemcpy, cudaMemcpyToSymbol};
use crate::calls::function::{__cudaGetKernel, cudaFuncGetAttributes};
use crate::calls::launch::{
    __cudaLaunchKernel, __cudaPopCallConfiguration, __cudaPushCallConfiguration, cudaLaunchKernel,
};
use crate::calls::memory::{cudaFree, cudaMalloc};
use crate::calls::register::__cudaInitModule;
use crate::calls::version::{cudaGetLastError, cudaPeekAtLastError};
use crate::release;
use crate::structs::{cudaFuncAttributes, dim3};

const ONE: dim3 = dim3 { x: 1, y: 1, z: 1 };
const NULL: CUstream = CUstream::null();
const HOST_TO_DEVICE: u32 = 1;
const DEVICE_TO_HOST: u32 = 2;

struct Number(*mut c_void);

impl Number {
    fn new(value: u32) -> Self {
        let mut address = ptr::null_mut();
        assert_eq!(call!(cudaMalloc, &mut address, 4), 0);
        assert_eq!(call!(cudaMemcpy, address, ptr::from_ref(&value).cast(), 4, HOST_TO_DEVICE), 0);
        Self(address)
    }

    fn get(&self) -> u32 {
        let mut value = 0;
        assert_eq!(call!(cudaMemcpy, ptr::from_mut(&mut value).cast(), self.0, 4, DEVICE_TO_HOST), 0);
        value
    }

    fn launch(&self, kernel: *const c_void, grid: dim3, block: dim3, shared: usize) -> u32 {
        let mut address = self.0;
        let mut arguments = [ptr::from_mut(&mut address).cast::<c_void>()];
        call!(cudaLaunchKernel, kernel, grid, block, arguments.as_mut_ptr(), shared, NULL)
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        assert_eq!(call!(cudaFree, self.0), 0);
    }
}

#[test]
fn a_host_address_stands_for_a_kernel_until_its_program_ends() {
    let _device = device();
    let number = Number::new(1);
    let program = Program::start();
    let bump = program.bump();
    assert_eq!(number.launch(bump, ONE, ONE, 0), 0);
    assert_eq!(number.get(), 106);

    let mut kernel = CUkernel::null();
    assert_eq!(call!(__cudaGetKernel, &mut kernel, bump), 0);
    let mut address = number.0;
    let mut arguments = [ptr::from_mut(&mut address).cast::<c_void>()];
    assert_eq!(call!(__cudaLaunchKernel, kernel, ONE, ONE, arguments.as_mut_ptr(), 0, NULL), 0);
    assert_eq!(number.launch(kernel.0, ONE, ONE, 0), 0, "a kernel stands for itself");
    assert_eq!(number.get(), 316);

    drop(program);
    assert_eq!(number.launch(bump, ONE, ONE, 0), 400);
    assert_eq!(number.launch(kernel.0, ONE, ONE, 0), 400);
    assert_eq!(number.get(), 316);
}

#[test]
fn a_program_may_be_registered_again() {
    let _device = device();
    let number = Number::new(0);
    for _ in 0..3 {
        let program = Program::start();
        assert_eq!(number.launch(program.bump(), ONE, ONE, 0), 0);
    }
    assert_eq!(number.get(), 315);
}

#[test]
fn launches_that_cannot_be_have_the_codes_of_the_runtime() {
    let _device = device();
    let program = Program::start();
    let number = Number::new(1);
    let bump = program.bump();
    let of = |x, y, z| dim3 { x, y, z };
    for (grid, block) in [
        (of(0, 1, 1), ONE),
        (of(1, 65536, 1), ONE),
        (ONE, of(1025, 1, 1)),
        (ONE, of(1, 1, 65)),
        (ONE, of(512, 4, 1)),
    ] {
        assert_eq!(number.launch(bump, grid, block, 0), 1);
        assert_eq!(release::as_12(|| number.launch(bump, grid, block, 0)), 9);
    }
    assert_eq!(number.launch(bump, ONE, ONE, 1 << 31), 1);
    assert_eq!(number.launch(program.missing(), ONE, ONE, 0), 98, "registered, and not in the code");
    let no_kernel = ptr::from_ref(&number).cast();
    assert_eq!(number.launch(no_kernel, ONE, ONE, 0), 400);
    assert_eq!(release::as_12(|| number.launch(no_kernel, ONE, ONE, 0)), 98);
    assert_eq!(number.launch(ptr::null(), ONE, ONE, 0), 98);
    assert_eq!(cudaPeekAtLastError().0, 98);
    assert_eq!(cudaGetLastError().0, 98);
    assert_eq!(cudaGetLastError().0, 0);
    assert_eq!(number.get(), 1);
    assert_eq!(number.launch(bump, ONE, ONE, 1 << 33), 0, "32 bits of the size count");
    assert_eq!(number.get(), 106);
}

#[test]
fn configurations_are_a_stack() {
    let _device = device();
    let (mut grid, mut block, mut shared, mut stream) = (ONE, ONE, 0, NULL);
    let outer = dim3 { x: 7, y: 8, z: 9 };
    assert_eq!(__cudaPushCallConfiguration(outer, ONE, 5, NULL), 0);
    assert_eq!(__cudaPushCallConfiguration(ONE, outer, 6, CUstream(ptr::without_provenance_mut(2))), 0);
    let mut pop = || {
        let code = call!(__cudaPopCallConfiguration, &mut grid, &mut block, &mut shared, &mut stream);
        (code, grid, block, shared, stream.0.addr())
    };
    assert_eq!(pop(), (0, ONE, outer, 6, 2));
    assert_eq!(pop(), (0, outer, ONE, 5, 0));
    assert_eq!(pop().0, 52);
    assert_eq!(cudaGetLastError().0, 52);
}

#[test]
fn variables_are_found_by_their_host_address() {
    let _device = device();
    let program = Program::start();
    let number = Number::new(0);
    let step = program.step();
    let (mut address, mut size) = (ptr::null_mut(), 0);
    assert_eq!(call!(cudaGetSymbolAddress, &mut address, step), 0);
    assert_eq!(call!(cudaGetSymbolSize, &mut size, step), 0);
    assert!(!address.is_null() && size == 4);

    let value = 1000_u32;
    let source: *const c_void = ptr::from_ref(&value).cast();
    assert_eq!(call!(cudaMemcpyToSymbol, step, source, 4, 0, HOST_TO_DEVICE), 0);
    assert_eq!(call!(cudaMemcpyToSymbol, step, source, 4, 1, HOST_TO_DEVICE), 1, "beyond its end");
    assert_eq!(call!(cudaMemcpyToSymbol, step, source, 4, usize::MAX, HOST_TO_DEVICE), 1);
    assert_eq!(call!(cudaMemcpyToSymbol, step, source, 4, 0, DEVICE_TO_HOST), 21);
    assert_eq!(call!(cudaMemcpyToSymbol, source, source, 4, 0, HOST_TO_DEVICE), 13);
    assert_eq!(number.launch(program.bump(), ONE, ONE, 0), 0);
    assert_eq!(number.get(), 1100);
    let _ = cudaGetLastError();
}

#[test]
fn managed_variables_have_their_address_once_the_program_asks() {
    let _device = device();
    let program = Program::start();
    let number = Number::new(0);
    assert_eq!(__cudaInitModule(program.handle()), 1);
    // SAFETY: the place of a live program.
    let managed = unsafe { program.managed_place().read() }.cast::<u32>();
    // SAFETY: managed memory, which nothing else uses now.
    assert_eq!(unsafe { managed.replace(7) }, 100);
    assert_eq!(number.launch(program.bump(), ONE, ONE, 0), 0);
    assert_eq!(number.get(), 12);
    let mut address = ptr::null_mut();
    assert_eq!(call!(cudaGetSymbolAddress, &mut address, managed.cast()), 0);
    assert_eq!(address, managed.cast());
    assert_eq!(__cudaInitModule(ptr::null_mut()), 0);
    assert_eq!(cudaGetLastError().0, 400);
}

#[test]
fn code_that_cannot_be_loaded_fails_each_use_and_nothing_else() {
    let _device = device();
    let number = Number::new(1);
    // It does not contain the managed variable that the program registers.
    let without = c".version 7.0\n.target sm_70\n.address_size 64\n.entry bump(.param .u64 out) { ret; }\n";
    for (code, expected) in [(c".version 7.0 nonsense", 218), (without, 500)] {
        let program = Program::of(code);
        for _ in 0..2 {
            assert_eq!(number.launch(program.bump(), ONE, ONE, 0), expected, "{code:?}");
            assert_eq!(__cudaInitModule(program.handle()), 0);
        }
        // Launches like compiled programs, which check only the last result.
        let mut kernel = CUkernel::null();
        assert_eq!(call!(__cudaGetKernel, &mut kernel, program.bump()), expected);
        assert_eq!(call!(__cudaLaunchKernel, kernel, ONE, ONE, ptr::null_mut(), 0, NULL), expected);
        // SAFETY: the place of a live program.
        assert!(unsafe { program.managed_place().read() }.is_null());
    }
    assert_eq!(number.get(), 1);
    let _ = cudaGetLastError();
}

#[test]
fn a_kernel_tells_its_attributes() {
    let _device = device();
    let program = Program::start();
    // SAFETY: numbers.
    let mut attributes: cudaFuncAttributes = unsafe { core::mem::zeroed() };
    assert_eq!(call!(cudaFuncGetAttributes, &mut attributes, program.bump()), 0);
    assert_eq!((attributes.maxThreadsPerBlock, attributes.ptxVersion), (1024, 70));
    assert_eq!(call!(cudaFuncGetAttributes, &mut attributes, program.missing()), 98);
    assert_eq!(call!(cudaFuncGetAttributes, ptr::null_mut(), program.bump()), 1);
    let _ = cudaGetLastError();
}

#[test]
fn a_configuration_that_cannot_be_kept_leaves_the_launch_out() {
    use std::cell::RefCell;

    thread_local!(static LAST: RefCell<Option<AtTheEnd>> = const { RefCell::new(None) });
    struct AtTheEnd(std::sync::mpsc::Sender<u32>);
    impl Drop for AtTheEnd {
        fn drop(&mut self) {
            // The stack of this thread is destroyed first, because it was used after this.
            let _ = self.0.send(__cudaPushCallConfiguration(ONE, ONE, 0, NULL));
        }
    }
    let (sender, receiver) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        LAST.set(Some(AtTheEnd(sender)));
        __cudaPushCallConfiguration(ONE, ONE, 0, NULL)
    });
    assert_eq!(thread.join().unwrap(), 0);
    // The system determines the order in which a thread's values are destroyed.
    assert!(matches!(receiver.recv().unwrap(), 0 | 4));
}
