//! Tensors of another library.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cuprum_dlpack::Tensor;
use cuprum_dlpack::abi::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor,
};

pub(crate) const FLOAT: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };

/// A tensor of another library, which counts its frees.
struct Foreign {
    shape: Vec<i64>,
    strides: Option<Vec<i64>>,
    freed: Arc<AtomicUsize>,
}

/// The fields of a test's tensor.
pub(crate) struct Says {
    pub(crate) data: *mut c_void,
    pub(crate) device: DLDevice,
    pub(crate) dtype: DLDataType,
    pub(crate) shape: Vec<i64>,
    pub(crate) strides: Option<Vec<i64>>,
    pub(crate) offset: u64,
    pub(crate) flags: u64,
    pub(crate) major: u32,
}

impl Says {
    pub(crate) fn of(data: *mut c_void, device_type: i32, shape: &[i64]) -> Self {
        let device = DLDevice { device_type, device_id: 0 };
        Self {
            data,
            device,
            dtype: FLOAT,
            shape: shape.to_vec(),
            strides: None,
            offset: 0,
            flags: 0,
            major: 1,
        }
    }

    fn tensor(self, freed: &Arc<AtomicUsize>) -> (DLTensor, *mut Foreign, u64, u32) {
        let foreign = Foreign { shape: self.shape, strides: self.strides, freed: freed.clone() };
        let foreign = Box::leak(Box::new(foreign));
        let tensor = DLTensor {
            data: self.data,
            device: self.device,
            ndim: foreign.shape.len() as i32,
            dtype: self.dtype,
            shape: foreign.shape.as_mut_ptr(),
            strides: foreign.strides.as_mut().map_or(ptr::null_mut(), |strides| strides.as_mut_ptr()),
            byte_offset: self.offset,
        };
        (tensor, foreign, self.flags, self.major)
    }

    pub(crate) fn versioned(self, freed: &Arc<AtomicUsize>) -> *mut DLManagedTensorVersioned {
        unsafe extern "C" fn delete(tensor: *mut DLManagedTensorVersioned) {
            // SAFETY: a box of `versioned`, given back once.
            let tensor = unsafe { Box::from_raw(tensor) };
            // SAFETY: likewise.
            let foreign = unsafe { Box::from_raw(tensor.manager_ctx.cast::<Foreign>()) };
            foreign.freed.fetch_add(1, Ordering::Relaxed);
        }
        let (dl_tensor, foreign, flags, major) = self.tensor(freed);
        Box::leak(Box::new(DLManagedTensorVersioned {
            version: DLPackVersion { major, minor: 7 },
            manager_ctx: foreign.cast(),
            deleter: Some(delete),
            flags,
            dl_tensor,
        }))
    }

    pub(crate) fn unversioned(self, freed: &Arc<AtomicUsize>) -> *mut DLManagedTensor {
        unsafe extern "C" fn delete(tensor: *mut DLManagedTensor) {
            // SAFETY: a box of `unversioned`, given back once.
            let tensor = unsafe { Box::from_raw(tensor) };
            // SAFETY: likewise.
            let foreign = unsafe { Box::from_raw(tensor.manager_ctx.cast::<Foreign>()) };
            foreign.freed.fetch_add(1, Ordering::Relaxed);
        }
        let (dl_tensor, foreign, ..) = self.tensor(freed);
        Box::leak(Box::new(DLManagedTensor { dl_tensor, manager_ctx: foreign.cast(), deleter: Some(delete) }))
    }

    pub(crate) fn imported(self, freed: &Arc<AtomicUsize>) -> Tensor {
        // SAFETY: a live tensor, given up; the tests keep its memory and stay away from it.
        unsafe { Tensor::from_versioned(self.versioned(freed)) }.unwrap()
    }
}
