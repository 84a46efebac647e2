//! Proxies: only the endpoint's own, and each refusal with its reason.

use client::{Authority, ProbeOutcome, Why, probe};
use testkit::{Figures, Reaction, ScriptedServer, ScriptedTls, TestCa};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::{IDENTIFIER, World, fhir, reference, told, wrapped};

/// A proxy that connects to wherever it is asked, and tells what it was asked.
async fn open_proxy() -> (String, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://name:ge%20heim@{}", listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let (mut inner, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(inner.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap();
        let target = head.split(' ').nth(1).unwrap().to_owned();
        let mut outer = TcpStream::connect(target).await.unwrap();
        inner.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await.unwrap();
        // Ends when either side closes; how does not matter here.
        let _ = copy_bidirectional(&mut inner, &mut outer).await;
        head
    });
    (url, task)
}

#[tokio::test]
async fn a_proxy_carries_the_same_tls() {
    let world = World::new();
    let server = world.server(|_| fhir(201, reference("r-1", "in-progress", IDENTIFIER))).await;
    let (url, proxy) = open_proxy().await;
    let mut endpoint = world.endpoint(&server);
    endpoint.proxy = Some(url.parse().unwrap());
    let authority = world.authority_of(&endpoint);
    authority.submit(&wrapped()).await.unwrap();
    assert_eq!(server.seen()[0].client.as_ref(), Some(&world.laboratory.chain[0]));
    drop(authority);
    let head = proxy.await.unwrap();
    assert!(head.starts_with("CONNECT localhost:"), "{head}");
    // name:ge heim
    assert!(head.to_ascii_lowercase().contains("proxy-authorization: basic"), "{head}");
    assert!(head.contains("bmFtZTpnZSBoZWlt"), "{head}");
}

#[tokio::test]
async fn a_proxy_that_refuses_is_named() {
    let mut figures = Figures::start("redirect-proxy", "a_proxy_that_refuses_is_named");
    let world = World::new();
    let server = world.server(|_| fhir(201, reference("r-1", "in-progress", IDENTIFIER))).await;
    for (status, class, why) in [
        (407, "locked", Why::ProxyAuthentication),
        (403, "locked", Why::ProxyRefused { status: 403 }),
        (502, "locked", Why::ProxyRefused { status: 502 }),
    ] {
        let answer = Reaction::answer(status, "text/html", "<html>proxy</html>");
        let proxy = ScriptedServer::start_plain(move |_| answer.clone()).await;
        let mut endpoint = world.endpoint(&server);
        endpoint.proxy = Some(format!("http://{}", proxy.address()).parse().unwrap());
        let fault = world.authority_of(&endpoint).submit(&wrapped()).await.unwrap_err();
        assert_eq!((told(&fault).0, fault.why()), (class, Some(&why)));
        assert!(proxy.seen().iter().all(|seen| seen.method == "CONNECT"));
        assert_eq!((proxy.body_bytes(), server.seen().len()), (0, 0));
        let rows = probe(&endpoint, Some(&world.identity())).await;
        assert_eq!(rows[3].outcome, ProbeOutcome::Failed { why });
        figures.cases(1);
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let mut endpoint = world.endpoint(&server);
    endpoint.proxy = Some(dead.parse().unwrap());
    let fault = world.authority_of(&endpoint).submit(&wrapped()).await.unwrap_err();
    assert_eq!(told(&fault), ("transient", "proxy-unreachable"));
    let rows = probe(&endpoint, None).await;
    assert_eq!(rows[2].outcome, ProbeOutcome::Failed { why: Why::ProxyUnreachable });
    figures.cases(1);
    figures.finish();
}

/// A proxy that opens the encryption shows a certificate of its own.
#[tokio::test]
async fn a_proxy_that_reads_along_gets_nothing() {
    let mut figures = Figures::start("tls", "a_proxy_that_reads_along");
    let world = World::new();
    let inspection = TestCa::new("Firmenproxy");
    let own = ScriptedTls::mutual(inspection.loopback_server(), inspection.der());
    let reader = ScriptedServer::start(own, |_| fhir(201, "{}")).await;
    // Where it is asked to connect to the authority, it connects to itself.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let target = reader.address();
    tokio::spawn(async move {
        while let Ok((mut inner, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(inner.read_u8().await.unwrap());
                }
                let mut outer = TcpStream::connect(target).await.unwrap();
                inner.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await.unwrap();
                let _ = copy_bidirectional(&mut inner, &mut outer).await;
            });
        }
    });
    let mut endpoint = crate::endpoint("https://localhost:9/v1/fhir", &world.ca);
    endpoint.proxy = Some(url.parse().unwrap());
    let fault = world.authority_of(&endpoint).submit(&wrapped()).await.unwrap_err();
    let reason = "unknown-issuer-behind-proxy".to_owned();
    assert_eq!(
        (told(&fault).0, fault.why()),
        ("locked", Some(&Why::TlsServerUntrusted { reason }))
    );
    assert_eq!((reader.seen().len(), reader.body_bytes()), (0, 0));
    figures.cases(1);
    figures.measure("body bytes", 0.0);
    figures.finish();
}
