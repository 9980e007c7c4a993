//! Where configuration files are, by the rules of clusterctl's XDG library. Nothing is created.

use std::path::{Path, PathBuf};

use super::env::{self, Environment};

/// The folder within a configuration base that is ours and clusterctl's.
const FOLDER: &str = "cluster-api";
/// The fallback within the home folder.
const HOME_FOLDER: &str = ".cluster-api";

/// The two folders that configuration files and overrides are looked for in, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// `cluster-api` in the first configuration base that is a folder, or could become one.
    pub primary: Option<PathBuf>,
    /// `~/.cluster-api`.
    pub fallback: PathBuf,
}

impl Folders {
    /// Returns the folders for an environment.
    pub fn find(environment: &Environment) -> Self {
        Self {
            primary: bases(environment)
                .into_iter()
                .find(|base| is_usable(base))
                .map(|base| base.join(FOLDER)),
            fallback: home(environment).join(HOME_FOLDER),
        }
    }

    /// Returns the folders in the order of the search.
    pub fn in_order(&self) -> impl Iterator<Item = &Path> {
        self.primary
            .iter()
            .chain(std::iter::once(&self.fallback))
            .map(PathBuf::as_path)
    }
}

fn home(environment: &Environment) -> PathBuf {
    PathBuf::from(environment.get_non_empty(env::HOME).unwrap_or("/"))
}

fn bases(environment: &Environment) -> Vec<PathBuf> {
    let home = home(environment);
    let user = environment
        .get(env::XDG_CONFIG_HOME)
        .map(|path| expand_home(path, &home))
        .filter(|path| path.is_absolute())
        .unwrap_or_else(|| default_base(environment, &home));
    let mut bases = vec![user];
    let system = environment
        .get_non_empty(env::XDG_CONFIG_DIRS)
        .map(|list| std::env::split_paths(list).collect())
        .unwrap_or_else(|| vec![PathBuf::from("/etc/xdg")]);
    bases.extend(
        system
            .into_iter()
            .map(|path| expand_home(&path.to_string_lossy(), &home))
            .filter(|path| path.is_absolute()),
    );
    bases
}

fn default_base(environment: &Environment, home: &Path) -> PathBuf {
    if cfg!(target_os = "macos") {
        home.join("Library/Application Support")
    } else if cfg!(windows) {
        match environment.get_non_empty(env::LOCALAPPDATA) {
            Some(path) => PathBuf::from(path),
            None => home.join("AppData/Local"),
        }
    } else {
        home.join(".config")
    }
}

/// Returns the folder of our cache; none where nobody says where the home folder is.
pub fn cache(environment: &Environment) -> Option<PathBuf> {
    const OURS: &str = "capictl";
    let given = environment
        .get_non_empty(env::XDG_CACHE_HOME)
        .map(PathBuf::from);
    if let Some(base) = given.filter(|base| base.is_absolute()) {
        return Some(base.join(OURS));
    }
    if cfg!(windows) {
        let base = environment.get_non_empty(env::LOCALAPPDATA)?;
        return Some(Path::new(base).join(OURS).join("cache"));
    }
    let home = Path::new(environment.get_non_empty(env::HOME)?);
    let base = match cfg!(target_os = "macos") {
        true => "Library/Caches",
        false => ".cache",
    };
    home.is_absolute().then(|| home.join(base).join(OURS))
}

/// Replaces a leading `~` or `$HOME`.
fn expand_home(path: &str, home: &Path) -> PathBuf {
    let rest = path
        .strip_prefix('~')
        .or_else(|| path.strip_prefix("$HOME"));
    match rest {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with(['/', '\\']) => home.join(&rest[1..]),
        _ => PathBuf::from(path),
    }
}

/// clusterctl takes the first base that it finds or can create. Whatever is not there yet counts as creatable, unless
/// something that is no folder is in the way.
fn is_usable(base: &Path) -> bool {
    base.ancestors()
        .find(|ancestor| ancestor.exists())
        .is_some_and(Path::is_dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pairs: &[(&str, &str)]) -> Folders {
        Folders::find(&Environment::from_pairs(pairs.iter().copied()))
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_primary_folder_follows_the_xdg_variables() {
        let primary = |pairs: &[(&str, &str)]| find(pairs).primary.unwrap();
        let home = ("HOME", "/home/me");
        assert_eq!(primary(&[home]), Path::new("/home/me/.config/cluster-api"));
        assert_eq!(
            primary(&[home, ("XDG_CONFIG_HOME", "/x")]),
            Path::new("/x/cluster-api")
        );
        assert_eq!(
            primary(&[home, ("XDG_CONFIG_HOME", "$HOME/x")]),
            Path::new("/home/me/x/cluster-api")
        );
        assert_eq!(
            primary(&[home, ("XDG_CONFIG_HOME", "relative")]),
            Path::new("/home/me/.config/cluster-api")
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_cache_is_in_the_folder_for_caches() {
        let cache = |pairs: &[(&str, &str)]| cache(&Environment::from_pairs(pairs.iter().copied()));
        let path = |text: &str| Some(PathBuf::from(text));
        let home = ("HOME", "/home/me");
        assert_eq!(cache(&[home]), path("/home/me/.cache/capictl"));
        assert_eq!(cache(&[home, ("XDG_CACHE_HOME", "/x")]), path("/x/capictl"));
        assert_eq!(
            cache(&[home, ("XDG_CACHE_HOME", "x")]),
            path("/home/me/.cache/capictl")
        );
        assert_eq!(cache(&[]), None);
        assert_eq!(cache(&[("HOME", "here")]), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_base_that_cannot_be_a_folder_is_passed_over() {
        let folders = find(&[
            ("HOME", "/home/me"),
            ("XDG_CONFIG_HOME", "/dev/null/x"),
            ("XDG_CONFIG_DIRS", "relative:/y:/z"),
        ]);
        assert_eq!(
            folders.primary.as_deref(),
            Some(Path::new("/y/cluster-api"))
        );
        assert_eq!(folders.fallback, Path::new("/home/me/.cluster-api"));
    }
}
