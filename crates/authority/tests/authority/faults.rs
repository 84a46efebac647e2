//! TLS refusals, and misbehaviour on request.

use std::time::Duration;

use crate::common::{Folder, House, Lab, client, document, tls, tls_of, urn, wrapped};
use authority::{Fault, FaultKind, Interaction, init};
use reqwest::{StatusCode, Version};
use tempfile::TempDir;

in_every_release![
    only_certificates_of_its_own_authority_are_let_in,
    a_certificate_that_is_not_registered_is_denied,
    an_answer_can_be_lost_before_or_after_the_document_is_stored,
    an_authority_on_a_bad_day,
];

/// Nothing about the wire.
mod newest {
    use super::preparing_again_keeps_what_is_there_and_adds_laboratories;

    on_every_store![preparing_again_keeps_what_is_there_and_adds_laboratories];
}

async fn only_certificates_of_its_own_authority_are_let_in() {
    let house = House::open(|_| {}).await;
    let own = house.folder.path();
    let foreign = TempDir::new().unwrap();
    init(foreign.path(), &["alpha".to_owned()]).unwrap();
    let url = format!("{}/metadata", house.base);
    let versions = [&rustls::version::TLS13, &rustls::version::TLS12];
    let none = client(tls(own, None)).get(&url).send().await;
    assert!(none.is_err(), "no certificate");
    let other =
        client(tls_of(own, Some("alpha"), foreign.path(), &versions)).get(&url).send().await;
    assert!(other.is_err(), "another authority's certificate");
    let distrusted = client(tls(foreign.path(), Some("alpha"))).get(&url).send().await;
    assert!(distrusted.is_err(), "a server that the client does not trust");
    for version in versions {
        let config = tls_of(own, Some("alpha"), own, &[version]);
        let answer = client(config).get(&url).send().await.unwrap();
        assert_eq!((answer.status(), answer.version()), (StatusCode::OK, Version::HTTP_2));
    }
    let mut old = tls(own, Some("alpha"));
    old.alpn_protocols = vec![b"http/1.1".to_vec()];
    let answer = client(old).get(url.replace("127.0.0.1", "localhost")).send().await.unwrap();
    assert_eq!((answer.status(), answer.version()), (StatusCode::OK, Version::HTTP_11));
}

async fn a_certificate_that_is_not_registered_is_denied() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    house.folder.execute("DELETE FROM certificate").unwrap();
    let answer = lab.get("/DocumentReference").await;
    assert_eq!(answer.status(), StatusCode::FORBIDDEN);
    assert_eq!(crate::common::resource(answer).await.root().text("issue.code"), Some("forbidden"));
}

async fn preparing_again_keeps_what_is_there_and_adds_laboratories() {
    let folder = Folder::new();
    let first = init(folder.path(), &["alpha".to_owned()]).unwrap();
    let read = |path: &std::path::Path| std::fs::read(path).unwrap();
    let kept = [first.ca.clone(), first.pilots[0].p12.clone(), first.pilots[0].password.clone()];
    let before: Vec<_> = kept.iter().map(|path| read(path)).collect();
    let second = init(folder.path(), &["alpha".to_owned(), "gamma".to_owned()]).unwrap();
    assert_eq!(kept.iter().map(|path| read(path)).collect::<Vec<_>>(), before);
    let created: Vec<_> = second.pilots.iter().map(|pilot| pilot.created).collect();
    assert_eq!(created, [false, true]);
    #[cfg(unix)]
    for name in ["ca.key", "server.key", "pilot/gamma.p12", "pilot/gamma.password"] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    for name in ["", "../x", "a/b", ".x", "ä"] {
        assert!(init(folder.path(), &[name.to_owned()]).is_err(), "{name}");
    }
    let house = House::open_in(folder, |_| {}).await;
    assert_eq!(house.client("gamma").get("/metadata").await.status(), StatusCode::OK);
}

async fn send(lab: &Lab, identifier: &str) -> reqwest::Result<reqwest::Response> {
    let (body, format) = wrapped(&document(&urn(), "A", "1"), identifier);
    let url = format!("{}/DocumentReference", lab.base);
    lab.client.post(url).header("content-type", format.media_type()).body(body).send().await
}

async fn an_answer_can_be_lost_before_or_after_the_document_is_stored() {
    let house = House::open(|_| {}).await;
    for protocol in ["h2", "http/1.1"] {
        let mut config = tls(house.folder.path(), Some("alpha"));
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let lab = Lab { client: client(config), base: house.base.clone() };
        for (kind, stored) in [(FaultKind::CutAfterCommit, 1), (FaultKind::CutBeforeCommit, 0)] {
            house.faults().add(Fault::once(Interaction::Create, 1, kind));
            let identifier = urn();
            assert!(send(&lab, &identifier).await.is_err(), "{protocol}");
            let page = lab.search(&format!("identifier={identifier}")).await;
            assert_eq!(page.total, Some(stored), "{protocol}");
        }
        assert_eq!(send(&lab, &urn()).await.unwrap().status(), StatusCode::CREATED);
    }
}

async fn an_authority_on_a_bad_day() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let status = FaultKind::Status { code: 503, retry_after: Some("7".to_owned()) };
    house.faults().add(Fault::once(Interaction::Create, 1, status));
    house.faults().add(Fault::once(Interaction::Create, 2, FaultKind::Html));
    house.faults().add(Fault::once(Interaction::Create, 3, FaultKind::EmptyBody));
    house.faults().add(Fault::once(Interaction::Create, 4, FaultKind::Truncated));
    let busy = send(&lab, &urn()).await.unwrap();
    assert_eq!(
        (busy.status().as_u16(), &busy.headers()["retry-after"]),
        (503, &"7".parse().unwrap())
    );
    let portal = send(&lab, &urn()).await.unwrap();
    assert_eq!(
        (portal.status(), &portal.headers()["content-type"]),
        (StatusCode::OK, &"text/html".parse().unwrap())
    );
    let empty = send(&lab, &urn()).await.unwrap();
    assert_eq!((empty.status(), empty.bytes().await.unwrap().len()), (StatusCode::CREATED, 0));
    let half = send(&lab, &urn()).await.unwrap().bytes().await.unwrap();
    assert!(serde_json::from_slice::<serde_json::Value>(&half).is_err());
    assert_eq!(lab.search("").await.total, Some(2));
    let identifier = urn();
    assert_eq!(send(&lab, &identifier).await.unwrap().status(), StatusCode::CREATED);
    let lag = FaultKind::SearchLag(Duration::from_secs(3600));
    house.faults().add(Fault::always(Interaction::Search, lag));
    assert_eq!(lab.search(&format!("identifier={identifier}")).await.total, Some(0));
    house.faults().clear();
    assert_eq!(lab.search(&format!("identifier={identifier}")).await.total, Some(1));
}
