//! Multiplies matrices by cuBLAS without a wrapper: it loads three functions of `libcublas.so`,
//! which has to be in the loader's path. It needs a GPU:
//!
//!     cargo run --release --example three_functions

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use cuprum::sys::{CUdeviceptr, CUstream};
use cuprum::{AnyError, Buffer, Stream};
use libloading::{Library, Symbol};

type Create = unsafe extern "C" fn(*mut *mut c_void) -> c_int;
type SetStream = unsafe extern "C" fn(*mut c_void, CUstream) -> c_int;
/// Its parameters are the handle, two transpositions, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc.
#[rustfmt::skip]
type Product = unsafe extern "C" fn(
    *mut c_void, c_int, c_int, c_int, c_int, c_int, *const f32, CUdeviceptr, c_int, CUdeviceptr, c_int, *const f32,
    CUdeviceptr, c_int,
) -> c_int;

fn check(call: &str, status: c_int) -> Result<(), AnyError> {
    if status == 0 { Ok(()) } else { Err(AnyError::other(format!("{call} failed with {status}"))) }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // SAFETY: cuBLAS may be loaded into this process.
    let cublas = unsafe { Library::new("libcublas.so") }?;
    // SAFETY: the function has this signature.
    let create: Symbol<'_, Create> = unsafe { cublas.get("cublasCreate_v2") }?;
    // SAFETY: as above.
    let set_stream: Symbol<'_, SetStream> = unsafe { cublas.get("cublasSetStream_v2") }?;
    // SAFETY: as above.
    let product: Symbol<'_, Product> = unsafe { cublas.get("cublasSgemm_v2") }?;

    let context = cuprum::open(0)?;
    let result = context.enter(|cx| {
        // By columns: (1 3; 2 4), and twice the unit matrix.
        let a = Buffer::from_slice(cx, &[1.0f32, 2.0, 3.0, 4.0])?;
        let b = Buffer::from_slice(cx, &[2.0f32, 0.0, 0.0, 2.0])?;
        let (mut c, stream) = (Buffer::<f32>::zeroed(cx, 4)?, Stream::new(cx)?);
        let mut handle = null_mut();
        // SAFETY: the context is current; cuBLAS works in it.
        check("cublasCreate", unsafe { create(&raw mut handle) })?;
        cx.scope(&stream, |scope| {
            let (a, b, c) = (scope.lend(&a)?, scope.lend(&b)?, scope.lend(&mut c)?);
            // SAFETY: this thread alone uses the handle, and the stream lives as long as the scope.
            check("cublasSetStream", unsafe { set_stream(handle, scope.stream()) })?;
            let (one, zero, n) = (1.0f32, 0.0f32, 2);
            let (a, b, c) = (a.as_raw(), b.as_raw(), c.as_raw());
            // SAFETY: all three are matrices of 2 by 2 elements, lent to the stream that the handle
            // has.
            let status = unsafe { product(handle, 0, 0, n, n, n, &one, a, n, b, n, &zero, c, n) };
            check("cublasSgemm", status)
        })?;
        Ok(c.to_vec(cx)?)
    })?;
    assert_eq!(result, [2.0, 4.0, 6.0, 8.0]);
    println!("the product is right: {result:?}");
    Ok(())
}
