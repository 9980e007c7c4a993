//! The way in: a proxy for CONNECT, and TLS with certificates of its own CA behind it.

use std::sync::{Arc, Mutex};

use axum::serve::Listener;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::State;

/// The hosts that are stood in for.
const HOSTS: [&str; 9] = [
    "github.com",
    "api.github.com",
    "objects.githubusercontent.com",
    "raw.githubusercontent.com",
    // GitHub Enterprise, which shows nothing to strangers, and a host with files and pages.
    "ghe.acme.example",
    "files.example",
    "gitlab.acme.example",
    // A Go module proxy.
    "go.example",
    // Folders on the web.
    "web.example",
];

/// A CA and the one certificate that it has signed.
pub struct Authority {
    ca: Certificate,
    certificate: Certificate,
    key: KeyPair,
}

impl Authority {
    pub fn new() -> Self {
        let mut ca_params = CertificateParams::default();
        ca_params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        ca_params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        ca_params
            .distinguished_name
            .push(DnType::CommonName, "CA of the tests");
        let ca_key = KeyPair::generate().unwrap();
        let ca = ca_params.self_signed(&ca_key).unwrap();
        let issuer = Issuer::new(ca_params, ca_key);

        let mut params = CertificateParams::new(HOSTS.map(String::from)).unwrap();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap();
        Self {
            ca,
            certificate,
            key,
        }
    }

    pub fn ca_pem(&self) -> String {
        self.ca.pem()
    }

    fn acceptor(&self) -> TlsAcceptor {
        let key = PrivatePkcs8KeyDer::from(self.key.serialize_der());
        let chain = vec![self.certificate.der().clone()];
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, PrivateKeyDer::Pkcs8(key))
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}

/// Serves until `stopped` resolves, on the calling thread.
pub fn run(
    listener: std::net::TcpListener,
    authority: &Authority,
    state: Arc<Mutex<State>>,
    stopped: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let acceptor = authority.acceptor();
    runtime.block_on(async {
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let (sender, tunnels) = mpsc::channel(1);
        let router = super::answers::router(state.clone());
        tokio::spawn(async move { axum::serve(Tunnels(tunnels), router).await });
        tokio::select! {
            () = accept_all(listener, acceptor, state, sender) => {}
            _ = stopped => {}
        }
    });
}

async fn accept_all(
    listener: tokio::net::TcpListener,
    acceptor: TlsAcceptor,
    state: Arc<Mutex<State>>,
    sender: mpsc::Sender<TlsStream<TcpStream>>,
) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, state, sender) = (acceptor.clone(), state.clone(), sender.clone());
        tokio::spawn(async move {
            // A client that goes away half-way, or does not trust us, is part of the tests.
            if let Some(stream) = open_tunnel(stream, &state).await
                && let Ok(stream) = acceptor.accept(stream).await
            {
                sender.send(stream).await.ok();
            }
        });
    }
}

/// Reads `CONNECT host:port` and agrees, if the host is one of ours.
async fn open_tunnel(mut stream: TcpStream, state: &Mutex<State>) -> Option<TcpStream> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?;
    let target = head.split(' ').nth(1)?;
    let host = target.strip_suffix(":443").unwrap_or(target);
    if !head.starts_with("CONNECT ") || !HOSTS.contains(&host) {
        state.lock().unwrap().refused_hosts.push(host.to_owned());
        let refusal = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n";
        stream.write_all(refusal).await.ok()?;
        return None;
    }
    let refusal = state.lock().unwrap().proxy_refusal;
    if let Some(status) = refusal {
        state.lock().unwrap().refused_hosts.push(host.to_owned());
        let refusal = format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n");
        stream.write_all(refusal.as_bytes()).await.ok()?;
        return None;
    }
    let agreement = b"HTTP/1.1 200 Connection established\r\n\r\n";
    stream.write_all(agreement).await.ok()?;
    Some(stream)
}

/// Hands the tunnels to the server as if it had accepted them.
struct Tunnels(mpsc::Receiver<TlsStream<TcpStream>>);

impl Listener for Tunnels {
    type Io = TlsStream<TcpStream>;
    type Addr = ();

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.0.recv().await {
            Some(stream) => (stream, ()),
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        Ok(())
    }
}
