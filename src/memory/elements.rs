//! Common methods of the owners of elements in device memory.

/// Common methods of the owners of elements, by the address, the context, and the accessible
/// length.
macro_rules! elements {
    (
        $buffer:ident($this:ident): $address:expr, of $memory:expr, $reachable:expr $(, noting $note:expr)?;
        as_raw: $as_raw:literal, context: $context:literal
    ) => {
        impl<T: DeviceData> $buffer<'_, T> {
            #[doc = $as_raw]
            #[inline]
            pub const fn as_raw(&self) -> CUdeviceptr {
                let $this = self;
                $address
            }

            #[doc = $context]
            #[inline]
            pub fn context(&self) -> &ContextRef {
                let $this = self;
                $memory.context()
            }

            $crate::raw::owner::len!(|this| this.len);

            /// Borrows all elements to read.
            #[inline]
            pub fn as_slice(&self) -> Slice<'_, T> {
                let $this = self;
                Slice::new(self.as_raw(), $reachable, $memory.near())
            }

            /// Borrows all elements to write.
            #[inline]
            pub fn as_mut_slice(&mut self) -> SliceMut<'_, T> {
                let $this = self;
                SliceMut::new($this.as_raw(), $reachable, $memory.near())
            }

            /// Borrows some elements to read. Returns `None` if the range is out of bounds.
            pub fn slice(&self, range: impl RangeBounds<usize>) -> Option<Slice<'_, T>> {
                self.as_slice().slice(range)
            }

            /// Borrows some elements to write. Returns `None` if the range is out of bounds.
            pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Option<SliceMut<'_, T>> {
                self.as_mut_slice().into_slice(range)
            }
        }

        impl<T: DeviceData> std::fmt::Debug for $buffer<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($buffer), "({:#x}, {} elements"), self.as_raw(), self.len)?;
                $(
                    let $this = self;
                    f.write_str($note)?;
                )?
                f.write_str(")")
            }
        }

        $crate::memory::elements::linear!($buffer);
    };
}

pub(crate) use elements;

/// Makes owners of elements in linear memory places of copies, by their slices.
macro_rules! linear {
    ($buffer:ident) => {
        $crate::memory::place::place! {
            [T: DeviceData] $buffer<'_, T>: $crate::memory::Device, of T,
            read |this| this.as_slice(), write |this| this.as_mut_slice()
        }
    };
}

pub(crate) use linear;
