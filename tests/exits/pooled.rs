//! Memory of pools that is kept in addition to everything else.

use cuprum::memory::PinnedFlags;
use cuprum::pool::{BufferPool, MemoryPool, PinnedPool, PoolOptions, PoolPlace, StreamBuffer};
use cuprum::{Current, PinnedBuffer, Stream};

/// Memory of pools, and the pools.
pub(crate) struct Pooled {
    _ordered: StreamBuffer<'static, u32>,
    _leased: StreamBuffer<'static, u32>,
    _pinned: PinnedBuffer<'static, u32>,
    _driver: MemoryPool,
    _blocks: BufferPool<'static>,
}

impl Pooled {
    pub(crate) fn new(cx: &Current<'_, 'static>) -> Self {
        let stream = Stream::new(cx).unwrap().share();
        let options = PoolOptions::new(PoolPlace::Device(cx.context().device()));
        let driver = MemoryPool::new(cx.context().driver(), &options).unwrap();
        let (blocks, pinned) = (BufferPool::new(cx), PinnedPool::new(cx, PinnedFlags::empty()));
        drop(blocks.alloc::<u32>(cx, &stream, 10).unwrap());
        Self {
            _ordered: StreamBuffer::alloc_from(cx, &stream, &driver, 100).unwrap(),
            _leased: blocks.alloc(cx, &stream, 100).unwrap(),
            _pinned: pinned.zeroed(cx, 100).unwrap(),
            _driver: driver,
            _blocks: blocks,
        }
    }
}
