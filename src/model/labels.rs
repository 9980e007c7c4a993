//! Labels and annotations that clusterctl and capictl read and write on a management cluster.

/// On every object that the tool applied, with an empty value.
pub const CLUSTERCTL: &str = "clusterctl.cluster.x-k8s.io";
/// Names the provider that an object belongs to, by its label, e.g. `infrastructure-aws`.
pub const PROVIDER: &str = "cluster.x-k8s.io/provider";
/// On objects of the tool itself: [`CORE_INVENTORY`] or [`CORE_CERT_MANAGER`].
pub const CORE: &str = "clusterctl.cluster.x-k8s.io/core";
/// Value of [`CORE`] on the inventory's CRD and objects.
pub const CORE_INVENTORY: &str = "inventory";
/// Value of [`CORE`] on cert-manager's objects.
pub const CORE_CERT_MANAGER: &str = "cert-manager";
/// Annotation on cert-manager's objects: the version they come from.
pub const CERT_MANAGER_VERSION: &str = "cert-manager.clusterctl.cluster.x-k8s.io/version";
/// Annotation on a CRD whose name need not follow the naming rule; any value counts.
pub const SKIP_CRD_NAME_CHECK: &str = "clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check";
/// Annotation that names the Certificate, as `namespace/name`, whose CA cert-manager injects.
pub const INJECT_CA_FROM: &str = "cert-manager.io/inject-ca-from";
