//! From source to a loaded module in one call.

use cuprum::{Current, Module};

use super::{CompileError, Compiler, Options, Source};

/// Compiles CUDA C++ with the machine's NVRTC, for the device of the current context, and loads the
/// code.
///
/// Functions have their names in the code, which `extern "C"` keeps, and the name expressions
/// of a [`Source`]. Blocks during the compilation, for some tens of milliseconds at least. For
/// options, headers, other compilers and a cache, see [`Compiler`].
///
/// ```no_run
/// # fn compile(cx: &cuprum::Current<'_, '_>) -> Result<(), Box<dyn std::error::Error>> {
/// use cuprum::InOut;
/// use cuprum_compile::Source;
///
/// let source = Source::new("template <class T> __global__ void twice(T *x) { x[threadIdx.x] *= 2; }");
/// let module = cuprum_compile::compile(cx, source.named("twice.cu").expression("twice<float>"))?;
/// let twice = module.function("twice<float>")?.bind::<(InOut<f32>,)>()?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`CompileError::NoNvrtc`], with advice on installing it; the errors of
/// [`Compiler::compile_for`]; [`CompileError::Module`] if the driver does not load the code.
pub fn compile<'ctx, 's>(
    cx: &Current<'_, 'ctx>,
    source: impl Into<Source<'s>>,
) -> Result<Module<'ctx>, CompileError> {
    let device = cx.context().device();
    let compiler = Compiler::load_for(device.driver())?;
    compiler.compile_for(device, &source.into(), &Options::new())?.load(cx)
}
