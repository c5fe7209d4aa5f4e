//! Attributes of streams, and the functions of the host that they call.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use cuprum::memory::DeviceData;
use cuprum::stream::{AccessPolicy, Signals, StreamKind, SyncDomainMap, Until};
use cuprum::sys::{
    CUaccessProperty, CUdevice_attribute, CUlaunchMemSyncDomain, CUresult, CUsynchronizationPolicy,
};
use cuprum::{Buffer, Stream};

use crate::common::{context, in_context};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// A window over memory of which a share of the lines stays in the cache.
fn persisting<T: DeviceData>(buffer: &Buffer<'_, T>, share: f32) -> AccessPolicy {
    AccessPolicy {
        address: buffer.as_raw(),
        bytes: buffer.len() * size_of::<T>(),
        hit_ratio: share,
        hit: CUaccessProperty::CU_ACCESS_PROPERTY_PERSISTING,
        miss: CUaccessProperty::CU_ACCESS_PROPERTY_STREAMING,
    }
}

#[test]
fn attributes_are_kept() {
    in_context(|cx| {
        let (first, second) = (Stream::new(cx).unwrap(), Stream::new(cx).unwrap());
        let buffer = Buffer::<u32>::zeroed(cx, 1024).unwrap();
        assert_eq!(first.attribute::<AccessPolicy>(cx).unwrap().bytes, 0);
        let map_of = |stream: &Stream<'_>| {
            let SyncDomainMap { default_, remote } = stream.attribute(cx).unwrap();
            (default_, remote)
        };
        let policy = persisting(&buffer, 0.25);
        first.set_attribute(cx, policy).unwrap();
        let spin = CUsynchronizationPolicy::CU_SYNC_POLICY_SPIN;
        first.set_attribute(cx, spin).unwrap();
        let remote = CUlaunchMemSyncDomain::CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
        assert_eq!(map_of(&first), (0, 1));
        first.set_attribute(cx, remote).unwrap();
        let map = SyncDomainMap { default_: 0, remote: 0 };
        first.set_attribute(cx, map).unwrap();

        second.set_attribute(cx, policy).unwrap();
        second.set_attribute(cx, spin).unwrap();
        second.set_attribute(cx, remote).unwrap();
        second.set_attribute(cx, map).unwrap();
        assert_eq!(second.attribute::<AccessPolicy>(cx).unwrap(), policy);
        assert_eq!(second.attribute::<CUsynchronizationPolicy>(cx).unwrap(), spin);
        assert_eq!(second.attribute::<CUlaunchMemSyncDomain>(cx).unwrap(), remote);
        assert_eq!(map_of(&second), (0, 0));
        let streaming = CUaccessProperty::CU_ACCESS_PROPERTY_STREAMING;
        second.set_attribute(cx, AccessPolicy { hit: streaming, ..policy }).unwrap();
        assert_eq!(second.attribute::<AccessPolicy>(cx).unwrap().hit, streaming);
        assert_eq!(first.attribute::<AccessPolicy>(cx).unwrap(), policy);
    });
}

#[test]
fn invalid_attribute_values_are_refused() {
    in_context(|cx| {
        let (stream, device) = (Stream::new(cx).unwrap(), cx.context().device());
        let buffer = Buffer::<u8>::zeroed(cx, 64).unwrap();
        let good = persisting(&buffer, 1.0);
        let most = device.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
        let bad = [
            AccessPolicy { hit_ratio: 1.5, ..good },
            AccessPolicy { hit_ratio: -1.0, ..good },
            AccessPolicy { miss: good.hit, ..good },
            AccessPolicy { bytes: most.unwrap() as usize + 1, ..good },
        ];
        for policy in bad {
            assert_eq!(stream.set_attribute(cx, policy).unwrap_err().code(), INVALID, "{policy:?}");
        }
        let none = CUsynchronizationPolicy(0);
        assert_eq!(stream.set_attribute(cx, none).unwrap_err().code(), INVALID);
        assert_eq!(stream.set_attribute(cx, CUlaunchMemSyncDomain(2)).unwrap_err().code(), INVALID);
        let map = SyncDomainMap { default_: 200, remote: 0 };
        assert_eq!(stream.set_attribute(cx, map).unwrap_err().code(), INVALID);
    });
}

#[test]
fn the_priority_of_a_stream_changes() {
    in_context(|cx| {
        let (least, greatest) = cx.stream_priorities().unwrap();
        let stream = Stream::with_priority(cx, StreamKind::NonBlocking, greatest).unwrap();
        stream.set_priority(cx, least).unwrap();
        assert_eq!(stream.priority(cx).unwrap(), least);
        stream.set_priority(cx, greatest - 100).unwrap();
        assert_eq!(stream.priority(cx).unwrap(), greatest);
    });
}

#[test]
fn attributes_stay_in_their_context() {
    let other = context();
    in_context(|cx| {
        let theirs = Stream::new(&cx.push(&other).unwrap()).unwrap();
        assert!(theirs.attribute::<AccessPolicy>(cx).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT);
        assert!(
            theirs.set_attribute(cx, AccessPolicy::NONE).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT
        );
        assert!(theirs.call_host(cx, || ()).unwrap_err().code() == cuprum::Error::WRONG_CONTEXT);
    });
}

#[test]
fn functions_of_the_host_are_called_once_in_stream_order() {
    in_context(|cx| {
        let stream = Stream::non_blocking(cx).unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let calls: Vec<_> = (0..5)
            .map(|index| {
                let order = Arc::clone(&order);
                let note = move || order.lock().unwrap().push(index);
                stream.call_host(cx, note).unwrap()
            })
            .collect();
        stream.synchronize(cx).unwrap();
        assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4]);
        for call in calls {
            call.take().unwrap().unwrap();
            assert!(call.take().is_none(), "it is taken once");
        }
        assert_eq!(Arc::strong_count(&order), 1, "all that the functions owned is gone");
    });
}

#[test]
fn a_panic_in_a_function_of_the_host_is_carried() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let call = stream.call_host(cx, || -> u32 { std::panic::resume_unwind(Box::new("gone")) }).unwrap();
        let next = stream.call_host(cx, || 7).unwrap();
        stream.synchronize(cx).unwrap();
        assert_eq!(call.take().unwrap().unwrap_err().downcast_ref(), Some(&"gone"));
        assert_eq!(next.take().unwrap().unwrap(), 7);
    });
}

#[test]
fn a_function_whose_handle_is_dropped_is_called_all_the_same() {
    /// Counts drops, and panics in one, as the worst of results may.
    struct Result(Arc<AtomicU32>);

    impl Drop for Result {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            std::panic::resume_unwind(Box::new(()));
        }
    }

    in_context(|cx| {
        let (stream, drops) = (Stream::non_blocking(cx).unwrap(), Arc::new(AtomicU32::new(0)));
        let signals = Signals::<u32>::new(cx, 1).unwrap();
        cx.scope(&stream, |scope| {
            // The stream reaches the function after its handle is dropped.
            scope.wait_value(&scope.lend(&signals).unwrap(), 0, Until::Equal(1)).unwrap();
            let counted = Arc::clone(&drops);
            drop(stream.call_host(cx, move || Result(counted)).unwrap());
            signals[0].store(1, Ordering::Release);
            Ok(())
        })
        .unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    });
}
