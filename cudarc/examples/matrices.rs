//! Multiplies matrices by cudarc's cuBLAS, in memory of cuprum and in order with its copies,
//! without a copy of a matrix.
//!
//! It needs a GPU, and `libcublas.so` in the loader's path:
//!
//!     cargo run --release --features cublas --example matrices

use std::sync::Arc;

use cudarc::cublas::sys::cublasOperation_t::CUBLAS_OP_N;
use cudarc::cublas::{CudaBlas, Gemm, GemmConfig};
use cudarc::driver::CudaStream;
use cuprum::stream::Scope;
use cuprum::{AnyError, Buffer, Stream};
use cuprum_cudarc::{cuda_context, cuda_stream, library, view, view_mut};

/// Rows and columns of the matrices.
const SIZE: usize = 512;
/// Products on the stream, each of the one before.
const PRODUCTS: usize = 4;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = cuprum::open_in(library()?, 0)?;
    // Twice the unit matrix: each product doubles the elements.
    let mut twice = vec![0f32; SIZE * SIZE];
    (0..SIZE).for_each(|at| twice[at * SIZE + at] = 2.0);
    let numbers: Vec<f32> = (0..SIZE * SIZE).map(|at| (at % 97) as f32).collect();
    let results = context.enter(|cx| {
        let (stream, cuda) = (Stream::new(cx)?.share(), cuda_context(cx)?);
        // SAFETY: nothing here captures the stream.
        let theirs = unsafe { cuda_stream(&cuda, stream.clone()) }?;
        let blas = CudaBlas::new(theirs.clone()).map_err(AnyError::other)?;
        let twice = Buffer::from_slice(cx, &twice)?;
        let (mut a, mut b) = (Buffer::from_slice(cx, &numbers)?, Buffer::<f32>::zeroed(cx, SIZE * SIZE)?);
        cx.scope(&stream, |scope| multiply(scope, (&blas, &theirs), &twice, &mut a, &mut b))?;
        Ok(a.to_vec(cx)?)
    })?;
    let factor = 2f32.powi(PRODUCTS as i32);
    let right = results.iter().zip(&numbers).filter(|(result, number)| **result == **number * factor).count();
    println!("{PRODUCTS} products of {SIZE} by {SIZE}: {right} of {} elements are right", SIZE * SIZE);
    if right == SIZE * SIZE { Ok(()) } else { Err("a product is wrong".into()) }
}

/// Multiplies `a` by `left`, several times.
fn multiply<'scope>(
    scope: &Scope<'scope, '_>,
    (blas, stream): (&CudaBlas, &Arc<CudaStream>),
    left: &'scope Buffer<'_, f32>,
    a: &'scope mut Buffer<'_, f32>,
    b: &'scope mut Buffer<'_, f32>,
) -> Result<(), AnyError> {
    let (left, a, b) = (scope.lend(left)?, scope.lend(a)?, scope.lend(b)?);
    for _ in 0..PRODUCTS {
        // SAFETY: cuBLAS works on the stream of the scope.
        let left = unsafe { view(scope, stream, &left) }?;
        // SAFETY: as above.
        let right = unsafe { view(scope, stream, &a.as_shared()) }?;
        // SAFETY: as above.
        let mut to = unsafe { view_mut(scope, stream, &b) }?;
        // SAFETY: all three are square matrices of this size.
        unsafe { blas.gemm(square(), &left.as_view(), &right.as_view(), &mut to.as_view_mut()) }
            .map_err(AnyError::other)?;
        // A copy of cuprum, after the product and before the next one.
        scope.copy(&a, &b)?;
    }
    Ok(())
}

fn square() -> GemmConfig<f32> {
    let size = SIZE as i32;
    GemmConfig {
        transa: CUBLAS_OP_N,
        transb: CUBLAS_OP_N,
        m: size,
        n: size,
        k: size,
        alpha: 1.0,
        lda: size,
        ldb: size,
        beta: 0.0,
        ldc: size,
    }
}
