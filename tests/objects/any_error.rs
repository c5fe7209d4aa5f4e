//! The one error that all others convert into.

use std::error::Error as StdError;

use cuprum::context::StackTaken;
use cuprum::driver::DriverError;
use cuprum::launch::LaunchError;
use cuprum::memory::{Array, ArrayFlags, ArrayShape};
use cuprum::module::ModuleError;
use cuprum::stream::RequestError;
use cuprum::sys::{CUresult, FnId, Library};
use cuprum::texture::{Surface, TextureError};
use cuprum::{AnyError, Buffer, Driver, Error, MemoryError, Module};

use crate::common::{in_context, kernels};

fn refused(code: CUresult) -> Error {
    Error::new(code, FnId::cuMemAlloc_v2).expect("not success")
}

/// Converts an error, and compares text and sources before and after.
fn converted<E: StdError + Clone + Into<AnyError>>(error: &E) -> AnyError {
    let any: AnyError = error.clone().into();
    let chain = |error: &dyn StdError| {
        let mut chain = vec![error.to_string()];
        let mut source = error.source();
        while let Some(error) = source {
            chain.push(error.to_string());
            source = error.source();
        }
        chain
    };
    assert_eq!(chain(&any), chain(error));
    any
}

#[test]
fn it_is_sent_and_boxed() {
    fn is_error<T: StdError + Send + Sync + 'static>() {}
    is_error::<AnyError>();
    let boxed: Box<dyn StdError + Send + Sync> = AnyError::from(StackTaken).into();
    assert!(boxed.is::<AnyError>());
    assert!(size_of::<AnyError>() <= 96, "{} bytes travel with each result", size_of::<AnyError>());
}

#[test]
fn refusals_of_the_driver_are_in_one_place() {
    let error = refused(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    for any in [
        converted(&error),
        converted(&MemoryError::Driver(error)),
        converted(&LaunchError::Driver(error)),
        converted(&ModuleError::Driver(error)),
        converted(&TextureError::Driver(error)),
        DriverError::Init(error).into(),
    ] {
        assert!(matches!(any, AnyError::Driver(found) if found == error), "{any:?}");
        assert!(any.failed_call() == Some(error) && any.is_sticky());
    }
}

#[test]
fn precise_errors_stay_and_name_the_call_inside() {
    let error = refused(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    let room = MemoryError::NoRoom { bytes: 1, used: 2, held: 3, error };
    let any = converted(&room);
    assert!(matches!(any, AnyError::Memory(found) if found == room));
    assert!(!any.is_sticky());
    assert_eq!(any.failed_call(), Some(error));

    let lengths = MemoryError::Length { destination_len: 1, source_len: 2 };
    let any = converted(&lengths);
    assert!(matches!(any, AnyError::Memory(found) if found == lengths));
    assert_eq!(any.failed_call(), None);
    in_context(|cx| {
        let module = kernels!(cx, "saxpy");
        let missing = module.function("daxpy").map(drop).unwrap_err();
        assert_eq!(converted(&missing).failed_call().unwrap().code(), CUresult::CUDA_ERROR_NOT_FOUND);
        let other = module.function("saxpy").unwrap().bind::<()>().map(drop).unwrap_err();
        assert!(matches!(converted(&other), AnyError::Bind(found) if found == other));
        assert!(matches!(converted(&ModuleError::CudaSource), AnyError::Module(ModuleError::CudaSource)));
        let plain = Array::<f32>::new(cx, ArrayShape::OneD { width: 4 }, ArrayFlags::empty()).unwrap();
        let surface = Surface::new(cx, &plain).map(drop).unwrap_err();
        assert!(matches!(converted(&surface), AnyError::Texture(TextureError::NoSurfaces)));
    });
}

#[test]
fn errors_of_the_program_are_carried() {
    let any = AnyError::other("no more work");
    assert_eq!((any.to_string(), any.failed_call()), ("no more work".to_owned(), None));
    let missing = std::fs::read("no such file").unwrap_err();
    let text = missing.to_string();
    assert_eq!(AnyError::from(missing).to_string(), text);
    // A call inside of an error of one's own is found too.
    #[derive(Debug)]
    struct Mine(Error);
    impl std::fmt::Display for Mine {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("mine")
        }
    }
    impl StdError for Mine {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            Some(&self.0)
        }
    }
    let error = refused(CUresult::CUDA_ERROR_LAUNCH_FAILED);
    let any = AnyError::other(Mine(error));
    assert_eq!((any.to_string(), any.is_sticky()), ("mine".to_owned(), true));
    let nested = AnyError::other(AnyError::other(error));
    assert_eq!(nested.failed_call(), Some(error));
}

#[test]
fn a_request_that_is_leaked_says_so_and_one_that_came_back_is_its_cause() {
    let error = refused(CUresult::CUDA_ERROR_LAUNCH_FAILED);
    let leaked = RequestError::<Vec<u8>> { error, request: None };
    let text = leaked.to_string();
    let any: AnyError = leaked.into();
    assert!(text.contains("leaked") && any.to_string() == text, "{any}");
    assert!(matches!(any, AnyError::Request(_)) && any.is_sticky());
    in_context(|cx| {
        let mut buffer = Buffer::<u8>::zeroed(cx, 1).unwrap();
        let lengths = cx.copy(&mut buffer, &[1, 2]).unwrap_err();
        let leaked = RequestError::<Vec<u8>, MemoryError> { error: lengths, request: None };
        let text = leaked.to_string();
        assert_eq!(AnyError::from(leaked).to_string(), text);
    });
}

#[test]
fn closures_of_every_kind_return_it_flat() {
    fn whole(library: Library) -> cuprum::Result<Vec<u32>> {
        let context = cuprum::context::PrimaryContext::retain(Driver::init(library)?.device(0)?)?.share();
        context.enter(|cx| {
            let stream = cuprum::Stream::new(cx)?;
            let (mut buffer, mut host) = (Buffer::from_slice(cx, &[1, 2, 3])?, vec![0; 3]);
            cx.scope(&stream, |scope| Ok(scope.read(&mut host, &scope.lend(&buffer)?)?))?;
            cx.multi_scope(|scope| {
                let scope = scope.on(&stream)?;
                Ok(scope.fill(&scope.lend(&mut buffer)?, host[2])?)
            })?;
            let kept = cuprum::Stream::default_in(cx);
            let module =
                kept.enter(|cx| Ok(Module::load_ptx(cx, include_str!("../../kernels/saxpy.ptx"))?))?;
            module.function("saxpy")?;
            kept.enter_as::<MemoryError, _>(|cx| buffer.to_vec(cx)).map_err(AnyError::from)
        })
    }
    assert_eq!(whole(crate::common::driver().library()).unwrap(), [3; 3]);
}
