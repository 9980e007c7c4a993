//! Container image references and what the configuration's `images` section changes about them.
