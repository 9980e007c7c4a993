//! The end of kube-apiserver's egress socket: an HTTP proxy that knows `CONNECT CLUSTERIP:PORT` and leads to the
//! process behind that Service.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use kube::ResourceExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpStream, UnixListener, UnixStream};

use super::Node;

/// More than any request line and headers of kube-apiserver.
const MAX_REQUEST: usize = 16 * 1024;

pub async fn serve(node: Arc<Node>, socket: UnixListener) {
    loop {
        match socket.accept().await {
            Ok((stream, _)) => {
                let node = node.clone();
                tokio::spawn(async move {
                    if let Err(error) = tunnel(&node, stream).await {
                        node.note(format_args!("egress: {error:#}"));
                    }
                });
            }
            Err(error) => node.note(format_args!("egress: {error}")),
        }
    }
}

async fn tunnel(node: &Node, mut stream: UnixStream) -> Result<()> {
    let request = read_request(&mut stream).await?;
    let target = request.split(' ').nth(1).context("no target")?;
    let mut backend = match connect(node, target).await {
        Ok(backend) => backend,
        Err(error) => {
            let answer = b"HTTP/1.1 503 Service Unavailable\r\n\r\n";
            stream.write_all(answer).await?;
            return Err(error.context(format!("no way to {target}")));
        }
    };
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    let _ = copy_bidirectional(&mut stream, &mut backend).await; // how it ends is the business of both ends
    Ok(())
}

async fn read_request(stream: &mut UnixStream) -> Result<String> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut request).await? == 0 || request.len() > MAX_REQUEST {
            bail!("the API server sent no whole request");
        }
    }
    Ok(String::from_utf8(request)?)
}

async fn connect(node: &Node, target: &str) -> Result<TcpStream> {
    let (address, _) = target.rsplit_once(':').context("no port")?;
    let service = node.stores.services.find(|service| {
        let spec = service.spec.as_ref();
        spec.and_then(|spec| spec.cluster_ip.as_deref()) == Some(address)
    });
    let service = service.context("no Service has this address")?;
    let namespace = service.namespace().unwrap_or_default();
    let backend = node
        .backend(&namespace, &service.name_any())
        .context("the Service selects no Deployment")?;
    let port = node
        .webhook_port(&backend)
        .context("no process runs for it")?;
    Ok(TcpStream::connect(("127.0.0.1", port)).await?)
}
