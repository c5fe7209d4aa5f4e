//! Methods that many owners of handles and elements have.

/// The method `close`: the beginning of its documentation, and the driver function with its
/// version.
macro_rules! close {
    ($does:literal, $call:literal, $since:literal, |$this:ident| $close:expr) => {
        #[doc = concat!($does, " and returns the error that `Drop` would swallow.")]
        ///
        #[doc = concat!("Driver: `", $call, "`, CUDA ", $since, "+.")]
        #[doc(alias = $call)]
        #[inline]
        pub fn close(self) -> Result<(), $crate::Error> {
            let $this = self;
            $close
        }
    };
}

/// The method `as_raw`.
macro_rules! as_raw {
    ($handle:ty, |$this:ident| $raw:expr) => {
        /// Returns the driver's handle.
        #[inline]
        pub const fn as_raw(&self) -> $handle {
            let $this = self;
            $raw
        }
    };
}

/// The method `context`.
macro_rules! context {
    (|$this:ident| $context:expr) => {
        /// Returns the context that this belongs to.
        #[inline]
        pub fn context(&self) -> &$crate::ContextRef {
            let $this = self;
            $context
        }
    };
}

/// The methods `len` and `is_empty`.
macro_rules! len {
    (|$this:ident| $len:expr) => {
        /// Number of elements.
        pub const fn len(&self) -> usize {
            let $this = self;
            $len
        }

        /// True if there are no elements.
        pub const fn is_empty(&self) -> bool {
            self.len() == 0
        }
    };
}

pub(crate) use {as_raw, close, context, len};
