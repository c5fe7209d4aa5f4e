//! Attributes of streams: hints for hardware, stored and reported. Only the priority matters.

use std::sync::{Arc, Mutex, PoisonError};

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{In, Out, calls};
use crate::driver::device::{MAX_WINDOW, SYNC_DOMAINS};

use super::stream_ref::{GREATEST_PRIORITY, LEAST_PRIORITY, Stream, StreamRef};

type Id = CUlaunchAttributeID;

#[derive(Debug, Default)]
pub(crate) struct Attributes(Mutex<Vec<Attribute>>);

#[derive(Debug, Clone, Copy)]
struct Attribute {
    id: Id,
    value: CUstreamAttrValue,
}

// SAFETY: the client's addresses and handles are stored and returned, never dereferenced.
unsafe impl Send for Attribute {}

impl Attributes {
    fn get(&self, id: Id) -> Option<CUstreamAttrValue> {
        let set = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        set.iter().find(|known| known.id == id).map(|known| known.value)
    }

    fn set(&self, id: Id, value: CUstreamAttrValue) {
        let mut set = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        set.retain(|known| known.id != id);
        set.push(Attribute { id, value });
    }

    pub(super) fn priority(&self) -> Option<i32> {
        // SAFETY: values with this id are priorities.
        self.get(Id::CU_LAUNCH_ATTRIBUTE_PRIORITY).map(|value| unsafe { value.priority })
    }
}

/// Returns the value of an attribute that was not set. Fails if streams do not have the attribute.
fn unset(id: Id, stream: &StreamRef) -> Answer<CUstreamAttrValue> {
    let mut value = CUstreamAttrValue::zeroed();
    match id {
        Id::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW | Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN => {}
        Id::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY => {
            // Recorded on an H100 with driver 580.
            value.syncPolicy = CUsynchronizationPolicy(u32::MAX);
        }
        Id::CU_LAUNCH_ATTRIBUTE_PRIORITY => value.priority = stream.priority(),
        Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP => {
            value.memSyncDomainMap = CUlaunchMemSyncDomainMap { default_: 0, remote: 1 };
        }
        _ => return Err(INVALID_VALUE),
    }
    Ok(value)
}

/// Checks a value, and returns it in the form in which it is stored.
fn checked(id: Id, mut value: CUstreamAttrValue) -> Answer<CUstreamAttrValue> {
    match id {
        Id::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW => {
            // SAFETY: the id says that the client set this member: numbers and an address.
            let window = unsafe { value.accessPolicyWindow };
            let persisting = CUaccessProperty::CU_ACCESS_PROPERTY_PERSISTING;
            let known = window.missProp != persisting;
            let share = (0.0..=1.0).contains(&window.hitRatio);
            ensure(known && share && window.num_bytes <= MAX_WINDOW, INVALID_VALUE)?;
        }
        Id::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY => {
            // SAFETY: as above, a number.
            let policy = unsafe { value.syncPolicy };
            ensure(policy.name().is_some(), INVALID_VALUE)?;
        }
        Id::CU_LAUNCH_ATTRIBUTE_PRIORITY => {
            // SAFETY: as above.
            let priority = unsafe { value.priority };
            value.priority = priority.clamp(GREATEST_PRIORITY, LEAST_PRIORITY);
        }
        Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN => {
            // SAFETY: as above.
            let domain = unsafe { value.memSyncDomain };
            ensure(domain.name().is_some(), INVALID_VALUE)?;
        }
        Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP => {
            // SAFETY: as above, two numbers.
            let map = unsafe { value.memSyncDomainMap };
            ensure(map.default_ < SYNC_DOMAINS && map.remote < SYNC_DOMAINS, INVALID_VALUE)?;
        }
        _ => return Err(INVALID_VALUE),
    }
    Ok(value)
}

/// Returns the stream that stores the attributes; `None` for default streams.
fn keeps(stream: &StreamRef) -> Option<&Arc<Stream>> {
    match stream {
        StreamRef::Created(stream) => Some(stream),
        StreamRef::Legacy(..) | StreamRef::PerThread(..) => None,
    }
}

calls! {
    fn cuStreamCopyAttributes(call, dstStream: CUstream, srcStream: CUstream) {
        let (from, to) = (call.stream(srcStream)?, call.stream(dstStream)?);
        ensure(from.context().handle == to.context().handle, INVALID_VALUE)?;
        if let Some(to) = keeps(&to) {
            let known = [
                Id::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                Id::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
                Id::CU_LAUNCH_ATTRIBUTE_PRIORITY,
                Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
                Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
            ];
            for id in known {
                if let Some(value) = keeps(&from).and_then(|from| from.attributes.get(id)) {
                    to.attributes.set(id, value);
                }
            }
        }
        Ok(())
    }

    fn cuStreamGetAttribute(
        call,
        hStream: CUstream,
        attr: CUlaunchAttributeID,
        value: Out<CUstreamAttrValue>,
    ) {
        value.check()?;
        let stream = call.stream(hStream)?;
        let set = keeps(&stream).and_then(|stream| stream.attributes.get(attr));
        value.set(set.map_or_else(|| unset(attr, &stream), Ok)?)
    }

    fn cuStreamSetAttribute(
        call,
        hStream: CUstream,
        attr: CUlaunchAttributeID,
        value: In<CUstreamAttrValue>,
    ) {
        let stream = call.stream(hStream)?;
        let value = checked(attr, value.get()?)?;
        if let Some(stream) = keeps(&stream) {
            stream.attributes.set(attr, value);
        }
        Ok(())
    }
}
