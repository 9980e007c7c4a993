//! The way from the proxy to the API server.

use std::sync::Arc;

use anyhow::{Context, Result};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, HOST, HeaderValue};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio_rustls::TlsConnector;

use crate::support::authority::{Authority, Identity};

/// How the proxy reaches the API server: as the administrator, or as whoever the request's token says.
///
/// The API server believes a client certificate before it looks at a token, hence the two.
pub struct Upstream {
    /// HOST:PORT.
    address: String,
    administrator: TlsConnector,
    anonymous: TlsConnector,
}

/// The connection to the API server that belongs to one connection of a client.
#[derive(Default)]
pub struct Link(Mutex<Option<(bool, SendRequest<Full<Bytes>>)>>);

impl Upstream {
    pub fn new(server: &str, authority: &Authority, administrator: &Identity) -> Result<Self> {
        let address = server
            .strip_prefix("https://")
            .context("not an https URL")?;
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes())?)?;
        let builder = || -> Result<_> {
            let builder = rustls::ClientConfig::builder_with_provider(provider());
            Ok(builder
                .with_safe_default_protocol_versions()?
                .with_root_certificates(roots.clone()))
        };
        let (certificates, key) = parse_identity(administrator)?;
        let administrator = builder()?.with_client_auth_cert(certificates, key)?;
        let anonymous = builder()?.with_no_client_auth();
        Ok(Self {
            address: address.to_owned(),
            administrator: TlsConnector::from(Arc::new(administrator)),
            anonymous: TlsConnector::from(Arc::new(anonymous)),
        })
    }

    /// Passes a request on and returns the answer, whose body may still be on its way.
    pub async fn send(
        &self,
        link: &Link,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>> {
        let has_token = request.headers().contains_key(AUTHORIZATION);
        request
            .headers_mut()
            .insert(HOST, HeaderValue::from_str(&self.address)?);
        let mut link = link.0.lock().await;
        let usable = match link.as_mut() {
            Some((with_token, sender)) => *with_token == has_token && sender.ready().await.is_ok(),
            None => false,
        };
        if !usable {
            *link = Some((has_token, self.connect(has_token).await?));
        }
        let (_, sender) = link.as_mut().expect("it was made above");
        Ok(sender.send_request(request).await?)
    }

    async fn connect(&self, has_token: bool) -> Result<SendRequest<Full<Bytes>>> {
        let connector = match has_token {
            true => &self.anonymous,
            false => &self.administrator,
        };
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        let (host, _) = self.address.rsplit_once(':').context("no port")?;
        let name = ServerName::try_from(host.to_owned())?;
        let stream = connector.connect(name, stream).await?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection); // its failure is the sender's
        Ok(sender)
    }
}

/// Parses a certificate and its key for rustls.
pub fn parse_identity(
    identity: &Identity,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)> {
    let certificate = CertificateDer::from_pem_slice(identity.certificate.as_bytes())?;
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes())?;
    Ok((vec![certificate], key))
}

pub fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
