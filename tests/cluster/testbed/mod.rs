//! The test-bed itself: what it claims to do must be true, else no other test means anything.

mod control_plane;
mod kubelet;
mod managers;
mod proxy;
