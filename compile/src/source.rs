//! Source to compile: text, headers in memory, and name expressions.

/// CUDA C++ to compile: the text, its name in messages, headers in memory, and name expressions.
///
/// It borrows all of them. A `&str` converts to a source.
///
/// ```
/// use cuprum_compile::Source;
///
/// let source = Source::new("#include \"scale.h\"\ntemplate <class T> __global__ void axpy(T *y) { *y *= SCALE; }")
///     .named("axpy.cu")
///     .header("scale.h", "#define SCALE 2")
///     .expression("axpy<float>");
/// ```
#[derive(Clone, Debug)]
pub struct Source<'a> {
    pub(super) text: &'a [u8],
    pub(super) name: &'a str,
    pub(super) headers: Vec<(&'a str, &'a [u8])>,
    pub(super) expressions: Vec<&'a str>,
    #[cfg(feature = "cache")]
    pub(super) fingerprint: Option<&'a str>,
}

impl<'a> Source<'a> {
    /// Makes a source of this text, in UTF-8 or another encoding that the compiler accepts.
    /// Compiling it fails if it contains a NUL.
    pub fn new(text: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        Self {
            text: text.as_ref(),
            name: "source.cu",
            headers: Vec::new(),
            expressions: Vec::new(),
            #[cfg(feature = "cache")]
            fingerprint: None,
        }
    }

    /// Sets the name in messages and line information (default: `source.cu`). No such file is read.
    #[must_use]
    #[inline]
    pub fn named(mut self, name: &'a str) -> Self {
        self.name = name;
        self
    }

    /// Adds a header in memory, which `#include "name"` and `#include <name>` find before any file.
    #[must_use]
    pub fn header(mut self, name: &'a str, text: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        self.headers.push((name, text.as_ref()));
        self
    }

    /// Adds a name expression: a C++ expression for an instance of a template, such as
    /// `axpy<float>`, a kernel in a namespace, or the address of a variable, such as `&table<int>`.
    /// The module finds it by this text.
    #[must_use]
    #[inline]
    pub fn expression(mut self, expression: &'a str) -> Self {
        self.expressions.push(expression);
        self
    }

    /// Sets a fingerprint of all included files: a text that changes when one of them does, such as
    /// a toolkit's version. Without it, a cache keeps no code that depends on files.
    #[cfg(feature = "cache")]
    #[must_use]
    #[inline]
    pub fn fingerprint(mut self, files: &'a str) -> Self {
        self.fingerprint = Some(files);
        self
    }
}

impl<'a, T: AsRef<[u8]> + ?Sized> From<&'a T> for Source<'a> {
    fn from(text: &'a T) -> Self {
        Self::new(text)
    }
}
