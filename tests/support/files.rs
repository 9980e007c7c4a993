//! A web server with files, without encryption and without a list of them.

// Every test target uses a part of this.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use tokio::sync::oneshot;

/// The server; it stops when this is dropped.
pub struct Files {
    url: String,
    state: Arc<Mutex<State>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    /// Media type and text, by path.
    files: BTreeMap<String, (String, String)>,
    failures: BTreeMap<String, u16>,
    requests: Vec<String>,
}

impl Files {
    /// Starts it, empty, on a free port.
    pub fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let (stop, stopped) = oneshot::channel();
        let shared = state.clone();
        let thread = std::thread::spawn(move || run(listener, shared, stopped));
        Self {
            url,
            state,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Returns `http://{address}`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Adds a file.
    pub fn add(&self, path: &str, text: &str) {
        self.add_as(path, "text/plain", text);
    }

    /// Adds a file of a media type.
    pub fn add_as(&self, path: &str, media_type: &str, text: &str) {
        let file = (media_type.to_owned(), text.to_owned());
        let files = &mut self.state.lock().unwrap().files;
        files.insert(path.to_owned(), file);
    }

    /// Answers all requests of a path with a status.
    pub fn fail(&self, path: &str, status: u16) {
        let failures = &mut self.state.lock().unwrap().failures;
        failures.insert(path.to_owned(), status);
    }

    /// Returns the paths of the requests so far, and forgets them.
    pub fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().requests)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn run(listener: std::net::TcpListener, state: Arc<Mutex<State>>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let router = Router::new().fallback(move |request: Request| {
            let state = state.clone();
            async move { answer(&mut state.lock().unwrap(), request.uri().path()) }
        });
        tokio::select! {
            served = axum::serve(listener, router) => served.unwrap(),
            _ = stopped => {}
        }
    });
}

fn answer(state: &mut State, path: &str) -> Response {
    state.requests.push(path.to_owned());
    if let Some(status) = state.failures.get(path) {
        return StatusCode::from_u16(*status).unwrap().into_response();
    }
    match state.files.get(path) {
        Some((media_type, text)) => {
            ([(header::CONTENT_TYPE, media_type.clone())], text.clone()).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
