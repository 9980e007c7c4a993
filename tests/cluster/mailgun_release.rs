//! The embedded release of the Mailgun provider on a real API server, with the real managers of Cluster API.

use anyhow::{Context, Result};
use capictl::controllers::mailgun::api::MailgunCluster;
use capictl::controllers::mailgun::release;
use k8s_openapi::api::authorization::v1::SubjectAccessReview;
use kube::api::PostParams;
use kube::{Api, Client};
use serde_json::json;

use crate::support::control_plane::ControlPlane;
use crate::support::environment::{Environment, Output};
use crate::support::kubelet::{Manager, Misbehaviour};
use crate::support::wait;

const MANAGER: &str = "cluster-api-provider-mailgun-controller-manager";
const NAMESPACE: &str = "cluster-api-provider-mailgun-system";
const SERVICE_ACCOUNT: &str = "system:serviceaccount:cluster-api-provider-mailgun-system:cluster-api-provider-mailgun-controller-manager";

fn environment(control_plane: &ControlPlane) -> Result<Environment> {
    let mut environment = Environment::with_kubeconfig(control_plane.kubeconfig())?;
    environment
        .set("MAILGUN_API_KEY", "key-0123456789")
        .set("MAILGUN_DOMAIN", "mg.example.com")
        .set("MAIL_RECIPIENT", "someone@example.com");
    Ok(environment)
}

async fn apply(environment: &Environment, manifest: &str, namespace: &str) -> Result<Output> {
    let file = environment.write("manifest.yaml", manifest)?;
    let file = file.display().to_string();
    environment
        .kubectl(&["apply", "-n", namespace, "-f", &file])
        .await
}

/// Reads one field of the object that `kubectl get` names.
async fn field(environment: &Environment, object: &[&str], path: &str) -> Result<String> {
    let output = format!("jsonpath={{{path}}}");
    let arguments = [&["get"], object, &["-o", &output]].concat();
    Ok(environment.kubectl(&arguments).await?.success())
}

#[tokio::test]
async fn init_says_how_to_come_to_an_image_that_nobody_publishes() -> Result<()> {
    let control_plane = ControlPlane::start().await?;
    let misbehaviour = Misbehaviour::ImagePullError {
        message: "connection refused".into(),
    };
    control_plane.kubelet().misbehave(MANAGER, misbehaviour);
    let mut environment = environment(&control_plane)?;
    let image = release::image();
    let ways = release::ways_to_run(&image);

    let init = ["init", "--infrastructure", "mailgun"];
    let wait = ["--wait-providers", "--wait-provider-timeout", "1"];
    let failed = environment.capictl(&[&init[..], &wait].concat()).await?;
    let told = failed.failure();
    assert!(told.contains("is published nowhere"), "{told}");
    for way in &ways {
        assert!(told.contains(&format!("  - {way}\n")), "{told}");
        assert!(told.contains(&format!("hint: {way}\n")), "{told}");
    }

    // What was installed is complete: the settings are where the Deployment looks for them.
    let settings = format!(
        "{}-mailgun-config",
        MANAGER.trim_end_matches("-controller-manager")
    );
    let of = |kind| [kind, "-n", NAMESPACE, &settings];
    assert_eq!(
        field(&environment, &of("secret"), ".data.api_key").await?,
        "a2V5LTAxMjM0NTY3ODk="
    );
    assert_eq!(
        field(&environment, &of("configmap"), ".data.mailgun_domain").await?,
        "mg.example.com"
    );
    assert_eq!(
        field(&environment, &of("configmap"), ".data.mail_recipient").await?,
        "someone@example.com"
    );

    // The way by the `images:` key: a rerun of `init` leaves what is there, applying the components does not.
    let mut config = std::fs::read_to_string(environment.config())?;
    config += "images: {infrastructure-mailgun: {repository: registry.example/mine}}\n";
    environment.write(".config/cluster-api/clusterctl.yaml", &config)?;
    let components = environment
        .capictl(&["generate", "provider", "-i", "mailgun"])
        .await?
        .success();
    apply(&environment, &components, NAMESPACE).await?.success();
    let path = ".spec.template.spec.containers[0].image";
    let used = field(
        &environment,
        &["deployment", "-n", NAMESPACE, MANAGER],
        path,
    )
    .await?;
    let expected = format!(
        "registry.example/mine/{}:{}",
        release::IMAGE_NAME,
        release::VERSION
    );
    assert_eq!(used, expected);

    // Who has named an image of his own is not told about the other one.
    let fresh = ControlPlane::start().await?;
    environment.set("KUBECONFIG", fresh.kubeconfig().display().to_string());
    let installed = environment.capictl(&init).await?;
    assert!(installed.status.success(), "{installed}");
    assert!(
        !installed.stderr.contains("published nowhere"),
        "{installed}"
    );
    Ok(())
}

#[tokio::test]
async fn the_core_manager_takes_the_samples_the_template_and_the_class() -> Result<()> {
    let managers = [
        Manager::Core,
        Manager::KubeadmBootstrap,
        Manager::KubeadmControlPlane,
    ];
    let control_plane = ControlPlane::start_with_managers(&managers).await?;
    let environment = environment(&control_plane)?;
    let init = ["init", "--infrastructure", "mailgun", "--wait-providers"];
    environment.capictl(&init).await?.success();

    let template = [
        "generate",
        "cluster",
        "hello",
        "--infrastructure",
        "mailgun",
    ];
    let version = [
        "--flavor",
        "clusterclass",
        "--kubernetes-version",
        "v1.36.0",
    ];
    let plain = environment.capictl(&template).await?.success();
    let class = environment
        .capictl(&[&template[..], &version].concat())
        .await?
        .success();
    let tutorial = include_str!("../../templates/mailgun/samples/tutorial.yaml");
    let today = include_str!("../../templates/mailgun/samples/today.yaml");
    for (namespace, manifest) in [
        ("plain", plain.as_str()),
        ("class", &class),
        ("today", today),
        (NAMESPACE, tutorial),
    ] {
        if namespace != NAMESPACE {
            environment
                .kubectl(&["create", "namespace", namespace])
                .await?
                .success();
        }
        let manifest = manifest.replace("namespace: default", &format!("namespace: {namespace}"));
        apply(&environment, &manifest, namespace).await?.success();
        let object = owned(&control_plane, namespace).await?;
        assert_eq!(
            object.spec.request,
            "Please make me a cluster, with sugar on top?"
        );
    }
    Ok(())
}

/// Waits until Cluster API has made a Cluster the owner of the namespace's one MailgunCluster, and returns that.
async fn owned(control_plane: &ControlPlane, namespace: &str) -> Result<MailgunCluster> {
    let api: Api<MailgunCluster> = Api::namespaced(control_plane.client().await?, namespace);
    let what = format!("a MailgunCluster of a Cluster in `{namespace}`");
    let found = wait::until(&what, async || {
        let list = api.list(&Default::default()).await;
        let list = list.map_err(|error| error.to_string())?.items;
        let is_owned = |object: &&MailgunCluster| {
            let owners = object.metadata.owner_references.iter().flatten();
            owners.into_iter().any(|owner| owner.kind == "Cluster")
        };
        list.iter()
            .find(is_owned)
            .cloned()
            .ok_or_else(|| format!("{list:?}"))
    })
    .await;
    let label = "cluster.x-k8s.io/cluster-name";
    found
        .metadata
        .labels
        .as_ref()
        .and_then(|labels| labels.get(label))
        .context(label)?;
    Ok(found)
}

const GROUP: &str = "infrastructure.cluster.x-k8s.io";
const CRDS: &str = "apiextensions.k8s.io customresourcedefinitions";

/// Verb, group with resource, and subresource or name, all that the manager needs at least.
const MAY: [&str; 9] = [
    "update {GROUP} mailgunclusters",
    "patch {GROUP} mailgunclusters/status",
    "update {GROUP} mailgunclusters/finalizers",
    "watch cluster.x-k8s.io clusters",
    "list cluster.x-k8s.io machines",
    "watch {GROUP} mailgunmachines",
    "patch {GROUP} mailgunmachines/status",
    "create events.k8s.io events",
    "get {CRDS} mailgunclusters.infrastructure.cluster.x-k8s.io",
];
/// Who may read Secrets could read the bootstrap data of all machines.
const MAY_NOT: [&str; 8] = [
    "patch cluster.x-k8s.io clusters",
    "patch cluster.x-k8s.io clusters/status",
    "get core secrets",
    "list core configmaps",
    "create {GROUP} mailgunmachines",
    "list {CRDS}",
    "get {CRDS} clusters.cluster.x-k8s.io",
    "update coordination.k8s.io leases",
];

#[tokio::test]
async fn the_manager_may_do_its_work_and_no_more() -> Result<()> {
    let control_plane = ControlPlane::start().await?;
    let environment = environment(&control_plane)?;
    let init = ["init", "--infrastructure", "mailgun"];
    environment.capictl(&init).await?.success();
    let client = control_plane.client().await?;
    for (expected, requests) in [(true, &MAY[..]), (false, &MAY_NOT[..])] {
        for request in requests {
            let allowed = is_allowed(&client, request, None).await?;
            assert_eq!(allowed, expected, "{request}");
        }
    }
    let lease = "update coordination.k8s.io leases";
    assert!(is_allowed(&client, lease, Some(NAMESPACE)).await?);
    Ok(())
}

/// Asks whether the manager's ServiceAccount may do what [`MAY`] describes.
async fn is_allowed(client: &Client, request: &str, namespace: Option<&str>) -> Result<bool> {
    let request = request.replace("{GROUP}", GROUP).replace("{CRDS}", CRDS);
    let words: Vec<&str> = request.split(' ').collect();
    let (resource, subresource) = words[2].split_once('/').unwrap_or((words[2], ""));
    let review = serde_json::from_value(json!({
        "metadata": {},
        "spec": {
            "user": SERVICE_ACCOUNT,
            "resourceAttributes": {
                "verb": words[0],
                "group": words[1].trim_start_matches("core"),
                "resource": resource,
                "subresource": subresource,
                "name": words.get(3).copied().unwrap_or_default(),
                "namespace": namespace.unwrap_or_default(),
            },
        },
    }))?;
    let api: Api<SubjectAccessReview> = Api::all(client.clone());
    let answer = api.create(&PostParams::default(), &review).await?;
    Ok(answer.status.context("a review has an answer")?.allowed)
}
