//! The crate on its stand-in for NCCL: members on threads of this process and in processes of their
//! own.

mod captures;
mod collectives;
mod failures;
mod headers;
mod library;
mod lifecycle;
mod members;
mod modes;
mod queues;
mod support;
