//! Counts the requests to the API server, as a layer of the client.

use std::task::{Context, Poll};

use futures::FutureExt as _;
use futures::future::Inspect;
use http::{Method, Request, Response};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;
use tower::{Layer, Service};

use super::{Labels, family};

/// `rest_client_requests_total`.
#[derive(Debug, Clone)]
pub struct RequestCounter(Family<Labels, Counter>);

impl RequestCounter {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let help = "Requests to the API server, by status code, method and host";
        Self(family(
            registry,
            "rest_client_requests",
            help,
            Family::default(),
        ))
    }

    /// Returns the layer that counts the requests to `host`, the outermost one of a client.
    pub fn layer(&self, host: impl Into<String>) -> CountRequests {
        CountRequests {
            requests: self.0.clone(),
            host: host.into(),
        }
    }
}

/// The layer that counts.
#[derive(Debug, Clone)]
pub struct CountRequests {
    requests: Family<Labels, Counter>,
    host: String,
}

impl CountRequests {
    /// Counts a request; without a status code it got no answer, which client-go writes as `<error>`.
    fn count(&self, method: &Method, code: Option<http::StatusCode>) {
        let code = code.map_or("<error>".to_owned(), |code| code.as_u16().to_string());
        let labels = vec![
            ("code", code),
            ("method", method.to_string()),
            ("host", self.host.clone()),
        ];
        self.requests.get_or_create(&labels).inc();
    }
}

impl<S> Layer<S> for CountRequests {
    type Service = Counted<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Counted {
            inner,
            count: self.clone(),
        }
    }
}

/// A service whose requests are counted.
#[derive(Debug, Clone)]
pub struct Counted<S> {
    inner: S,
    count: CountRequests,
}

type Record<R, E> = Box<dyn FnOnce(&Result<R, E>) + Send>;

impl<S, A, B> Service<Request<A>> for Counted<S>
where
    S: Service<Request<A>, Response = Response<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Inspect<S::Future, Record<S::Response, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let method = request.method().clone();
        let count = self.count.clone();
        let record: Record<S::Response, S::Error> = Box::new(move |result| {
            count.count(&method, result.as_ref().ok().map(Response::status));
        });
        self.inner.call(request).inspect(record)
    }
}
