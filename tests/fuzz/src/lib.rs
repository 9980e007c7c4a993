//! What the fuzz targets share: modules of capictl, the model of substitution, and inputs made of words that matter.
//!
//! The modules are compiled here once more, by their paths, since a build of all of capictl with its clients for HTTP and
//! Kubernetes, instrumented, takes a quarter of an hour.

#[path = "../../../src/error.rs"]
pub mod error;
#[path = "../../../src/template/mod.rs"]
pub mod template;
#[path = "../../../src/yaml/mod.rs"]
pub mod yaml;

pub mod model;
pub mod words;
