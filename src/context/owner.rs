//! The methods that owners of a context have in common.

/// Common methods of the owners of a context: dereferencing to it, and keeping it.
macro_rules! context_owner {
    ($name:ident) => {
        impl $name {
            /// Keeps the context until the process ends: objects made in it are `'static`.
            ///
            /// [`share`](Self::share) does the same without leaking the context.
            #[inline]
            pub fn leak(self) -> &'static ContextRef {
                &Box::leak(Box::new(self)).0
            }

            /// Makes the context shared: it ends with its last handle and the last object made in
            /// it.
            #[inline]
            pub fn share(self) -> crate::Shared<ContextRef> {
                self.0.share()
            }
        }

        impl std::ops::Deref for $name {
            type Target = ContextRef;

            fn deref(&self) -> &ContextRef {
                &self.0
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.0).finish()
            }
        }
    };
}

pub(super) use context_owner;
