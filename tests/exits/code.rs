//! Linked code, a library and a green context, for processes that end with them alive.

use cuprum::context::GreenContext;
use cuprum::device::{ResourceKind, SplitFlags};
use cuprum::module::{CodeLibrary, Linked, Linker, LoadOptions};
use cuprum::{ContextRef, Current, Module, Shared, Stream};

/// One of each, which keeps its context.
pub(crate) struct Held {
    _linked: Linked<'static>,
    _module: Module<'static>,
    _library: Shared<CodeLibrary>,
    _stream: Stream<'static>,
    _green: Shared<ContextRef>,
}

impl Held {
    /// Makes them in a context that is never destroyed, and in one on a part of its device.
    pub(crate) fn new(cx: &Current<'_, 'static>) -> Self {
        let saxpy = include_str!("../../kernels/saxpy.ptx");
        let mut linker = Linker::new(cx, &LoadOptions::default()).unwrap();
        linker.add_ptx("saxpy.ptx", saxpy).unwrap();
        let device = cx.context().device();
        let library = CodeLibrary::load_ptx(device.driver(), saxpy).unwrap().share();
        let all = device.resource(ResourceKind::CU_DEV_RESOURCE_TYPE_SM).unwrap();
        let (groups, _) = all.split_by_count(1, 1, SplitFlags::empty()).unwrap();
        let green = GreenContext::create(&groups).unwrap().share();
        let stream = green.enter(|cx| Ok(Stream::in_green_context(cx, 0).unwrap())).unwrap();
        Self {
            _linked: linker.complete().unwrap(),
            _module: library.module(cx).unwrap(),
            _library: library,
            _stream: stream,
            _green: green,
        }
    }
}
