//! Modules: loaded code, its kernels and its global variables.

mod advice;
mod error;
mod function;
mod global;
mod jit;
mod kernel;
mod library;
mod linked;
mod linker;
mod load;
mod loading;
mod module;
mod options;
mod ptx;
mod shared;
mod text;
mod unified;

pub use self::error::ModuleError;
use self::error::c_string;
pub use self::function::Function;
pub use self::global::Global;
pub use self::kernel::LibraryKernel;
pub use self::library::CodeLibrary;
pub use self::linked::Linked;
pub use self::linker::{LinkInput, Linker};
pub use self::loading::LoadingMode;
use self::module::Code;
pub use self::module::Module;
pub use self::options::LoadOptions;
