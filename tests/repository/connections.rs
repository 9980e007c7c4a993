//! What can be wrong with the way to a server, whichever it is: one message that names the address, the cause and the way out.

use std::net::TcpListener;

use futures::future::join_all;

use super::servers::{COMPONENTS_FILE, LABEL, Server};
use super::support::github::GitHub;
use super::*;

/// A way that leads nowhere.
#[derive(Debug, Clone, Copy)]
enum Obstacle {
    Refused,
    Unresolved,
    ProxyGone,
    ProxyRefuses(u16),
    /// The certificate is of an authority that nobody knows.
    Distrust,
}

const OBSTACLES: [Obstacle; 7] = [
    Obstacle::Refused,
    Obstacle::Unresolved,
    Obstacle::ProxyGone,
    Obstacle::ProxyRefuses(403),
    Obstacle::ProxyRefuses(407),
    Obstacle::ProxyRefuses(502),
    Obstacle::Distrust,
];

impl Obstacle {
    /// What the message has.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Refused => &["cannot connect to `", "refused", "`HTTPS_PROXY`"],
            Self::Unresolved => &["cannot connect to `", "lookup", "`HTTPS_PROXY`"],
            Self::ProxyGone => &["through the proxy", "refused", "the address", "`NO_PROXY`"],
            Self::ProxyRefuses(407) => &[
                "the proxy asks for credentials",
                "`HTTPS_PROXY`",
                "{user}:{password}@",
            ],
            Self::ProxyRefuses(_) => &["through the proxy", "`HTTPS_PROXY`", "`NO_PROXY`"],
            Self::Distrust => &["is not trusted", "UnknownIssuer", "`SSL_CERT_FILE`"],
        }
    }

    /// How often the proxy is asked to connect to a host: again only where that may help.
    fn attempts(self) -> Option<usize> {
        match self {
            Self::ProxyRefuses(407) => Some(1),
            Self::ProxyRefuses(_) => Some(4),
            _ => None,
        }
    }

    fn host(self, server: Server, closed: &str) -> String {
        match self {
            Self::Refused => closed.to_owned(),
            // RFC 6761 keeps this from ever being a host.
            Self::Unresolved => "nowhere.invalid".to_owned(),
            _ => server.host().to_owned(),
        }
    }

    fn client(self, stand_in: &GitHub, closed: &str) -> Http {
        if let Self::ProxyRefuses(status) = self {
            stand_in.refuse_connections(status);
        }
        Http::with_options(Options {
            proxy: match self {
                Self::Refused | Self::Unresolved => None,
                Self::ProxyGone => Some(format!("http://{closed}")),
                _ => Some(stand_in.proxy_url().into()),
            },
            extra_certificates: match self {
                Self::Distrust => None,
                _ => Some(stand_in.ca_pem().into()),
            },
            first_delay: Duration::from_millis(1),
            ..Options::new("capictl-test")
        })
    }
}

/// Only a process of its own is without the variables for proxies, which the library reads: this test starts itself again.
#[tokio::test]
async fn a_way_that_leads_nowhere_is_told_with_place_cause_and_way_out() {
    const INSIDE: &str = "CAPICTL_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        let flaws = join_all(Server::ALL.map(|server| Box::pin(try_all(server)))).await;
        let flaws = flaws.concat();
        assert!(flaws.is_empty(), "{}", flaws.join("\n\n"));
        return;
    }
    let name = "connections::a_way_that_leads_nowhere_is_told_with_place_cause_and_way_out";
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env_clear()
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
}

async fn try_all(server: Server) -> Vec<String> {
    let mut flaws = Vec::new();
    // Nobody listens there any more.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = listener.local_addr().unwrap().to_string();
    drop(listener);
    for obstacle in OBSTACLES {
        for version in ["latest", "v1.0.0"] {
            let stand_in = GitHub::start();
            let http = obstacle.client(&stand_in, &closed);
            let host = obstacle.host(server, &closed);
            let error = read(server, &host, version, http).await;
            let place = match (server, version) {
                (Server::GitHub | Server::GoProxy, "latest") if host == "github.com" => {
                    "`https://api.github.com/"
                }
                _ => &format!("`https://{host}/"),
            };
            let mut needed = [&[place, "hint: "], obstacle.words()].concat();
            needed.retain(|word| !error.contains(word));
            let refused = stand_in.refused_hosts();
            let last = refused.iter().filter(|host| refused.last() == Some(host));
            let attempts = last.count();
            let too_often = obstacle.attempts().is_some_and(|right| right != attempts);
            let messages = error.lines().filter(|line| line.starts_with("failed to"));
            if !needed.is_empty() || too_often || messages.count() != 1 {
                let what = format!("{obstacle:?} {server:?} {version}");
                flaws.push(format!("{what}: no {needed:?}, {attempts} times\n{error}"));
            }
        }
    }
    flaws
}

async fn read(server: Server, host: &str, version: &str, http: Http) -> String {
    let kind = (host != server.host()).then_some(server.repository_type());
    let settings = server.settings(Settings::new(uncached(http), None, None));
    let url = server.url(host, version);
    let repository = ProviderRepository::open_as(LABEL, &url, kind, &settings).unwrap();
    let error = match repository.default_version().await {
        Ok(version) => repository
            .fetch(&version, COMPONENTS_FILE)
            .await
            .unwrap_err(),
        Err(error) => error,
    };
    explain(&error)
}
