//! Plain values of the domain, without I/O: providers, versions, contracts, objects.

pub mod image;
pub mod labels;
pub mod metadata;
pub mod object;
pub mod provider;
pub mod release;
pub mod repository;
pub mod secret;
pub mod version;

pub use metadata::{Metadata, ReleaseSeries};
pub use object::Object;
pub use provider::{Provider, ProviderReference, ProviderType};
pub use release::EmbeddedRelease;
pub use repository::RepositoryType;
pub use secret::Secret;
pub use version::{Contract, Version};
