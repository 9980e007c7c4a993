//! The images of Deployments and DaemonSets. Other kinds that run containers are left alone, as clusterctl does.

use serde_json::Value;

use crate::model::Object;
use crate::model::image::ImageOverrides;

use super::Error;

/// Where the containers are, in the order in which their images are listed.
const CONTAINERS: [&str; 2] = [
    "/spec/template/spec/containers",
    "/spec/template/spec/initContainers",
];

/// Replaces the images that overrides of `component` apply to.
///
/// # Errors
/// An image cannot be read, before or after.
pub fn override_images(
    objects: &mut [Object],
    component: &str,
    overrides: &ImageOverrides,
) -> Result<(), Error> {
    for object in objects.iter_mut().filter(|object| is_workload(object)) {
        let name = object.to_string();
        for pointer in CONTAINERS {
            let containers = object.pointer_mut(pointer).and_then(Value::as_array_mut);
            for container in containers.into_iter().flatten() {
                override_image(container, component, overrides, &name)?;
            }
        }
    }
    Ok(())
}

/// Returns the images in the order of the objects, repetitions included.
pub fn list_images(objects: &[Object]) -> Vec<String> {
    objects
        .iter()
        .filter(|object| is_workload(object))
        .flat_map(|object| CONTAINERS.map(|pointer| object.pointer(pointer)))
        .flatten()
        .filter_map(Value::as_array)
        .flatten()
        .map(|container| container["image"].as_str().unwrap_or_default().to_owned())
        .collect()
}

fn is_workload(object: &Object) -> bool {
    matches!(object.kind(), "Deployment" | "DaemonSet")
}

fn override_image(
    container: &mut Value,
    component: &str,
    overrides: &ImageOverrides,
    object: &str,
) -> Result<(), Error> {
    let image = container["image"].as_str().unwrap_or_default();
    let replaced = overrides
        .apply(component, image)
        .map_err(|source| Error::Image {
            object: object.to_owned(),
            container: container["name"].as_str().unwrap_or_default().to_owned(),
            source,
        })?;
    if replaced != image {
        container["image"] = replaced.into();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::objects;
    use super::*;

    #[test]
    fn init_containers_follow_and_other_kinds_are_left_alone() {
        let pod = |kind: &str| {
            json!({"kind": kind, "metadata": {"name": "w"}, "spec": {"template": {"spec": {
                "initContainers": [{"image": "r.io/init:1"}],
                "containers": [{"name": "c", "image": "r.io/a:1"}, {"image": "r.io/b:1"}]}}}})
        };
        let mut objects = objects(json!([pod("DaemonSet"), pod("StatefulSet")]));
        let overrides: ImageOverrides =
            serde_json::from_value(json!({"all": {"tag": "2"}})).unwrap();
        override_images(&mut objects, "x", &overrides).unwrap();
        assert_eq!(
            list_images(&objects),
            ["r.io/a:2", "r.io/b:2", "r.io/init:2"]
        );
        assert_eq!(
            objects[1].text("/spec/template/spec/containers/0/image"),
            "r.io/a:1"
        );
    }

    #[test]
    fn an_error_names_object_and_container() {
        let mut objects = objects(json!([
            {"kind": "Deployment", "metadata": {"name": "d", "namespace": "n"},
             "spec": {"template": {"spec": {"containers": [{"name": "manager", "image": "${I}"}]}}}}
        ]));
        let overrides: ImageOverrides = serde_json::from_value(json!({"x": {"tag": "2"}})).unwrap();
        let error = override_images(&mut objects, "x", &overrides).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot use the image of container `manager` of `Deployment n/d`"
        );
    }
}
