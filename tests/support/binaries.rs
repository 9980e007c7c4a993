//! Where the programs and release files are that `tests/testbed/build.sh` makes.
//!
//! The versions stand in the `go.mod` files of `tests/testbed` only; a path is `CACHE/MODULE-VERSION/NAME`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

const BUILD: &str = "tests/testbed/build.sh";

/// Returns the path of etcd, from `KUBEBUILDER_ASSETS` if that is set.
pub fn etcd() -> Result<PathBuf> {
    asset("etcd").unwrap_or_else(|| built("etcd", "go.etcd.io/etcd/server/v3", "etcd"))
}

/// Returns the path of kube-apiserver, from `KUBEBUILDER_ASSETS` if that is set.
pub fn kube_apiserver() -> Result<PathBuf> {
    asset("kube-apiserver").unwrap_or_else(|| kubernetes("kube-apiserver"))
}

/// Returns the path of kube-controller-manager.
pub fn kube_controller_manager() -> Result<PathBuf> {
    kubernetes("kube-controller-manager")
}

/// Returns the path of kubectl.
pub fn kubectl() -> Result<PathBuf> {
    kubernetes("kubectl")
}

/// Returns the path of the reference `clusterctl`.
pub fn clusterctl() -> Result<PathBuf> {
    cluster_api("clusterctl")
}

/// Returns the path of a Cluster API manager: core, kubeadm-bootstrap, kubeadm-control-plane or capd.
pub fn manager(name: &str) -> Result<PathBuf> {
    cluster_api(name)
}

/// Returns the local provider repository: `LABEL/VERSION/FILE`, with the release of [`cluster_api_version`].
pub fn repository() -> Result<PathBuf> {
    cluster_api("repository")
}

/// Returns the release that the managers, the repository and the reference `clusterctl` are of, e.g. `v1.14.0`.
pub fn cluster_api_version() -> Result<String> {
    required_version("cluster-api", "sigs.k8s.io/cluster-api")
}

fn kubernetes(name: &str) -> Result<PathBuf> {
    built("kubernetes", "k8s.io/kubernetes", name)
}

fn cluster_api(name: &str) -> Result<PathBuf> {
    built("cluster-api", "sigs.k8s.io/cluster-api", name)
}

fn asset(name: &str) -> Option<Result<PathBuf>> {
    let folder = env::var_os("KUBEBUILDER_ASSETS").filter(|value| !value.is_empty())?;
    let path = Path::new(&folder).join(name);
    Some(if path.is_file() {
        Ok(path)
    } else {
        Err(anyhow::anyhow!(
            "KUBEBUILDER_ASSETS is set, but there is no `{}`; unset it to use what `{BUILD}` builds",
            path.display()
        ))
    })
}

fn built(folder: &str, module: &str, name: &str) -> Result<PathBuf> {
    let version = required_version(folder, module)?;
    let path = cache()?.join(format!("{folder}-{version}")).join(name);
    if !path.exists() {
        bail!(
            "`{}` is not there, run `{BUILD} {name}` to build it",
            path.display()
        );
    }
    Ok(path)
}

/// The folder that `build.sh` fills, by the same rule.
fn cache() -> Result<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty());
    if let Some(cache) = set("CAPICTL_TESTBED") {
        return Ok(cache.into());
    }
    let parent = match set("XDG_CACHE_HOME") {
        Some(parent) => PathBuf::from(parent),
        None => Path::new(&set("HOME").context("neither HOME nor CAPICTL_TESTBED is set")?)
            .join(".cache"),
    };
    Ok(parent.join("capictl-testbed"))
}

fn required_version(folder: &str, module: &str) -> Result<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/testbed")
        .join(folder)
        .join("go.mod");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let version = text.lines().find_map(|line| {
        let mut words = line.trim_start_matches("require ").split_whitespace();
        (words.next() == Some(module)).then(|| words.next())?
    });
    let version = version.with_context(|| format!("`{module}` is not in `{}`", path.display()))?;
    Ok(version.to_owned())
}
