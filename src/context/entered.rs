//! Objects that enter their context.

/// Adds the methods that enter an object's context; `field` keeps the context.
macro_rules! entered {
    ([$($generic:tt)*] $object:ty: $held:ident) => {
        impl<'ctx, $($generic)*> $object {
            /// Runs `body` with the object's context current, as
            /// [`ContextRef::enter`](crate::ContextRef::enter) does, for code that has the object
            /// and neither a token nor the context. New objects have the lifetime of this object's
            /// context: in a [shared](crate::Shared) context they are `'static`.
            ///
            /// The object is borrowed meanwhile. To change it, enter through another object or the
            /// context.
            ///
            /// ```
            /// # cuprum::example!(driver);
            /// use cuprum::context::PrimaryContext;
            /// use cuprum::{Buffer, Stream};
            ///
            /// /// A copy without an order, for a caller that has only the two objects.
            /// fn twin<'ctx>(stream: &Stream<'ctx>, buffer: &Buffer<'ctx, f32>) -> cuprum::Result<Buffer<'ctx, f32>> {
            ///     let numbers = buffer.enter(|cx| Ok(buffer.to_vec(cx)?))?;
            ///     stream.enter(|cx| Ok(Buffer::from_slice(cx, &numbers)?))
            /// }
            ///
            /// let context = PrimaryContext::retain(driver.device(0)?)?.share();
            /// let (stream, buffer) = context.enter(|cx| Ok((Stream::new(cx)?, Buffer::from_slice(cx, &[1.0; 3])?)))?;
            /// drop(context); // the objects keep it
            /// let twin: Buffer<'static, f32> = twin(&stream, &buffer)?;
            /// assert_eq!(twin.enter(|cx| Ok(twin.to_vec(cx)?))?, [1.0; 3]);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            ///
            /// # Errors
            /// Same as [`ContextRef::enter`](crate::ContextRef::enter).
            ///
            /// Driver: `cuCtxGetCurrent`, CUDA 4.0+; if another context is current,
            /// `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`, CUDA 4.0+.
            #[doc(alias("cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"))]
            pub fn enter<R>(
                &self,
                body: impl FnOnce(&mut $crate::Current<'_, 'ctx>) -> Result<R, $crate::AnyError>,
            ) -> Result<R, $crate::AnyError> {
                self.$held.home().enter_as(body)
            }

            /// Same as [`enter`](Self::enter), with an error type of the caller's choice, see
            /// [`ContextRef::enter_as`](crate::ContextRef::enter_as).
            ///
            /// # Errors
            /// Same as [`enter`](Self::enter), with the driver's errors converted.
            ///
            /// Driver: `cuCtxGetCurrent`, CUDA 4.0+; if another context is current,
            /// `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`, CUDA 4.0+.
            #[doc(alias("cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"))]
            pub fn enter_as<E: From<$crate::Error>, R>(
                &self,
                body: impl FnOnce(&mut $crate::Current<'_, 'ctx>) -> Result<R, E>,
            ) -> Result<R, E> {
                self.$held.home().enter_as(body)
            }
        }
    };
}

pub(crate) use entered;
