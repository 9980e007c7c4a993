//! What the environment says of the way to the management cluster and to releases.

use std::path::PathBuf;

use super::env::{self, Environment};
use super::values::parse_bool;

impl Environment {
    /// Returns the kubeconfig files that count when none is named: those of `KUBECONFIG`, else `~/.kube/config`.
    pub fn kubeconfig_files(&self) -> Vec<PathBuf> {
        match self.get_non_empty(env::KUBECONFIG) {
            Some(list) => std::env::split_paths(list)
                .filter(|path| !path.as_os_str().is_empty())
                .collect(),
            None => self
                .get_non_empty(env::HOME)
                .map(|home| PathBuf::from(home).join(".kube/config"))
                .into_iter()
                .collect(),
        }
    }

    /// Returns the hosts that are reached without a proxy.
    pub fn no_proxy(&self) -> Option<&str> {
        [env::NO_PROXY, env::NO_PROXY_LOWER]
            .into_iter()
            .find_map(|name| self.get_non_empty(name))
    }

    /// Returns the Go module proxies that may be asked for versions.
    pub fn go_proxy(&self) -> Option<&str> {
        self.get_non_empty(env::GOPROXY)
    }

    /// Tells whether ClusterClasses are to be used, which need a newer API server. Only the environment counts here, as
    /// with clusterctl.
    pub fn cluster_topology(&self) -> bool {
        self.get(env::CLUSTER_TOPOLOGY)
            .and_then(parse_bool)
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubeconfig_files_come_from_the_list_or_from_home() {
        let of = |pairs: &[(&str, &str)]| {
            Environment::from_pairs(pairs.iter().copied()).kubeconfig_files()
        };
        assert_eq!(
            of(&[("HOME", "/h"), ("KUBECONFIG", "/a::/b")]),
            [PathBuf::from("/a"), PathBuf::from("/b")]
        );
        assert_eq!(
            of(&[("HOME", "/h"), ("KUBECONFIG", "")]),
            [PathBuf::from("/h/.kube/config")]
        );
    }
}
