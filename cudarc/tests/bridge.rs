//! Both crates in one program, on the driver that the loader finds: `cudarc/check.sh` runs it on
//! the software device, in the mode in which work runs at once and in the one in which it runs as
//! late as permitted.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use cudarc::driver::sys::{CUresult, culib};
use cudarc::driver::{CudaContext, CudaStream, DevicePtr, DeviceRepr, DriverError};
use cuprum::context::Context;
use cuprum::stream::{Event, EventFlags, StreamKind};
use cuprum::sys::Library;
use cuprum::{Buffer, ContextRef, Driver, Shared, Stream};
use cuprum_cudarc as bridge;
use cuprum_cudarc::BridgeError;

type Tested = Result<(), Box<dyn std::error::Error>>;

fn both() -> Result<(Shared<ContextRef>, Arc<CudaContext>), Box<dyn std::error::Error>> {
    let theirs = CudaContext::new(0)?;
    Ok((bridge::context(&theirs)?, theirs))
}

/// The copy to memory that is not page-locked may end after the call; cudarc does not wait for it.
fn to_host<T: DeviceRepr>(
    stream: &Arc<CudaStream>,
    memory: &impl DevicePtr<T>,
) -> Result<Vec<T>, DriverError> {
    let host = stream.clone_dtoh(memory)?;
    stream.synchronize()?;
    Ok(host)
}

#[test]
fn both_crates_have_one_driver_and_one_context() -> Tested {
    let (ours, theirs) = both()?;
    assert!(bridge::library()?.is_same_driver(Library::open()?), "the same file");
    let again = ours.enter(|cx| Ok(bridge::cuda_context(cx)?))?;
    assert_eq!(again.cu_ctx(), theirs.cu_ctx());
    assert_eq!(again.ordinal(), 0);
    // Each has its share: memory of either outlives the other's context.
    drop((again, theirs));
    let buffer = ours.enter(|cx| Ok(Buffer::from_slice(cx, &[1u32, 2])?))?;
    assert_eq!(ours.enter(|cx| Ok(buffer.to_vec(cx)?))?, [1, 2]);
    Ok(())
}

#[test]
fn a_context_that_is_not_primary_is_refused_and_stays_current() -> Tested {
    let theirs = CudaContext::new_non_primary(0, 0)?;
    assert!(matches!(bridge::context(&theirs), Err(BridgeError::NotPrimary)));
    let driver = Driver::init(bridge::library()?)?;
    let own = Context::create(driver.device(0)?, Default::default())?;
    own.enter(|cx| {
        assert!(matches!(bridge::cuda_context(cx), Err(BridgeError::NotPrimary)));
        assert_eq!(Buffer::from_slice(cx, &[7u8])?.context().as_raw(), own.as_raw());
        Ok(cx.synchronize()?)
    })?;
    Ok(())
}

unsafe extern "C" fn another_init(flags: c_uint) -> CUresult {
    // SAFETY: the function of this name in the driver.
    unsafe { cudarc::driver::sys::cuInit(flags) }
}

#[test]
fn another_driver_is_refused() -> Tested {
    let (_, theirs) = both()?;
    // A table that has another `cuInit` counts as another driver.
    let resolve = |symbol: &cuprum::sys::Symbol| -> *const c_void {
        if symbol.base == "cuInit" {
            return another_init as *const c_void;
        }
        // SAFETY: `both` has loaded it.
        let library = unsafe { culib() };
        // SAFETY: the library is there as long as the process, and the address is not called here.
        let found = unsafe { library.get::<*const c_void>(symbol.name.to_bytes_with_nul()) };
        found.map_or(std::ptr::null(), |symbol| *symbol)
    };
    // SAFETY: the functions belong to a driver that is never unloaded. Only the test shares it with
    // another table.
    let other = unsafe { Library::from_resolver("another driver", resolve) }?;
    cuprum::open_in(other, 0)?.enter(|cx| {
        let error = bridge::cuda_context(cx).map(drop).unwrap_err();
        assert!(matches!(error, BridgeError::OtherDriver("another driver")), "{error}");
        let slice = theirs.default_stream().clone_htod(&[1u8]).map_err(cuprum::AnyError::other)?;
        assert!(matches!(bridge::buffer(cx, slice), Err(BridgeError::OtherDriver(_))));
        Ok(())
    })?;
    Ok(())
}

#[test]
fn scopes_of_cuprum_are_in_order_with_work_of_cudarc() -> Tested {
    let (context, theirs) = both()?;
    let cuda = theirs.new_stream()?;
    let host = context.enter(|cx| {
        // SAFETY: nothing captures the stream.
        let stream = unsafe { bridge::stream(cx, cuda.clone()) }?;
        assert_eq!(stream.theirs(), &cuda);
        let (mut buffer, mut host) = (Buffer::<u32>::alloc(cx, 1000)?, vec![0u32; 1000]);
        cx.scope(&stream, |scope| {
            let lent = scope.lend(&mut buffer)?;
            scope.fill(&lent, 5)?;
            // SAFETY: cudarc works on the stream of the scope.
            let mut view = unsafe { bridge::view_mut(scope, &cuda, &lent) }?;
            let half = [6u32; 500];
            cuda.memcpy_htod(&half, &mut view.as_view_mut().slice_mut(..500))
                .map_err(cuprum::AnyError::other)?;
            Ok(scope.read(&mut host, &lent)?)
        })?;
        Ok(host)
    })?;
    assert_eq!(host, [[6; 500], [5; 500]].concat());
    Ok(())
}

#[test]
fn a_view_is_for_the_stream_of_its_scope() -> Tested {
    let (context, theirs) = both()?;
    context.enter(|cx| {
        let buffer = Buffer::from_slice(cx, &[1u8, 2, 3])?;
        let stream = Stream::new(cx)?.share();
        // SAFETY: nothing captures the stream.
        let cuda = unsafe { bridge::cuda_stream(&theirs, stream.clone()) }?;
        cx.scope(&stream, |scope| {
            let lent = scope.lend(&buffer)?;
            // SAFETY: nothing is queued.
            let refused = unsafe { bridge::view(scope, &theirs.default_stream(), &lent) };
            assert!(matches!(refused, Err(BridgeError::OtherStream)));
            // SAFETY: the copy is queued on the stream of the scope.
            let view = unsafe { bridge::view(scope, &cuda, &lent) }?;
            assert_eq!(view.as_view().len(), 3);
            assert_eq!(to_host(&cuda, &view.as_view()).map_err(cuprum::AnyError::other)?, [1, 2, 3]);
            Ok(())
        })
    })?;
    Ok(())
}

#[test]
fn a_stream_of_which_cudarc_has_a_clone_is_not_destroyed() -> Tested {
    let (context, theirs) = both()?;
    let kept = context.enter(|cx| {
        let stream = Stream::with_priority(cx, StreamKind::NonBlocking, 0)?.share();
        // SAFETY: nothing captures the stream.
        let cuda = unsafe { bridge::cuda_stream(&theirs, stream.clone()) }?;
        assert_eq!(cuda.ours().as_raw(), stream.as_raw());
        drop(stream);
        let kept = Arc::clone(&cuda);
        drop(cuda);
        Ok(kept)
    })?;
    kept.memset_zeros(&mut kept.alloc_zeros::<u8>(8)?)?;
    kept.synchronize()?;
    Ok(())
}

#[test]
fn events_order_streams_of_both() -> Tested {
    let (context, theirs) = both()?;
    let (one, two) = (theirs.new_stream()?, theirs.new_stream()?);
    context.enter(|cx| {
        // SAFETY: nothing captures the stream.
        let one_of_ours = unsafe { bridge::stream(cx, one.clone()) }?;
        // SAFETY: as above.
        let two_of_ours = unsafe { bridge::stream(cx, two) }?;
        let recorded = Arc::new(one.record_event(None).map_err(cuprum::AnyError::other)?);
        // SAFETY: it was recorded outside of captures.
        let event = unsafe { bridge::event(cx, recorded.clone()) }?;
        two_of_ours.wait_event(cx, &event)?;
        drop(recorded);
        event.theirs().synchronize().map_err(cuprum::AnyError::other)?;
        assert!(event.is_done()?);
        let ours = Event::new(cx, EventFlags::DISABLE_TIMING)?;
        ours.record(cx, &two_of_ours)?;
        one_of_ours.wait_event(cx, &ours)?;
        Ok(one_of_ours.synchronize(cx)?)
    })?;
    Ok(())
}

#[test]
fn memory_changes_its_owner_without_a_copy() -> Tested {
    let (context, theirs) = both()?;
    let cuda = theirs.new_stream()?;
    let slice = cuda.clone_htod(&[1.0f32, 2.0, 3.0])?;
    let buffer = context.enter(|cx| {
        let mut buffer = bridge::buffer(cx, slice)?;
        assert_eq!(buffer.as_slice().to_vec(cx)?, [1.0, 2.0, 3.0]);
        cx.fill(&mut buffer, 4.0)?;
        assert_eq!(buffer.as_slice().to_vec(cx)?, [4.0; 3]);
        buffer.close()?;
        Ok(Buffer::from_slice(cx, &[7u64, 8])?)
    })?;
    let address = buffer.as_raw();
    let slice = context.enter(|cx| Ok(bridge::cuda_slice(cx, &cuda, buffer)?))?;
    assert_eq!(to_host(&cuda, &slice)?, [7, 8]);
    assert_eq!(context.enter(|cx| Ok(bridge::buffer(cx, slice)?))?.as_raw(), address);
    let empty = context.enter(|cx| {
        let buffer = Buffer::<u8>::zeroed(cx, 0)?;
        Ok(bridge::cuda_slice(cx, &cuda, buffer).map(drop))
    })?;
    assert!(matches!(empty, Err(BridgeError::Empty)));
    // Errors that cudarc kept of its drops would show here.
    theirs.check_err()?;
    Ok(())
}
