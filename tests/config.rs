//! The configuration as it is found and read, in a home folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use capictl::config::{Config, Environment, Error};
use capictl::error::Explain;
use capictl::http::Http;
use capictl::model::ProviderType;
use tempfile::TempDir;

/// A home folder, gone with the value.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    async fn load_with(
        &self,
        path: Option<&str>,
        variables: &[(&str, &str)],
    ) -> Result<Config, Error> {
        let home = self.path().to_str().unwrap();
        let xdg = format!("{home}/xdg");
        let base = [("HOME", home), ("XDG_CONFIG_HOME", xdg.as_str())];
        let pairs = base.iter().chain(variables).copied();
        Config::load(path, Environment::from_pairs(pairs), &Http::new("test")).await
    }

    async fn load(&self) -> Result<Config, Error> {
        self.load_with(None, &[]).await
    }

    /// Returns the configuration that a `clusterctl.yaml` of this text makes.
    async fn config(&self, text: &str, variables: &[(&str, &str)]) -> Config {
        self.write("xdg/cluster-api/clusterctl.yaml", text);
        self.load_with(None, variables).await.unwrap()
    }

    /// Returns error and hints with the home folder's path left out.
    fn explain(&self, error: &Error) -> String {
        let mut lines = vec![error.to_string()];
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            lines.push(format!("caused by: {cause}"));
            source = cause.source();
        }
        lines.extend(
            error
                .hints()
                .into_iter()
                .map(|hint| format!("hint: {hint}")),
        );
        lines.join("\n").replace(self.path().to_str().unwrap(), "~")
    }
}

#[tokio::test]
async fn no_configuration_file_is_no_error_and_none_is_made() {
    let home = Home::new();
    let config = home.load().await.unwrap();
    assert_eq!(config.path(), None);
    assert_eq!(config.providers().unwrap().len(), 67);
    assert_eq!(config.overrides_folder().unwrap(), None);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn the_first_file_by_folder_and_then_by_extension_is_read() {
    let home = Home::new();
    let order = [
        ".cluster-api/clusterctl.yml",
        ".cluster-api/clusterctl.yaml",
        "xdg/cluster-api/clusterctl.yml",
        "xdg/cluster-api/clusterctl.json",
    ];
    for file in order {
        let path = home.write(file, &format!(r#"{{"WHICH": "{file}"}}"#));
        let config = home.load().await.unwrap();
        assert_eq!(config.path(), Some(path.as_path()));
        assert_eq!(config.variable("WHICH").as_deref(), Some(file));
    }
}

#[tokio::test]
async fn a_named_file_is_read_instead() {
    let home = Home::new();
    home.write("xdg/cluster-api/clusterctl.yaml", "A: usual");
    let path = home.write("other.yaml", "A: named");
    let config = home.load_with(path.to_str(), &[]).await.unwrap();
    assert_eq!(config.variable("a").as_deref(), Some("named"));
    let config = home.load_with(Some(""), &[]).await.unwrap();
    assert_eq!(config.variable("a").as_deref(), Some("usual"));
}

#[tokio::test]
async fn files_that_cannot_be_used_say_why_without_their_contents() {
    let home = Home::new();
    let mut report = String::new();
    for (name, text) in [
        ("broken.yaml", "A: 1\nTOKEN: \"s3cret\nB: [\n"),
        ("broken.json", "{\"TOKEN\": \"s3cret\" \"B\": 1}"),
        ("list.yaml", "- s3cret\n"),
        ("clusterctl.toml", "TOKEN = \"s3cret\"\n"),
        ("clusterctl", "TOKEN: s3cret\n"),
    ] {
        let path = home.write(name, text);
        let error = home.load_with(path.to_str(), &[]).await.unwrap_err();
        report += &format!("{}\n\n", home.explain(&error));
    }
    for missing in ["missing.yaml", ""] {
        let path = home.path().join(missing);
        let error = home.load_with(path.to_str(), &[]).await.unwrap_err();
        report += &format!("{}\n\n", home.explain(&error));
    }
    let path = home.path().join("latin1.yaml");
    fs::write(&path, b"A: \xe9").unwrap();
    let error = home.load_with(path.to_str(), &[]).await.unwrap_err();
    report += &home.explain(&error);
    assert!(!report.contains("s3cret"), "{report}");
    insta::assert_snapshot!(report, @"
    cannot parse the configuration file `~/broken.yaml`
    caused by: line 2, column 8: unclosed quote
    hint: look at the indentation and the quotes there and on the lines before

    cannot parse the configuration file `~/broken.json`
    caused by: expected `,` or `}` at line 1 column 20

    the configuration file `~/list.yaml` is not a map of keys and values
    hint: write it as `KEY: value` lines

    the format of the configuration file `~/clusterctl.toml` is not supported
    hint: the supported formats are yaml, yml, json

    the format of the configuration file `~/clusterctl` is not supported
    hint: the supported formats are yaml, yml, json

    cannot read the configuration file `~/missing.yaml`
    caused by: No such file or directory (os error 2)
    hint: `--config` takes a path or an http(s) URL

    the configuration file `~/` is a folder
    hint: name the file within it

    the configuration file `~/latin1.yaml` is not UTF-8 text
    hint: save it as UTF-8; what `>` of Windows PowerShell writes is UTF-16, `Out-File -Encoding utf8` helps
    ");
}

#[tokio::test]
async fn flags_beat_the_environment_which_beats_the_file() {
    let home = Home::new();
    let text = "A: file\nb-c: file\nfoo: file\nEMPTY: file\nNULL_: null\nNUMBER: 1.10\nLIST: [1]\n";
    let variables = [
        ("A", "environment"),
        ("B_C", "environment"),
        ("foo", "never seen"),
        ("EMPTY", ""),
    ];
    let mut config = home.config(text, &variables).await;
    let variable = |config: &Config, name: &str| config.variable(name).unwrap_or("(unset)".into());
    assert_eq!(variable(&config, "a"), "environment");
    assert_eq!(variable(&config, "b-c"), "environment");
    assert_eq!(variable(&config, "FOO"), "file");
    assert_eq!(variable(&config, "EMPTY"), "");
    assert_eq!(variable(&config, "NULL_"), "(unset)");
    assert_eq!(variable(&config, "NUMBER"), "1.1");
    assert_eq!(variable(&config, "LIST"), "");
    assert_eq!(variable(&config, "ABSENT"), "(unset)");
    config.set_variable("A", "flag");
    assert_eq!(variable(&config, "a"), "flag");
}

#[tokio::test]
async fn sections_come_from_the_file_whatever_the_environment_has_of_their_names() {
    let home = Home::new();
    let text = "
providers:
- {name: Acme, type: InfrastructureProvider, url: https://example.com/x}
images:
  All: {repository: registry.local}
cert-manager: {version: v1.0.0, timeout: 5m, externallyProvisioned: true}
";
    let text = text.replace("Acme", "acme");
    let shadows = [("PROVIDERS", ""), ("IMAGES", "x"), ("CERT_MANAGER", "x")];
    let config = home.config(&text, &shadows).await;
    assert_eq!(config.providers().unwrap().len(), 68);
    let images = config.image_overrides().unwrap();
    assert_eq!(images.0["all"].repository, "registry.local");
    let cert_manager = config.cert_manager().unwrap();
    assert_eq!(cert_manager.version, "v1.0.0");
    assert_eq!(cert_manager.timeout, Duration::from_secs(300));
    assert!(cert_manager.externally_provisioned);
}

#[tokio::test]
async fn faults_of_the_providers_are_reported_together() {
    let home = Home::new();
    let text = "providers: [{name: A, type: AddonProvider, url: /x}, {name: b, type: Addon}]";
    let config = home.config(text, &[]).await;
    insta::assert_snapshot!(home.explain(&config.providers().unwrap_err()), @r"
    `providers` in `~/xdg/cluster-api/clusterctl.yaml` is not valid:
      - entry 1: error validating configuration for the AddonProvider with name A: `name` is not valid: only lower-case letters, digits, `-` and `.` are allowed, each part with a letter or digit at both ends
      - entry 2: error validating configuration for the Addon with name b: `type` must be one of CoreProvider, BootstrapProvider, ControlPlaneProvider, InfrastructureProvider, IPAMProvider, RuntimeExtensionProvider, AddonProvider
      - entry 2: error validating configuration for the Addon with name b: `url` must not be empty
    hint: please fix the providers value in clusterctl configuration file
    ");
}

#[tokio::test]
async fn an_unknown_provider_brings_suggestions() {
    let home = Home::new();
    let config = home.load().await.unwrap();
    let explain =
        |provider_type, name| home.explain(&config.provider(provider_type, name).unwrap_err());
    insta::assert_snapshot!(explain(ProviderType::InfrastructureProvider, "opnstack"), @r"
    failed to get configuration for the InfrastructureProvider with name opnstack: no such provider is known
    hint: did you mean `openstack`?
    hint: `capictl config repositories` lists the known providers; add others under `providers` in the configuration file
    ");
    insta::assert_snapshot!(explain(ProviderType::InfrastructureProvider, "kubeadm"), @r"
    failed to get configuration for the InfrastructureProvider with name kubeadm: no such provider is known
    hint: there is a BootstrapProvider of this name: did you mean `--bootstrap kubeadm`?
    hint: there is a ControlPlaneProvider of this name: did you mean `--control-plane kubeadm`?
    hint: `capictl config repositories` lists the known providers; add others under `providers` in the configuration file
    ");
    let found = config.provider(ProviderType::IPAMProvider, "metal3");
    assert_eq!(found.unwrap().label(), "ipam-metal3");
}

#[tokio::test]
async fn tokens_come_from_the_environment_or_from_their_key_in_the_file_and_do_not_print() {
    let home = Home::new();
    let token = |config: &Config| config.github_token().map(|token| token.expose().to_owned());
    let config = home.config("github-token: t0ken-file\n", &[]).await;
    assert_eq!(token(&config).as_deref(), Some("t0ken-file"));
    let variables = [("GITHUB_TOKEN", "t0ken-env\n")];
    let config = home.config("github-token: t0ken-file\n", &variables).await;
    assert_eq!(token(&config).as_deref(), Some("t0ken-env"));
    let printed = format!("{config:?} {:?}", config.github_token());
    assert!(!printed.contains("t0ken"), "{printed}");
    assert!(printed.contains("[redacted]"), "{printed}");
    let config = home.config("GITHUB_TOKEN: file\n", &[]).await;
    assert_eq!(token(&config), None);
    let config = home.config("", &[("GITHUB_TOKEN", "")]).await;
    assert_eq!(token(&config), None);
}

#[tokio::test]
async fn a_token_for_github_enterprise_has_no_meaning_without_its_host() {
    let home = Home::new();
    let enterprise = |config: &Config| {
        let (host, token) = config.github_enterprise()?;
        Some((host, token.map(|token| token.expose().to_owned())))
    };
    let config = home.config("github-enterprise-token: t\n", &[]).await;
    assert_eq!(enterprise(&config), None);
    let file = "gh-host: git.example\ngithub-enterprise-token: t\n";
    let config = home.config(file, &[]).await;
    let expected = ("git.example".to_owned(), Some("t".to_owned()));
    assert_eq!(enterprise(&config), Some(expected));
    let variables = [("GH_HOST", "ghe.example"), ("GITHUB_ENTERPRISE_TOKEN", "")];
    let config = home.config(file, &variables).await;
    assert_eq!(enterprise(&config), Some(("ghe.example".into(), None)));
}

#[tokio::test]
async fn overrides_are_beside_the_file_or_where_the_configuration_says() {
    let home = Home::new();
    let folder = |config: Config| config.overrides_folder().unwrap();
    home.write(".cluster-api/overrides/x", "");
    let fallback = home.path().join(".cluster-api/overrides");
    assert_eq!(folder(home.load().await.unwrap()), Some(fallback));
    home.write("xdg/cluster-api/overrides/x", "");
    let primary = home.path().join("xdg/cluster-api/overrides");
    assert_eq!(folder(home.load().await.unwrap()), Some(primary));
    let config = home.config("overridesFolder: ${HOME}/mine\n", &[]).await;
    assert_eq!(folder(config), Some(home.path().join("mine")));
    let config = home
        .config("overridesFolder: /x\n", &[("OVERRIDESFOLDER", "/y")])
        .await;
    assert_eq!(folder(config), Some("/y".into()));
    let config = home.config("overridesFolder: ${HOME\n", &[]).await;
    insta::assert_snapshot!(home.explain(&config.overrides_folder().unwrap_err()), @r"
    cannot expand the variables in `overridesFolder`
    caused by: invalid variable reference at line 1, column 1: `HOME` is followed neither by `}` nor by an operator
    hint: `$${` stands for a literal `${`
    ");
}

#[tokio::test]
async fn the_verbosity_must_be_a_number() {
    let home = Home::new();
    let config = home.config("CLUSTERCTL_LOG_LEVEL: 5\n", &[]).await;
    assert_eq!(config.log_level().unwrap(), Some(5));
    let config = home.config("", &[("CLUSTERCTL_LOG_LEVEL", "")]).await;
    assert_eq!(config.log_level().unwrap(), None);
    let config = home.config("", &[("CLUSTERCTL_LOG_LEVEL", "high")]).await;
    let error = config.log_level().unwrap_err().to_string();
    assert!(
        error.contains("failed to convert CLUSTERCTL_LOG_LEVEL string to an int"),
        "{error}"
    );
}

#[tokio::test]
async fn what_gitlab_and_go_proxies_need_comes_from_where_clusterctl_has_it() {
    let home = Home::new();
    let token = |config: &Config| config.gitlab_token().map(|token| token.expose().to_owned());
    let text = "gitlab-access-token: file\nGOPROXY: https://proxy.example\n";
    let config = home.config(text, &[]).await;
    assert_eq!(token(&config).as_deref(), Some("file"));
    assert_eq!(config.environment().go_proxy(), None);
    let variables = [
        ("GITLAB_ACCESS_TOKEN", " environment\n"),
        ("GOPROXY", "off"),
    ];
    let config = home.config(text, &variables).await;
    assert_eq!(token(&config).as_deref(), Some("environment"));
    assert_eq!(config.environment().go_proxy(), Some("off"));
    let config = home.config("", &[("GITLAB_ACCESS_TOKEN", "")]).await;
    assert_eq!(token(&config), None);
}

#[tokio::test]
async fn the_overrides_folder_may_be_at_home() {
    let home = Home::new();
    let config = home.config("overridesFolder: ~/mine\n", &[]).await;
    let folder = config.overrides_folder().unwrap().unwrap();
    assert_eq!(folder, home.path().join("mine"));
    let config = home.config("overridesFolder: $NONE/mine\n", &[]).await;
    insta::assert_snapshot!(
        home.explain(&config.overrides_folder().unwrap_err()),
        @"cannot use the path in `overridesFolder`: `$NONE` leads nowhere: the environment variable `NONE` is not set"
    );
}
