//! HTTP/2 abused: a server that resets, goes away, floods or breaks the rules. Frames are written
//! by hand (RFC 9113), because a library would refuse to.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use client::{Authority, HttpAuthority, Limits};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use testkit::Figures;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::{World, endpoint, limits, told, wrapped};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// `:status: 200`, from the static table of HPACK.
const STATUS_200: &[u8] = &[0x88];

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = length[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// `last` stream that was or may have been processed, and an error code.
fn goaway(last: u32, code: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
}

/// What the server does once it has the whole request.
#[derive(Clone)]
enum Abuse {
    /// Once, then it listens on.
    Once(Vec<u8>),
    /// Once, then it closes.
    Last(Vec<u8>),
    /// Once, then the second for ever.
    Flood(Vec<u8>, Vec<u8>),
}

#[derive(Default)]
struct Counts {
    connections: AtomicUsize,
    requests: AtomicUsize,
}

async fn server(world: &World, abuse: Abuse) -> (String, Arc<Counts>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let own = world.ca.loopback_server();
    let mut roots = RootCertStore::empty();
    roots.add(world.ca.der().clone()).unwrap();
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(own.chain, own.key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://localhost:{}/v1/fhir", listener.local_addr().unwrap().port());
    let counts = Arc::new(Counts::default());
    let counting = Arc::clone(&counts);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counting.connections.fetch_add(1, Ordering::SeqCst);
            let (acceptor, abuse) = (acceptor.clone(), abuse.clone());
            let counting = Arc::clone(&counting);
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let _ = abused(stream, abuse, &counting).await;
            });
        }
    });
    (base, counts)
}

async fn abused(
    mut stream: TlsStream<TcpStream>,
    abuse: Abuse,
    counts: &Counts,
) -> std::io::Result<()> {
    let mut preface = [0_u8; 24];
    stream.read_exact(&mut preface).await?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await?;
    loop {
        let mut head = [0_u8; 9];
        stream.read_exact(&mut head).await?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut payload).await?;
        if matches!(head[3], DATA | HEADERS) && head[4] & END_STREAM != 0 {
            break;
        }
    }
    counts.requests.fetch_add(1, Ordering::SeqCst);
    let (Abuse::Once(first) | Abuse::Last(first) | Abuse::Flood(first, _)) = &abuse;
    stream.write_all(first).await?;
    stream.flush().await?;
    match abuse {
        Abuse::Last(_) => stream.shutdown().await,
        Abuse::Once(_) => loop {
            stream.read_u8().await?;
        },
        Abuse::Flood(_, again) => loop {
            stream.write_all(&again).await?;
        },
    }
}

/// The most memory that this process ever held, in MB.
fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}

fn abuses() -> Vec<(&'static str, Abuse)> {
    let reset = |code: u32| frame(RST_STREAM, 0, 1, &code.to_be_bytes());
    let open = frame(HEADERS, END_HEADERS, 1, STATUS_200);
    let unfinished = frame(HEADERS, 0, 1, STATUS_200);
    // One header of 40 bytes, not indexed: 0x00, length, name, length, value.
    let header = [&[0, 4][..], b"x-aa", &[34], &[b'v'; 34]].concat();
    let settings = frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 255, 255]);
    vec![
        ("reset: not processed", Abuse::Once(reset(7))),
        ("reset: internal error", Abuse::Once(reset(2))),
        ("reset: no error", Abuse::Once(reset(0))),
        ("reset: HTTP/1.1 required", Abuse::Once(reset(13))),
        ("reset within the answer", Abuse::Once([open.clone(), reset(2)].concat())),
        ("goes away before processing", Abuse::Last(goaway(0, 0))),
        ("goes away after processing", Abuse::Last(goaway(1, 0))),
        ("goes away: calm down", Abuse::Last(goaway(0, 11))),
        ("goes away within the answer", Abuse::Last([open.clone(), goaway(1, 0)].concat())),
        ("closes without a word", Abuse::Last(Vec::new())),
        ("a promise nobody asked for", Abuse::Once(frame(PUSH_PROMISE, 4, 1, &[0, 0, 0, 2, 0x82]))),
        ("a frame larger than agreed", Abuse::Once(frame(DATA, 0, 1, &vec![0; 60_000]))),
        (
            "a window beyond its bounds",
            Abuse::Once(frame(WINDOW_UPDATE, 0, 0, &0x7fff_ffff_u32.to_be_bytes()).repeat(2)),
        ),
        ("an answer on a stream of its own", Abuse::Once(frame(HEADERS, 5, 7, STATUS_200))),
        ("nonsense in HPACK", Abuse::Once(frame(HEADERS, 5, 1, &[0xff; 40]))),
        ("HTTP/1.1 after all", Abuse::Last(b"HTTP/1.1 200 OK\r\n\r\n".to_vec())),
        ("settings for ever", Abuse::Flood(Vec::new(), settings.repeat(500))),
        ("pings for ever", Abuse::Flood(Vec::new(), frame(PING, 0, 0, &[0; 8]).repeat(500))),
        ("empty data for ever", Abuse::Flood(open.clone(), frame(DATA, 0, 1, &[]).repeat(500))),
        ("data beyond the window", Abuse::Flood(open, frame(DATA, 0, 1, &[b' '; 16_000]))),
        (
            "headers for ever",
            Abuse::Flood(unfinished, frame(CONTINUATION, 0, 1, &header.repeat(300))),
        ),
        ("resets for ever", Abuse::Flood(reset(2), reset(2).repeat(500))),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn http_2_abused_is_bounded_and_stays_a_doubt() {
    let mut figures = Figures::start("slow-endless", "http_2_abused");
    let world = World::new();
    let bounds = Limits { exchange: Duration::from_millis(1800), ..limits() };
    let (before, own) = (peak_mb(), world.identity());
    for (name, abuse) in abuses() {
        let (base, counts) = server(&world, abuse).await;
        let authority =
            HttpAuthority::with_limits(&endpoint(&base, &world.ca), Some(&own), bounds).unwrap();
        let start = Instant::now();
        let fault = authority.submit(&wrapped()).await.expect_err(name);
        let took = start.elapsed();
        assert_eq!(told(&fault).0, "uncertain", "{name}: {fault:?}");
        assert!(took < bounds.exchange + Duration::from_secs(8), "{name} took {took:?}");
        let sent = counts.requests.load(Ordering::SeqCst);
        assert_eq!(sent, 1, "{name}: the report left once");
        assert_eq!(counts.connections.load(Ordering::SeqCst), 1, "{name}");
        figures.cases(1);
        figures.duplicates(u64::try_from(sent - 1).unwrap());
    }
    let used = peak_mb().zip(before).map(|(after, before)| after - before);
    assert!(used.is_none_or(|used| used < 64.0), "{used:?} MB");
    if let Some(used) = used {
        figures.measure("MB of memory", used);
    }
    figures.finish();
}
