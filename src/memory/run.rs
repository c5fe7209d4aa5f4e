//! Common methods of borrowed elements in device memory.

/// Common methods of borrowed elements with an address and a length, and parts of the `Copy` ones.
macro_rules! run {
    ($run:ty $(, of its $part:ident)?) => {
        impl<T: DeviceData> $run {
            /// Number of elements.
            pub const fn len(&self) -> usize {
                self.$($part.)?len
            }

            /// True if there are no elements.
            pub const fn is_empty(&self) -> bool {
                self.$($part.)?len == 0
            }

            /// Address of the first element in device memory.
            pub const fn as_raw(&self) -> CUdeviceptr {
                self.$($part.)?address
            }
        }
    };
    ($run:ty, with parts) => {
        run!($run);

        impl<T: DeviceData> $run {
            /// Returns some of the elements, or `None` if the range is out of bounds.
            pub fn slice(self, range: impl RangeBounds<usize>) -> Option<Self> {
                let (start, len) = resolve(&range, self.len)?;
                let address = self.address + (start * size_of::<T>()) as CUdeviceptr;
                Some(Self { address, len, ..self })
            }
        }
    };
}

pub(crate) use run;
