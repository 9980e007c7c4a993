//! The HTTP client against the stand-in.

use capictl::http::Get;

use super::support::github::{Failure, GitHub};
use super::*;

const URL: &str = "https://raw.githubusercontent.com/acme/provider/main/file.txt";

fn github() -> GitHub {
    let github = GitHub::start();
    github.add_file("acme/provider", "main", "file.txt", "text");
    github
}

async fn get(http: &Http) -> Result<String, capictl::http::Error> {
    let response = http.get(Get::new(URL)).await?;
    Ok(String::from_utf8(response.body).unwrap())
}

/// The libraries read the environment, and only a new process can have another one: this test starts itself again.
#[tokio::test]
async fn proxy_and_certificates_come_from_the_environment() {
    const INSIDE: &str = "CAPICTL_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        let text = get(&Http::new("capictl-test")).await.unwrap();
        assert_eq!(text, "text");
        return;
    }
    let github = github();
    let name = "http::proxy_and_certificates_come_from_the_environment";
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env_clear()
        .env(INSIDE, "1")
        .envs(github.environment())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(github.requests().len(), 1);
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    for failure in [
        Failure::Status(500),
        Failure::Status(502),
        Failure::Status(503),
        Failure::Status(504),
        Failure::Status(429),
        Failure::RetryAfter(403, 0),
        Failure::Cut,
    ] {
        let github = github();
        github.fail("file.txt", failure.clone(), 3);
        let text = get(&client(&github)).await;
        assert_eq!(text.unwrap(), "text", "{failure:?}");
        assert_eq!(github.requests().len(), 4, "{failure:?}");
    }
}

#[tokio::test]
async fn what_does_not_pass_is_reported_after_three_retries() {
    let mut report = String::new();
    for failure in [Failure::Status(503), Failure::Cut] {
        let github = github();
        github.fail("file.txt", failure, usize::MAX);
        let error = get(&client(&github)).await.unwrap_err();
        assert_eq!(github.requests().len(), 4);
        report += &format!("{}\n\n", explain(&error));
    }
    insta::assert_snapshot!(report, @r"
    `https://raw.githubusercontent.com/acme/provider/main/file.txt` answered 503 Service Unavailable: something went wrong
    hint: the server is in trouble: try again later

    the answer from `https://raw.githubusercontent.com/acme/provider/main/file.txt` broke off
    caused by: the connection was closed before the end
    hint: try again
    ");
}

#[tokio::test]
async fn what_cannot_pass_is_reported_at_once() {
    let mut report = String::new();
    for failure in [
        Failure::Status(404),
        Failure::Status(403),
        Failure::RetryAfter(429, 3600),
        Failure::RedirectTo(
            "http://raw.githubusercontent.com/acme/provider/main/file.txt?s3cret".into(),
        ),
    ] {
        let github = github();
        github.fail("file.txt", failure, usize::MAX);
        let error = get(&client(&github)).await.unwrap_err();
        assert_eq!(github.requests().len(), 1);
        report += &format!("{}\n\n", explain(&error));
    }
    assert!(!report.contains("s3cret"), "{report}");
    let filters = vec![(r"\d\d:\d\d UTC", "[TIME]")];
    insta::with_settings!({filters => filters}, {
        insta::assert_snapshot!(report, @"
    `https://raw.githubusercontent.com/acme/provider/main/file.txt` answered 404 Not Found: something went wrong

    `https://raw.githubusercontent.com/acme/provider/main/file.txt` answered 403 Forbidden: something went wrong
    hint: access is refused: it may be private, or a proxy or firewall forbids it; open the address in a browser

    `https://raw.githubusercontent.com/acme/provider/main/file.txt` answered 429 Too Many Requests: something went wrong
    hint: the server takes no more requests, until [TIME], in 60 minutes

    cannot follow the redirects of `https://raw.githubusercontent.com/acme/provider/main/file.txt`
    caused by: `http://raw.githubusercontent.com/acme/provider/main/file.txt` is not encrypted
    hint: the address may be out of date, or something between answers for the server: open it in a browser
    ");
    });
}

#[tokio::test]
async fn redirects_in_a_circle_end() {
    let github = github();
    github.fail("file.txt", Failure::RedirectTo(URL.into()), usize::MAX);
    let error = get(&client(&github)).await.unwrap_err();
    insta::assert_snapshot!(explain(&error), @"
    cannot follow the redirects of `https://raw.githubusercontent.com/acme/provider/main/file.txt`
    caused by: there are too many
    hint: the address may be out of date, or something between answers for the server: open it in a browser
    ");
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_an_error_that_is_not_retried() {
    let github = github();
    let http = Http::with_options(Options {
        proxy: Some(github.proxy_url().into()),
        first_delay: Duration::from_secs(3600),
        ..Options::new("capictl-test")
    });
    let error = get(&http).await.unwrap_err();
    insta::assert_snapshot!(explain(&error), @r"
    the certificate of `https://raw.githubusercontent.com/acme/provider/main/file.txt` is not trusted
    caused by: invalid peer certificate: UnknownIssuer
    hint: where a proxy inspects TLS, name a PEM file with its CA certificate by `--ca-file` or `SSL_CERT_FILE`
    ");
}

#[tokio::test]
async fn a_proxy_that_refuses_is_named_as_the_cause() {
    let github = github();
    let request = Get::new("https://example.com/x?s3cret");
    let error = client(&github).get(request).await.unwrap_err();
    assert_eq!(github.refused_hosts(), ["example.com"; 4]);
    insta::assert_snapshot!(explain(&error), @r"
    cannot reach `https://example.com/x` through the proxy
    caused by: it refuses to connect, or cannot
    hint: check the address and the credentials in `HTTPS_PROXY`, or list the host in `NO_PROXY`
    ");
}

#[tokio::test]
async fn a_proxy_that_is_not_there_is_an_error() {
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let http = Http::with_options(Options {
        proxy: Some(format!("http://{address}")),
        first_delay: Duration::from_millis(1),
        ..Options::new("capictl-test")
    });
    let error = get(&http).await.unwrap_err();
    insta::assert_snapshot!(explain(&error), @r"
    cannot reach `https://raw.githubusercontent.com/acme/provider/main/file.txt` through the proxy
    caused by: Connection refused (os error 111)
    hint: check the address and the credentials in `HTTPS_PROXY`, or list the host in `NO_PROXY`
    ");
}

#[tokio::test]
async fn bodies_have_a_limit() {
    let github = github();
    let with_limit = |body_limit| {
        Http::with_options(Options {
            proxy: Some(github.proxy_url().into()),
            extra_certificates: Some(github.ca_pem().into()),
            body_limit,
            ..Options::new("capictl-test")
        })
    };
    assert_eq!(get(&with_limit(4)).await.unwrap(), "text");
    let error = get(&with_limit(3)).await.unwrap_err();
    insta::assert_snapshot!(explain(&error), @r"
    `https://raw.githubusercontent.com/acme/provider/main/file.txt` is larger than 3 bytes
    hint: nothing that is read here is that large: check that the address is the right one
    ");
}

#[tokio::test]
async fn only_http_urls_are_fetched() {
    let http = Http::new("capictl-test");
    for url in ["ftp://example.com/x", "example.com", "https://"] {
        let error = http.get(Get::new(url)).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("`{url}` is not a valid http or https URL")
        );
    }
}
