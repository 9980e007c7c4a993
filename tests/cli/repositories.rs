//! Where releases may be: what the configuration says of it reaches the requests.

use crate::environment::TestEnvironment;
use crate::generate_provider::{COMPONENTS, METADATA};
use crate::support::files::Files;
use crate::support::github::GitHub;

const CONFIG: &str = "home/.config/cluster-api/clusterctl.yaml";
const LINE: &str = "generate provider -i example --describe";

/// Writes a configuration with the provider `example`.
fn configure(environment: &TestEnvironment, fields: &str) {
    let config =
        format!("providers:\n- {{name: example, type: InfrastructureProvider, {fields}}}\n");
    environment.write(CONFIG, &config);
}

const FILES: [(&str, &str); 2] = [("components.yaml", COMPONENTS), ("metadata.yaml", METADATA)];

#[test]
fn a_path_may_begin_at_the_configuration_file_or_at_home() {
    let environment = TestEnvironment::new().with("WHERE", "my releases");
    let release = "infrastructure-example/v1.2.3";
    for (name, text) in FILES {
        environment.write(format!("home/my releases/{release}/{name}"), text);
    }
    for url in [
        "../../my releases",
        "~/my releases",
        "$HOME/my releases",
        "${HOME}/${WHERE}",
        "file://${HOME}/my%20releases",
        "file://${HOME}/my releases",
    ] {
        configure(
            &environment,
            &format!("url: '{url}/{release}/components.yaml'"),
        );
        let run = environment.run(LINE);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{url}: {run}");
        assert!(run.stdout.contains("v1.2.3"), "{url}: {run}");
    }
}

#[test]
fn what_leads_nowhere_is_told_with_the_entry() {
    let environment = TestEnvironment::new();
    let mut report = String::new();
    for fields in [
        "url: /a/infrastructure-example/v1.2.3/c.yaml, repositoryType: ftp",
        "url: /a/infrastructure-example/v1.2.3/c.yaml, repositoryType: gitlab",
        "url: $NONE/infrastructure-example/v1.2.3/c.yaml",
        "url: '${NONE}/infrastructure-example/${VERSION}/c.yaml'",
        "url: github.com/o/r/releases/latest/c.yaml",
        r"url: 'C:\a\infrastructure-example\v1.2.3\c.yaml'",
        "url: https://me:s3cret@host.example/infrastructure-example/v1.2.3/c.yaml",
        "url: https://host.example/o/r/releases/v1.2.3/c.yaml",
    ] {
        configure(&environment, fields);
        report += &environment.failures(&[LINE]);
    }
    assert!(!report.contains("s3cret"));
    insta::assert_snapshot!(report, @r#"
    $ capictl generate provider -i example --describe
    error: failed to get provider components for the "example" provider
      caused by: `providers` in `[FOLDER]/home/.config/cluster-api/clusterctl.yaml` is not valid: entry 1: error validating configuration for the InfrastructureProvider with name example: `repositoryType`: it must be one of github, gitlab, http, local, not `ftp`
    hint: please fix the providers value in clusterctl configuration file
    $ capictl generate provider -i example --describe
    error: failed to get provider components for the "example" provider
      caused by: invalid provider url `/a/infrastructure-example/v1.2.3/c.yaml`: it cannot be of the `repositoryType` `gitlab`
    hint: supported are GitHub releases, `https://github.com/{owner}/{repository}/releases/{version or latest}/{file}`, generic packages of GitLab, `https://{host}/api/v4/projects/{project}/packages/generic/{package}/{version or latest}/{file}`, and folders on this machine or on the web, `/{folder}/{provider label}/{version or latest}/{file}` and `https://{host}/{folder}/{provider label}/{version or latest}/{file}`
    $ capictl generate provider -i example --describe
    error: failed to get provider components for the "example" provider
      caused by: the `url` of `infrastructure-example` in `[FOLDER]/home/.config/cluster-api/clusterctl.yaml` cannot be used: `$NONE` leads nowhere: the environment variable `NONE` is not set
    $ capictl generate provider -i example --describe
     WARN capictl::config: `NONE` in the `url` of `infrastructure-example` is not set and reads as empty: set it in the environment
     WARN capictl::config: `VERSION` in the `url` of `infrastructure-example` is not set and reads as empty: set it in the environment
    error: failed to get provider components for the "example" provider
      caused by: invalid provider url `/infrastructure-example//c.yaml`: it has too few parts
    hint: the address of a local repository is `/{folder}/infrastructure-example/{version or latest}/{file}`
    $ capictl generate provider -i example --describe
    error: failed to get provider components for the "example" provider
      caused by: the `url` of `infrastructure-example` in `[FOLDER]/home/.config/cluster-api/clusterctl.yaml` cannot be used: an address on the web begins with `https://`
    $ capictl generate provider -i example --describe
    error: failed to get provider components for the "example" provider
      caused by: invalid provider url `C:\a\infrastructure-example\v1.2.3\c.yaml`: it is a path of Windows, and this is another system
    hint: the address of a local repository is `/{folder}/infrastructure-example/{version or latest}/{file}`
    $ capictl generate provider -i example --describe
    error: failed to get provider components for the "example" provider
      caused by: invalid provider url `https://host.example/infrastructure-example/v1.2.3/c.yaml`: it must not have a user name or password in it
    hint: GitHub takes the token in `GITHUB_TOKEN`, GitLab the one in `GITLAB_ACCESS_TOKEN`; folders on the web are read without credentials
    $ capictl generate provider -i example --describe
    error: failed to get provider components for the "example" provider
      caused by: invalid provider url `https://host.example/o/r/releases/v1.2.3/c.yaml`: the folder `releases` must have the name of the provider, `infrastructure-example`
    hint: the address of a folder on the web is `https://{host}/{folder}/infrastructure-example/{version or latest}/{file}`; for GitHub Enterprise or GitLab set `repositoryType: github` or `repositoryType: gitlab` beside `url`
    "#);
}

#[test]
fn a_folder_on_the_web_has_a_list_of_versions() {
    let files = Files::start();
    let folder = "/r/infrastructure-example";
    for (name, text) in FILES {
        files.add(&format!("{folder}/v1.2.3/{name}"), text);
    }
    files.add(&format!("{folder}/versions"), "v1.2.3\n");
    let environment = TestEnvironment::new();
    let url = format!("{}{folder}/latest/components.yaml", files.url());
    configure(&environment, &format!("url: '{url}'"));
    let run = environment.run(LINE);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run}");
    assert!(run.stdout.contains("v1.2.3"), "{run}");
}

#[test]
fn gitlab_takes_its_token_from_the_environment_or_the_file() {
    let gitlab = GitHub::start();
    gitlab.add_package("group/example", "example", "v1.2.3", &FILES);
    gitlab.make_project_private("group/example");
    gitlab.accept_token("t0ken");
    let url = "url: 'https://gitlab.acme.example/api/v4/projects/group%2Fexample/packages/generic/example/latest/components.yaml'";
    let environment = TestEnvironment::new().led_to(&gitlab);
    configure(&environment, url);
    let run = environment.run(LINE);
    assert_eq!(run.status, 1, "{run}");
    assert!(run.stderr.contains("set `GITLAB_ACCESS_TOKEN`"), "{run}");

    let config = std::fs::read_to_string(environment.path(CONFIG)).unwrap();
    environment.write(CONFIG, &format!("{config}gitlab-access-token: t0ken\n"));
    let run = environment.run(&format!("{LINE} -v 9"));
    assert_eq!(run.status, 0, "{run}");
    assert!(!run.to_string().contains("t0ken"), "{run}");

    environment.write(CONFIG, &config);
    let environment = environment.with("GITLAB_ACCESS_TOKEN", "t0ken");
    let run = environment.run(LINE);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run}");
    assert!(run.stdout.contains("v1.2.3"), "{run}");
}

#[test]
fn an_enterprise_of_github_is_set_beside_the_url() {
    let github = GitHub::start();
    github.add_release("acme/example", "v1.2.3", &FILES);
    github.accept_token("t0ken");
    let environment = TestEnvironment::new()
        .led_to(&github)
        .with("GH_HOST", "ghe.acme.example")
        .with("GITHUB_ENTERPRISE_TOKEN", "t0ken");
    let url = "url: https://ghe.acme.example/acme/example/releases/latest/components.yaml";
    for fields in [url.to_owned(), format!("{url}, repositoryType: github")] {
        configure(&environment, &fields);
        let run = environment.run(LINE);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run}");
        assert!(run.stdout.contains("v1.2.3"), "{run}");
    }
}

#[test]
fn a_pasted_download_address_names_its_version() {
    let github = GitHub::start();
    github.add_release("acme/example", "v1.2.3", &FILES);
    github.add_release("acme/example", "v1.3.0", &FILES);
    let environment = TestEnvironment::new().led_to(&github);
    let url = "url: https://github.com/acme/example/releases/download/v1.2.3/components.yaml";
    configure(&environment, url);
    let run = environment.run(LINE);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run}");
    assert!(run.stdout.contains("v1.2.3"), "{run}");
    let hosts = github.requests().into_iter().map(|request| request.host);
    assert!(hosts.into_iter().all(|host| host != "api.github.com"));
}

#[test]
fn versions_come_from_a_go_module_proxy_only_where_one_is_set() {
    let github = GitHub::start();
    github.add_release("acme/example", "v1.2.3", &FILES);
    github.add_list("/x/github.com/acme/example/@v/list", "v1.2.3\n");
    let environment = TestEnvironment::new().led_to(&github);
    let url = "url: https://github.com/acme/example/releases/latest/components.yaml";
    configure(&environment, url);
    let asked = |environment: &TestEnvironment| {
        let run = environment.run(LINE);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run}");
        let hosts = github.requests().into_iter().map(|request| request.host);
        let hosts: std::collections::BTreeSet<String> = hosts.collect();
        github.take_urls();
        (
            hosts.contains("go.example"),
            hosts.contains("api.github.com"),
        )
    };
    assert_eq!(asked(&environment), (false, true));
    let environment = environment.with("GOPROXY", "https://go.example/x,direct");
    assert_eq!(asked(&environment), (true, false));
    assert_eq!(github.refused_hosts(), [""; 0]);
}

/// `type` is what the provider is, not where.
#[test]
fn the_type_of_a_server_has_a_name_of_its_own() {
    let environment = TestEnvironment::new();
    let url = "https://ghe.acme.example/acme/example/releases/latest/components.yaml";
    environment.write(
        CONFIG,
        &format!("providers:\n- {{name: example, type: github, url: '{url}'}}\n"),
    );
    insta::assert_snapshot!(environment.run("config repositories"), @"
    status: 1
    ---- stdout
    ---- stderr
    error: `providers` in `[FOLDER]/home/.config/cluster-api/clusterctl.yaml` is not valid: entry 1: error validating configuration for the github with name example: `type` must be one of CoreProvider, BootstrapProvider, ControlPlaneProvider, InfrastructureProvider, IPAMProvider, RuntimeExtensionProvider, AddonProvider; what kind of server it is at is told by `repositoryType: github`
    hint: please fix the providers value in clusterctl configuration file
    ");
}

#[test]
fn settings_that_are_no_text_are_named() {
    let environment = TestEnvironment::new();
    let config = "github-token: [s3cret]\noverridesFolder: {a: b}\ngh-host:\nAWS_REGION: [a]\n";
    environment.write(CONFIG, config);
    insta::assert_snapshot!(environment.run("config repositories docker -o yaml").stderr, @r#"
     WARN capictl::config: `github-token` in the configuration file is not used: it must be a text file="[FOLDER]/home/.config/cluster-api/clusterctl.yaml"
     WARN capictl::config: `overridesFolder` in the configuration file is not used: it must be a text file="[FOLDER]/home/.config/cluster-api/clusterctl.yaml"
    "#);
}

#[test]
fn latest_may_be_asked_for_by_name_where_the_address_has_a_version() {
    let github = GitHub::start();
    github.add_release("acme/example", "v1.2.3", &FILES);
    github.add_release("acme/example", "v1.2.4", &FILES);
    let environment = TestEnvironment::new().led_to(&github);
    let url = "url: https://github.com/acme/example/releases/v1.2.3/components.yaml";
    configure(&environment, url);
    for (name, version) in [("example", "v1.2.3"), ("example:latest", "v1.2.4")] {
        let run = environment.run(&format!("generate provider -i {name} --describe"));
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run}");
        assert!(run.stdout.contains(version), "{run}");
    }
}

#[test]
fn a_version_that_lacks_its_v_is_told_of() {
    let github = GitHub::start();
    github.add_release("acme/example", "v1.2.3", &FILES);
    let environment = TestEnvironment::new().led_to(&github);
    for url in [
        "https://github.com/acme/example/releases/latest/components.yaml",
        "https://web.example/infrastructure-example/latest/components.yaml",
        "https://gitlab.acme.example/api/v4/projects/a%2Fb/packages/generic/example/latest/components.yaml",
    ] {
        configure(&environment, &format!("url: '{url}'"));
        let run = environment.run("generate provider -i example:1.2.3 --describe");
        assert_eq!(run.status, 1, "{run}");
        assert!(run.stderr.contains("hint: did you mean `v1.2.3`?"), "{run}");
    }
}

/// A CA of one's own is named by a flag as well as by the library's variable.
#[test]
fn a_ca_may_be_named_by_a_flag() {
    let github = GitHub::start();
    github.add_release("acme/example", "v1.2.3", &FILES);
    let environment = TestEnvironment::new().with("HTTPS_PROXY", github.proxy_url());
    configure(
        &environment,
        "url: https://github.com/acme/example/releases/latest/components.yaml",
    );
    let run = environment.run(LINE);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run}");
    assert!(
        run.stderr.contains("by `--ca-file` or `SSL_CERT_FILE`"),
        "{run}"
    );
    let run = environment.run(&format!("{LINE} --ca-file {}", github.ca_file().display()));
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run}");
}

/// Nothing but the exceptions keeps this request from the proxy, which would refuse it.
#[test]
fn exceptions_go_around_the_proxy() {
    let files = Files::start();
    for (name, text) in FILES {
        files.add(&format!("/infrastructure-example/v1.2.3/{name}"), text);
    }
    let proxy = GitHub::start();
    let url = format!(
        "url: '{}/infrastructure-example/v1.2.3/components.yaml'",
        files.url()
    );
    for (exceptions, status) in [("127.0.0.1", 0), ("127.0.0.0/8", 0), ("other.example", 1)] {
        let environment = TestEnvironment::new()
            .with("HTTP_PROXY", proxy.proxy_url())
            .with("NO_PROXY", exceptions);
        configure(&environment, &url);
        let run = environment.run(LINE);
        assert_eq!(run.status, status, "{exceptions}: {run}");
    }
}
