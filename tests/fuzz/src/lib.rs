//! What the fuzz targets share: the model of substitution, and inputs made of words that matter.

pub mod model;
pub mod words;
