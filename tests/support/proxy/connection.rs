//! One connection of a client: its requests, one after the other, and what is done to them.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use anyhow::Result;
use futures::future::pending;
use futures::stream::{self, BoxStream, StreamExt as _};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, TRANSFER_ENCODING};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

use super::rule::{Answer, Fault};
use super::upstream::Link;
use super::{Injected, Shared};

type Body = UnsyncBoxBody<Bytes, io::Error>;
type Chunks = BoxStream<'static, io::Result<Bytes>>;

/// How a connection is ended against the client's will.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Break {
    /// With an RST: "connection reset by peer".
    Reset,
    /// With a FIN, but without TLS's farewell: "unexpected end of file".
    Close,
}

/// Ends the connection it belongs to.
#[derive(Clone)]
struct Breaker(mpsc::UnboundedSender<Break>);

impl Breaker {
    /// Ends the connection and with it the task that this is called in.
    async fn end<T>(&self, how: Break) -> T {
        let _ = self.0.send(how); // it is only gone when the connection is
        pending().await
    }
}

/// Serves a connection until either side ends it, or a fault does, or the proxy is to refuse connections.
pub async fn serve(shared: Arc<Shared>, acceptor: TlsAcceptor, stream: TcpStream) {
    let mut open = shared.open.subscribe();
    stream.set_nodelay(true).ok();
    let Ok(stream) = acceptor.accept(stream).await else {
        return; // the client does not like us
    };
    let (sender, mut breaks) = mpsc::unbounded_channel();
    let link = Arc::new(Link::default());
    let service = service_fn(|request| {
        let exchange = Exchange {
            shared: shared.clone(),
            link: link.clone(),
            breaker: Breaker(sender.clone()),
            number: 0,
        };
        async move { Ok::<_, Infallible>(exchange.answer(request).await) }
    });
    let mut connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    let how = tokio::select! {
        _ = &mut connection => return,
        Some(how) = breaks.recv() => how,
        _ = open.wait_for(|open| !open) => Break::Reset,
    };
    let stream = connection.into_parts().io.into_inner();
    if how == Break::Reset {
        stream.get_ref().0.set_zero_linger().ok();
    }
}

/// One request and what answers it.
struct Exchange {
    shared: Arc<Shared>,
    link: Arc<Link>,
    breaker: Breaker,
    /// The request's place in the log.
    number: usize,
}

impl Exchange {
    async fn answer(mut self, request: Request<Incoming>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let Ok(body) = body.collect().await else {
            return self.breaker.end(Break::Close).await; // the client left in the middle of its request
        };
        let request = Request::from_parts(parts, body.to_bytes());
        let (number, injected) = self.shared.record(&request);
        self.number = number;
        let result = match injected {
            Some(injected) => self.fail(request, &injected).await,
            None => self.pass_on(request).await,
        };
        result.unwrap_or_else(|error| {
            // Not a fault of a rule: the API server itself is in trouble.
            let message = json!({"message": format!("the test-bed's proxy: {error:#}")});
            render(502, &message.to_string())
        })
    }

    /// Does to a request what a rule asks for.
    async fn fail(&self, request: Request<Bytes>, injected: &Injected) -> Result<Response<Body>> {
        match injected.fault() {
            Fault::Answer(answer) => {
                self.shared.note_status(self.number, answer.code);
                Ok(refuse(answer))
            }
            Fault::ResetBefore => self.breaker.end(Break::Reset).await,
            Fault::ResetAfter => {
                self.pass_on_whole(request).await?;
                self.breaker.end(Break::Reset).await
            }
            Fault::LoseAnswer => {
                self.pass_on_whole(request).await?;
                pending().await
            }
            Fault::CutAnswer => {
                let (mut response, body) = self.pass_on_whole(request).await?;
                let half = body.slice(..body.len() / 2);
                let headers = response.headers_mut();
                headers.insert(CONTENT_LENGTH, body.len().into());
                let chunks = stream::iter([Ok(half)]).chain(self.cut());
                Ok(response.map(|()| boxed(chunks.boxed())))
            }
            Fault::Delay(pause) => {
                tokio::time::sleep(*pause).await;
                self.pass_on(request).await
            }
            Fault::Hold => {
                injected.released().await;
                self.pass_on(request).await
            }
            Fault::HoldAnswer => {
                let (response, body) = self.pass_on_whole(request).await?;
                injected.released().await;
                Ok(response.map(|()| boxed(stream::iter([Ok(body)]).boxed())))
            }
            Fault::Refuse(pause) => {
                self.shared.refuse_for(*pause);
                pending().await // until this connection is reset with the others
            }
            Fault::EndWatch { after } => self.watch(request, *after, stream::empty().boxed()).await,
            Fault::CutWatch { after } => self.watch(request, *after, self.cut()).await,
            Fault::ExpireWatch { after } => {
                let end = stream::iter([Ok(render_expired_event())]);
                self.watch(request, *after, end.boxed()).await
            }
        }
    }

    /// Passes a request on and the answer back as it comes.
    async fn pass_on(&self, request: Request<Bytes>) -> Result<Response<Body>> {
        let request = request.map(Full::new);
        let mut response = self.shared.upstream.send(&self.link, request).await?;
        self.shared
            .note_status(self.number, response.status().as_u16());
        // They are about the other connection.
        response.headers_mut().remove(CONNECTION);
        response.headers_mut().remove(TRANSFER_ENCODING);
        Ok(response.map(|body| body.map_err(io::Error::other).boxed_unsync()))
    }

    /// Passes a request on and waits for the whole answer.
    async fn pass_on_whole(&self, request: Request<Bytes>) -> Result<(Response<()>, Bytes)> {
        let (parts, body) = self.pass_on(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok((Response::from_parts(parts, ()), body))
    }

    /// Passes a watch on and back so many of its events, then `end`.
    async fn watch(
        &self,
        request: Request<Bytes>,
        after: usize,
        end: Chunks,
    ) -> Result<Response<Body>> {
        let response = self.pass_on(request).await?;
        Ok(response.map(|body| boxed(first_lines(body, after).chain(end).boxed())))
    }

    /// The end of a body that never comes, since the connection is closed first.
    fn cut(&self) -> Chunks {
        let breaker = self.breaker.clone();
        let end = async move {
            tokio::task::yield_now().await; // hyper sends what it has when the body keeps it waiting
            breaker.end(Break::Close).await
        };
        stream::once(end).boxed()
    }
}

fn boxed(chunks: Chunks) -> Body {
    StreamBody::new(chunks.map(|chunk| chunk.map(Frame::data))).boxed_unsync()
}

/// The first lines of a body, each of which is an event of a watch.
fn first_lines(body: Body, count: usize) -> Chunks {
    let chunks = body.into_data_stream().boxed();
    let lines = stream::unfold((chunks, count), |(mut chunks, missing)| async move {
        if missing == 0 {
            return None;
        }
        let chunk = match chunks.next().await? {
            Ok(chunk) => chunk,
            Err(error) => return Some((Err(error), (chunks, 0))),
        };
        let ends = chunk.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let ends: Vec<usize> = ends.map(|(index, _)| index).collect();
        match ends.get(missing - 1) {
            Some(end) => Some((Ok(chunk.slice(..=*end)), (chunks, 0))),
            None => Some((Ok(chunk), (chunks, missing - ends.len()))),
        }
    });
    lines.boxed()
}

fn render_expired_event() -> Bytes {
    let status = Answer {
        code: 410,
        reason: "Expired",
        message: "too old resource version",
        retry_after: None,
    };
    let event = json!({"type": "ERROR", "object": status.render()});
    Bytes::from(format!("{event}\n"))
}

fn refuse(answer: &Answer) -> Response<Body> {
    let mut response = render(answer.code, &answer.render().to_string());
    if let Some(seconds) = answer.retry_after {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

fn render(code: u16, body: &str) -> Response<Body> {
    let body = Full::new(Bytes::from(body.to_owned())).map_err(|never| match never {});
    Response::builder()
        .status(code)
        .header(CONTENT_TYPE, "application/json")
        .body(body.boxed_unsync())
        .expect("a status and a header of ours are valid")
}
