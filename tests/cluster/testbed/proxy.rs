//! Each fault of the proxy, as a client sees it.

use std::error::Error as _;
use std::time::{Duration, Instant};

use anyhow::Result;
use futures::StreamExt as _;
use http_body_util::BodyExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use kube::api::{Api, ObjectMeta, PostParams};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value;

use crate::support::control_plane::ControlPlane;
use crate::support::proxy::{Fault, FaultProxy, Rule};
use crate::support::wait;

/// A namespace seen through a proxy, and past it.
struct Subject {
    proxy: FaultProxy,
    /// Through the proxy, by a client that never tries again.
    through: Api<ConfigMap>,
    past: Api<ConfigMap>,
    client: Client,
}

impl Subject {
    async fn new() -> Result<Self> {
        let control_plane = ControlPlane::shared().await;
        let namespace = control_plane.create_namespace("proxy").await?;
        let proxy = FaultProxy::start(control_plane).await?;
        let client = connect(&proxy, |_| ()).await?;
        Ok(Self {
            proxy,
            through: Api::namespaced(client.clone(), &namespace),
            past: Api::namespaced(control_plane.client().await?, &namespace),
            client,
        })
    }

    async fn create(&self, name: &str) -> kube::Result<ConfigMap> {
        create(&self.through, name).await
    }

    async fn exists(&self, name: &str) -> Result<bool> {
        Ok(self.past.get_opt(name).await?.is_some())
    }
}

async fn connect(proxy: &FaultProxy, change: impl FnOnce(&mut Config)) -> Result<Client> {
    let kubeconfig = Kubeconfig::read_from(proxy.kubeconfig())?;
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
    config.proxy_url = None;
    config.default_retry = false;
    change(&mut config);
    Ok(Client::try_from(config)?)
}

async fn create(api: &Api<ConfigMap>, name: &str) -> kube::Result<ConfigMap> {
    let config_map = ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    };
    api.create(&PostParams::default(), &config_map).await
}

async fn get(subject: &Subject, url: &str) -> Result<http::Response<Body>> {
    let request = http::Request::get(url).body(Body::empty())?;
    Ok(subject.client.send(request).await?)
}

/// Returns the texts of an error and its causes.
fn chain(error: &kube::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text += &format!(": {cause}");
        next = cause.source();
    }
    text
}

#[tokio::test]
async fn without_a_rule_requests_pass_and_are_counted() -> Result<()> {
    let subject = Subject::new().await?;
    subject.create("one").await?;
    assert!(subject.exists("one").await?);
    let requests = subject.proxy.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(
        (requests[0].method.as_str(), requests[0].status),
        ("POST", Some(201))
    );
    assert!(requests[0].path.ends_with("/configmaps"), "{requests:?}");
    assert!(requests[0].body.starts_with(b"{"), "{requests:?}");
    assert_eq!(subject.proxy.count(|request| request.is_write()), 1);
    Ok(())
}

#[tokio::test]
async fn a_bearer_token_is_passed_on_in_place_of_the_administrator() -> Result<()> {
    let subject = Subject::new().await?;
    let namespace = subject
        .past
        .resource_url()
        .split('/')
        .nth(4)
        .unwrap()
        .to_owned();
    let accounts: Api<ServiceAccount> =
        Api::namespaced(subject.past.clone().into_client(), &namespace);
    wait::for_object(&accounts, "default", "exists", |account| account.is_some()).await;
    let request = Default::default();
    let token = accounts
        .create_token_request("default", &PostParams::default(), &request)
        .await?;
    let token = token
        .status
        .and_then(|status| status.token)
        .expect("a token");
    let client = connect(&subject.proxy, |config| {
        config.auth_info.token = Some(token.into())
    })
    .await?;
    let error = create(&Api::namespaced(client, &namespace), "one")
        .await
        .unwrap_err();
    let user = format!("system:serviceaccount:{namespace}:default");
    assert!(error.to_string().contains(&user), "{error}");
    Ok(())
}

#[tokio::test]
async fn injected_answers_have_the_form_of_the_api_server() -> Result<()> {
    let subject = Subject::new().await?;
    for (fault, code, reason) in [
        (Fault::conflict(), 409, "Conflict"),
        (Fault::expired(), 410, "Expired"),
        (Fault::too_many_requests(7), 429, "TooManyRequests"),
        (Fault::internal_error(), 500, "InternalError"),
        (Fault::unavailable(), 503, "ServiceUnavailable"),
    ] {
        let injected = subject.proxy.inject(Rule::new(fault).method("POST").once());
        let error = subject.create("one").await.unwrap_err();
        let kube::Error::Api(status) = error else {
            panic!("{error:?}");
        };
        assert_eq!((status.code, status.reason.as_str()), (code, reason));
        assert_eq!(injected.hits(), 1);
        assert!(!subject.exists("one").await?);
    }
    Ok(())
}

#[tokio::test]
async fn too_many_requests_come_with_a_pause_to_keep() -> Result<()> {
    let subject = Subject::new().await?;
    subject.proxy.inject(Rule::new(Fault::too_many_requests(7)));
    let response = get(&subject, "/version").await?;
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["retry-after"], "7");
    Ok(())
}

#[tokio::test]
async fn a_reset_before_leaves_the_write_undone_and_one_after_leaves_it_done() -> Result<()> {
    let subject = Subject::new().await?;
    subject
        .proxy
        .inject(Rule::new(Fault::ResetBefore).writes().once());
    let error = chain(&subject.create("one").await.unwrap_err());
    assert!(error.contains("reset by peer"), "{error}");
    assert!(!subject.exists("one").await?);

    subject
        .proxy
        .inject(Rule::new(Fault::ResetAfter).writes().once());
    let error = chain(&subject.create("one").await.unwrap_err());
    assert!(error.contains("reset by peer"), "{error}");
    assert!(subject.exists("one").await?);
    assert_eq!(subject.proxy.requests()[1].status, Some(201));
    Ok(())
}

#[tokio::test]
async fn a_lost_answer_keeps_the_client_waiting_for_a_write_that_is_done() -> Result<()> {
    let subject = Subject::new().await?;
    subject
        .proxy
        .inject(Rule::new(Fault::LoseAnswer).writes().once());
    tokio::select! {
        result = subject.create("one") => panic!("{result:?}"),
        object = wait::for_object(&subject.past, "one", "exists", |object| object.is_some()) => {
            assert!(object.is_some());
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_cut_answer_ends_in_the_middle_of_its_body() -> Result<()> {
    let subject = Subject::new().await?;
    subject.proxy.inject(Rule::new(Fault::CutAnswer).once());
    let response = get(&subject, "/version").await?;
    assert_eq!(response.status(), 200);
    let length: usize = response.headers()["content-length"].to_str()?.parse()?;
    let (mut received, mut failed) = (0, false);
    let mut body = response.into_body().into_data_stream();
    while let Some(chunk) = body.next().await {
        match chunk {
            Ok(chunk) => received += chunk.len(),
            Err(_) => failed = true,
        }
    }
    assert!(failed);
    assert_eq!(received, length / 2);
    Ok(())
}

#[tokio::test]
async fn a_delayed_request_takes_its_time() -> Result<()> {
    let subject = Subject::new().await?;
    let pause = Duration::from_millis(300);
    subject.proxy.inject(Rule::new(Fault::Delay(pause)).once());
    let started = Instant::now();
    subject.create("one").await?;
    assert!(started.elapsed() >= pause, "{:?}", started.elapsed());
    Ok(())
}

#[tokio::test]
async fn a_held_request_waits_for_its_release() -> Result<()> {
    let subject = Subject::new().await?;
    let held = subject.proxy.inject(Rule::new(Fault::Hold).writes().once());
    let (created, ()) = tokio::join!(subject.create("one"), async {
        held.reached(1).await;
        assert!(!subject.exists("one").await.unwrap());
        held.release();
    });
    created?;

    let held = subject
        .proxy
        .inject(Rule::new(Fault::HoldAnswer).writes().once());
    let (created, ()) = tokio::join!(subject.create("two"), async {
        held.reached(1).await;
        wait::for_object(&subject.past, "two", "exists", |object| object.is_some()).await;
        held.release();
    });
    created?;
    Ok(())
}

#[tokio::test]
async fn rules_choose_requests_by_method_path_and_count() -> Result<()> {
    let subject = Subject::new().await?;
    let rule = Rule::new(Fault::unavailable())
        .method("POST")
        .path("/api/v1/namespaces/*/configmaps");
    let injected = subject.proxy.inject(rule.skip(1).times(2));
    subject.create("one").await?;
    assert!(subject.create("two").await.is_err());
    subject.through.list(&Default::default()).await?;
    assert!(subject.create("two").await.is_err());
    subject.create("two").await?;
    assert_eq!((injected.matched(), injected.hits()), (4, 2));

    let other = subject
        .proxy
        .inject(Rule::new(Fault::unavailable()).path("/api/v1/configmaps"));
    subject.create("three").await?;
    assert_eq!(other.matched(), 0);
    Ok(())
}

#[tokio::test]
async fn a_withdrawn_rule_applies_no_more() -> Result<()> {
    let subject = Subject::new().await?;
    let injected = subject.proxy.inject(Rule::new(Fault::unavailable()));
    assert!(subject.create("one").await.is_err());
    injected.withdraw();
    subject.create("one").await?;
    subject.proxy.inject(Rule::new(Fault::unavailable()));
    subject.proxy.clear();
    subject.create("two").await?;
    Ok(())
}

#[tokio::test]
async fn connections_are_refused_until_they_are_accepted_again() -> Result<()> {
    let subject = Subject::new().await?;
    subject.create("one").await?;
    subject.proxy.refuse().await;
    // The first error may be the reset of the connection that there was.
    let _ = subject.create("two").await;
    let error = chain(&subject.create("two").await.unwrap_err());
    assert!(error.contains("refused"), "{error}");
    subject.proxy.accept().await;
    subject.create("two").await?;
    Ok(())
}

#[tokio::test]
async fn the_api_server_can_be_away_for_a_while() -> Result<()> {
    let subject = Subject::new().await?;
    let pause = Duration::from_millis(500);
    let away = Rule::new(Fault::Refuse(pause)).writes().once();
    subject.proxy.inject(away);
    let started = Instant::now();
    let error = chain(&subject.create("one").await.unwrap_err());
    assert!(error.contains("reset by peer"), "{error}");
    wait::until("the API server is back", async || {
        let created = subject.create("one").await;
        created.map_err(|error| chain(&error))
    })
    .await;
    assert!(started.elapsed() >= pause, "{:?}", started.elapsed());
    Ok(())
}

/// Watches a namespace with two objects until the watch ends; returns the names and error codes seen, and whether it
/// broke. (kube takes a broken watch for an ended one, so this reads the body itself.)
async fn watch_two(subject: &Subject) -> Result<(Vec<String>, bool)> {
    subject.create("one").await?;
    subject.create("two").await?;
    let selector = "fieldSelector=metadata.name!=kube-root-ca.crt";
    let url = format!(
        "{}?watch=1&resourceVersion=0&{selector}",
        subject.through.resource_url()
    );
    let mut body = get(subject, &url).await?.into_body().into_data_stream();
    let (mut text, mut broken) = (Vec::new(), false);
    while let Some(chunk) = body.next().await {
        match chunk {
            Ok(chunk) => text.extend(chunk),
            Err(_) => broken = true,
        }
    }
    let mut seen = Vec::new();
    for line in String::from_utf8(text)?.lines() {
        let object = &serde_json::from_str::<Value>(line)?["object"];
        let name = object["metadata"]["name"].as_str().map(str::to_owned);
        seen.push(name.unwrap_or_else(|| object["code"].to_string()));
    }
    Ok((seen, broken))
}

#[tokio::test]
async fn a_watch_ends_properly_after_some_events() -> Result<()> {
    let subject = Subject::new().await?;
    subject
        .proxy
        .inject(Rule::new(Fault::EndWatch { after: 1 }).watches());
    assert_eq!(watch_two(&subject).await?, (vec!["one".to_owned()], false));
    Ok(())
}

#[tokio::test]
async fn a_watch_is_cut_after_some_events() -> Result<()> {
    let subject = Subject::new().await?;
    subject
        .proxy
        .inject(Rule::new(Fault::CutWatch { after: 1 }).watches());
    assert_eq!(watch_two(&subject).await?, (vec!["one".to_owned()], true));
    Ok(())
}

#[tokio::test]
async fn a_watch_is_told_that_its_version_is_too_old() -> Result<()> {
    let subject = Subject::new().await?;
    subject
        .proxy
        .inject(Rule::new(Fault::ExpireWatch { after: 2 }).watches());
    let (seen, broken) = watch_two(&subject).await?;
    assert_eq!((seen.len(), broken), (3, false));
    assert_eq!(seen[2], "410");
    Ok(())
}
