//! The manager's own client of the API server: it counts its requests, and never repeats one by itself.

use std::collections::HashSet;
use std::error::Error as _;
use std::sync::{Arc, Mutex};

use http::HeaderValue;
use http::header::{USER_AGENT, WARNING};
use kube::client::{AuthError, ClientBuilder};
use kube::{Client, Config};
use tower::util::MapResponseLayer;

use super::metrics::RequestCounter;
use crate::http::install_tls_provider;

/// What the manager calls itself to the API server.
const AGENT: &str = concat!("capictl/", env!("CARGO_PKG_VERSION"), " (mailgun)");

/// Makes a client whose requests are counted.
///
/// Repeated writes would blur who wrote first, so whoever asks repeats.
///
/// # Errors
/// The configuration leads to no client, e.g. because its exec plugin fails.
pub async fn connect(mut config: Config, requests: &RequestCounter) -> kube::Result<Client> {
    config.default_retry = false;
    config.headers.retain(|(name, _)| name != USER_AGENT);
    config
        .headers
        .push((USER_AGENT, HeaderValue::from_static(AGENT)));
    let host = config.cluster_url.authority().map(ToString::to_string);
    let count = requests.layer(host.unwrap_or_default());
    let warnings = Warnings::default();
    // An exec plugin is run by blocking calls.
    let build = move || {
        install_tls_provider();
        Ok(ClientBuilder::try_from(config)?
            .with_layer(&MapResponseLayer::new(move |response| {
                warnings.log(response)
            }))
            .with_layer(&count)
            .build())
    };
    tokio::task::spawn_blocking(build)
        .await
        .expect("building a client does not panic")
}

/// The `Warning: 299 - "text"` headers of the API server; each text is logged once.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<HashSet<String>>>);

impl Warnings {
    fn log<B>(&self, response: http::Response<B>) -> http::Response<B> {
        for warning in response.headers().get_all(WARNING) {
            let header = warning.to_str().unwrap_or_default();
            let quoted = header
                .split_once('"')
                .and_then(|(_, rest)| rest.rsplit_once('"'));
            let text = quoted.map_or(header, |(text, _)| text);
            let mut told = self.0.lock().expect("no holder of the lock panics");
            if told.insert(text.to_owned()) {
                tracing::warn!("the API server says: {text}");
            }
        }
        response
    }
}

/// Says in one line what is wrong: the API server's sentence, or the innermost cause.
///
/// The text of an exec plugin's failure holds its output, so it is not shown.
pub fn describe(error: &kube::Error) -> String {
    if let kube::Error::Api(status) = error {
        return format!("{} ({} {})", status.message, status.code, status.reason);
    }
    let mut detail = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        if error.is::<AuthError>() {
            return "no credentials: the exec plugin or the token of the kubeconfig failed"
                .to_owned();
        }
        detail = error.to_string();
        next = error.source();
    }
    detail
}
