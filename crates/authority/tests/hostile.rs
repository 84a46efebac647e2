//! Callers who are slow, rude or in the wrong place; and what changes while it runs.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

mod common;

use std::sync::Arc;
use std::time::Duration;

use authority::init;
use common::{House, document, tls, urn};
use reqwest::StatusCode;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

async fn connect(house: &House) -> TlsStream<TcpStream> {
    let mut config = tls(house.folder.path(), Some("alpha"));
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let addr = house.serving.as_ref().unwrap().addr;
    let stream = TcpStream::connect(addr).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}

/// Everything that comes until the other side ends the connection.
async fn rest(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    // However it is ended: with a farewell or without.
    let _ = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut bytes))
        .await
        .expect("the connection is ended");
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn a_caller_that_stops_in_the_middle_is_cut() {
    let house = House::open(|options| options.pause_max = Duration::from_millis(50)).await;
    let mut stream = connect(&house).await;
    let head = "POST /v1/fhir/DocumentReference HTTP/1.1\r\nhost: localhost\r\n\
                content-type: application/fhir+json\r\ncontent-length: 5000\r\n\r\n{\"resourceType\"";
    stream.write_all(head.as_bytes()).await.unwrap();
    let said = rest(&mut stream).await;
    assert!(said.starts_with("HTTP/1.1 408 "), "{said}");
    assert!(said.contains("OperationOutcome"), "{said}");
    // Half a request that ends is nothing; neither is anything stored.
    let mut stream = connect(&house).await;
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    rest(&mut stream).await;
    assert_eq!(house.client("alpha").search("_count=0").await.total, Some(0));
}

#[tokio::test]
async fn rude_callers_get_no_html_and_disturb_nobody() {
    let house = House::open(|_| {}).await;
    let long = format!("GET /v1/fhir/metadata HTTP/1.1\r\nx: {}\r\n\r\n", "a".repeat(2 << 20));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(5000));
    for request in [
        "\r\n\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET /\u{0}\u{1} HTTP/1.1\r\n\r\n",
        "POST /v1/fhir/DocumentReference HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        &long,
        &many,
    ] {
        let mut stream = connect(&house).await;
        // It may hang up before everything is written.
        let _ = stream.write_all(request.as_bytes()).await;
        let _ = stream.shutdown().await;
        let said = rest(&mut stream).await;
        assert!(!said.contains("<html"), "{said}");
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{said}");
    }
    let addr = house.serving.as_ref().unwrap().addr;
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0x16, 3, 1, 0xff, 0xff, 0, 0], &[0; 4096]] {
        let mut stream = TcpStream::connect(addr).await.unwrap();
        let _ = stream.write_all(garbage).await;
        let _ = stream.shutdown().await;
        assert!(!rest(&mut stream).await.contains("HTTP"), "nothing is said without TLS");
    }
    let lab = house.client("alpha");
    lab.deliver(&document(&urn(), "A", "1"), &urn()).await;
}

#[tokio::test]
async fn a_laboratory_can_be_added_while_it_runs() {
    let house = House::open(|_| {}).await;
    init(house.folder.path(), &["delta".to_owned()]).unwrap();
    let lab = house.client("delta");
    assert_eq!(lab.get("/metadata").await.status(), StatusCode::OK);
    lab.deliver(&document(&urn(), "A", "1"), &urn()).await;
    assert_eq!(house.client("alpha").search("").await.total, Some(0));
}

#[tokio::test]
async fn markup_and_odd_characters_are_data() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    for odd in ["<script>alert(1)</script>&amp;", "'; DROP TABLE document; --", "Ä\u{202e}😀 %00"]
    {
        let identifier = format!("urn:uuid:{odd}");
        let receipt = lab.deliver(&document(&urn(), odd, odd), &identifier).await.receipt.unwrap();
        for format in ["json", "xml"] {
            let query = format!("identifier={}&_format={format}", exchange::encode(&identifier));
            let page = lab.search(&query).await;
            assert_eq!(page.answers.len(), 1, "{odd}");
            assert_eq!(page.answers[0].receipt.as_deref(), Some(receipt.as_str()));
            assert_eq!(page.answers[0].identifiers, [identifier.as_str()]);
        }
    }
}
