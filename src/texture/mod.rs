//! Textures and surfaces: kernels' access to arrays and memory through the hardware that addresses,
//! converts and filters.
//!
//! A [`Texture`] is made from an [array](crate::memory::Array) or from memory, and a [`Sampler`].
//! Kernels take it as a parameter of the type [`TextureObject`], which is `cudaTextureObject_t` in
//! CUDA C, and write arrays through a [`Surface`], as a [`SurfaceObject`].
//!
//! ```
//! # cuprum::example!(driver, context, cx);
//! use cuprum::memory::{Array, ArrayFlags, ArrayShape};
//! use cuprum::texture::{FilterMode, Sampler, Texture, TextureObject};
//! use cuprum::{Buffer, InOut, LaunchConfig, Module, Stream};
//!
//! let shape = ArrayShape::OneD { width: 4 };
//! let line = Array::from_slice(&cx, shape, ArrayFlags::empty(), &[0.0f32, 10.0, 20.0, 30.0])?;
//! let texture = Texture::new(&cx, &line, &Sampler { filter: FilterMode::CU_TR_FILTER_MODE_LINEAR, ..Sampler::default() })?;
//!
//! // Writes tex1D(texture, x) for one x.
//! let module = Module::load_ptx(&cx, "
//!     .version 7.0
//!     .target sm_52
//!     .address_size 64
//!     .entry read(.param .u64 texture, .param .f32 x, .param .u64 out) {
//!         .reg .f32 %f<5>; .reg .b64 %rd<4>;
//!         ld.param.u64 %rd1, [texture];
//!         ld.param.f32 %f0, [x];
//!         ld.param.u64 %rd2, [out];
//!         cvta.to.global.u64 %rd3, %rd2;
//!         tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f0}];
//!         st.global.f32 [%rd3], %f1;
//!         ret;
//!     }")?;
//! let read = module.function("read")?.bind::<(TextureObject, f32, InOut<f32>)>()?;
//!
//! // Texels have their centers at 0.5, 1.5 and so on: this is half way between the second and the third.
//! let mut out = Buffer::<f32>::zeroed(&cx, 1)?;
//! let stream = Stream::new(&cx)?;
//! // SAFETY: the kernel writes one float to `out`; the copy below waits for it.
//! unsafe { read.launch(&cx, &stream, LaunchConfig::new(1, 1), (&texture, 2.0, &mut out)) }?;
//! assert_eq!(out.to_vec(&cx)?, [15.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How long a texture must live
//!
//! Destroying a texture does not wait for kernels that read it. (On an H100 with driver 580 it
//! takes 10 µs while a kernel runs; freeing an array waits for the kernel.) The code that
//! [launches](crate::Kernel::launch) the kernels must therefore keep the texture until they have
//! finished. A texture that is lent to a scope ([`Scope::lend`](crate::stream::Scope::lend)) cannot
//! be dropped before the scope has waited.
//!
//! A texture borrows its resource. To keep both in a struct, [share](crate::memory::Array::share)
//! the array.

mod error;
mod lent;
mod resource;
mod sampler;
mod surface;
mod tensor;
mod tensor_error;
mod tensor_map;
mod texture;

pub use self::error::TextureError;
pub use self::resource::ResourceView;
pub use self::sampler::{AddressMode, FilterMode, Sampler};
pub use self::surface::{Surface, SurfaceObject};
pub(crate) use self::tensor::TensorElement;
pub use self::tensor::TensorLayout;
pub use self::tensor_error::TensorError;
pub(crate) use self::tensor_map::TensorMemory;
pub use self::tensor_map::{TensorMap, TensorMapObject};
pub use self::texture::{Texture, TextureObject};
