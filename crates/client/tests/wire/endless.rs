//! Answers that are slow, endless or packed: time and memory stay bounded, and the doubt stays a
//! doubt.

use std::io::Write as _;
use std::time::{Duration, Instant};

use client::{Authority, HttpAuthority, Limits};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use testkit::{Figures, Reaction};

use crate::{IDENTIFIER, World, fhir, limits, outcome, reference, told, wrapped};

/// The limits of the product with its times a hundredth: 180 s in all and a byte every 10 s become
/// 1.8 s and 100 ms.
fn scaled() -> Limits {
    Limits { exchange: Duration::from_millis(1800), ..Limits::default() }
}

const BYTE_EVERY: Duration = Duration::from_millis(100);

/// What a machine under load may need beyond the limit.
const SLACK: Duration = Duration::from_secs(8);

/// The most memory that this process ever held, in MB, as the kernel counts it.
fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}

#[tokio::test]
async fn time_and_memory_are_bounded_whatever_comes() {
    let mut figures = Figures::start("slow-endless", "time_and_memory_are_bounded");
    let world = World::new();
    let warm = world.server(|_| fhir(500, "")).await;
    world.authority(&warm).submit(&wrapped()).await.unwrap_err();
    let before = peak_mb();
    let mut slowest = Duration::ZERO;
    for (reaction, code) in [
        (Reaction::Silence, "timeout"),
        (Reaction::SlowBody(BYTE_EVERY), "timeout"),
        (Reaction::SlowHead(BYTE_EVERY), "timeout"),
        (Reaction::EndlessBody, "too-large"),
        (Reaction::EndlessChunks, "too-large"),
        (Reaction::EndlessHeaders, "cut"),
        (Reaction::EndlessHints, "timeout"),
    ] {
        let chosen = reaction.clone();
        let server = world.server(move |_| chosen.clone()).await;
        let (endpoint, identity) = (world.endpoint(&server), world.identity());
        let authority = HttpAuthority::with_limits(&endpoint, Some(&identity), scaled()).unwrap();
        for question in [false, true] {
            let start = Instant::now();
            let fault = match question {
                false => authority.submit(&wrapped()).await.unwrap_err(),
                true => authority.find(IDENTIFIER).await.unwrap_err(),
            };
            let took = start.elapsed();
            // A report that left is in doubt; a question that failed is merely asked again.
            let class = if question { "transient" } else { "uncertain" };
            assert_eq!(told(&fault), (class, code), "{reaction:?}");
            assert!(took < scaled().exchange + SLACK, "{reaction:?} took {took:?}");
            slowest = slowest.max(took);
            figures.cases(1);
        }
        assert_eq!(server.bodies(), 1, "sent once: {reaction:?}");
    }
    let used = peak_mb().zip(before).map(|(after, before)| after - before);
    assert!(used.is_none_or(|used| used < 64.0), "{used:?} MB");
    figures.measure("s per exchange limited to 1.8 s", slowest.as_secs_f64());
    if let Some(used) = used {
        figures.measure("MB of memory", used);
    }
    figures.finish();
}

#[tokio::test]
async fn a_server_that_stops_reading_does_not_hold_us() {
    let mut figures = Figures::start("slow-endless", "a_server_that_stops_reading");
    let world = World::new();
    let server = world.server(|_| Reaction::Deaf).await;
    let (endpoint, identity) = (world.endpoint(&server), world.identity());
    let authority = HttpAuthority::with_limits(&endpoint, Some(&identity), scaled()).unwrap();
    let mut large = wrapped();
    // More than the buffers of two sockets hold, so that writing it comes to a standstill.
    large.body.resize(20_000_000, b' ');
    let start = Instant::now();
    let fault = authority.submit(&large).await.unwrap_err();
    assert_eq!(told(&fault), ("uncertain", "timeout"));
    assert!(start.elapsed() < scaled().exchange + SLACK);
    figures.cases(1);
    figures.finish();
}

/// A hundred megabytes of nothing, packed.
fn bomb<W: std::io::Write>(mut packer: W) -> W {
    let block = vec![b' '; 1_000_000];
    for _ in 0..100 {
        packer.write_all(&block).unwrap();
    }
    packer
}

#[tokio::test]
async fn packed_answers_are_never_unpacked() {
    let mut figures = Figures::start("slow-endless", "packed_answers_are_never_unpacked");
    let gzip = bomb(GzEncoder::new(Vec::new(), Compression::fast())).finish().unwrap();
    let deflate = bomb(ZlibEncoder::new(Vec::new(), Compression::fast())).finish().unwrap();
    let before = peak_mb();
    let good = reference("r-1", "completed", IDENTIFIER).into_bytes();
    let mut honest = GzEncoder::new(Vec::new(), Compression::fast());
    honest.write_all(&good).unwrap();
    let honest = honest.finish().unwrap();
    for (body, announced, code) in [
        (&gzip, Some("gzip"), "content-encoded"),
        (&gzip, None, "not-fhir"),
        (&deflate, Some("deflate"), "content-encoded"),
        (&deflate, None, "not-fhir"),
        (&gzip, Some("br"), "content-encoded"),
        (&gzip, Some("zstd"), "content-encoded"),
        (&gzip, Some("gzip, gzip, gzip"), "content-encoded"),
        (&honest, Some("gzip"), "content-encoded"),
        (&honest, None, "not-fhir"),
    ] {
        let mut reaction = Reaction::answer(201, "application/fhir+json", body.clone());
        if let Some(encoding) = announced {
            reaction = reaction.header("Content-Encoding", encoding);
        }
        let world = World::new();
        let server = world.server(move |_| reaction.clone()).await;
        let (endpoint, identity) = (world.endpoint(&server), world.identity());
        let authority = HttpAuthority::with_limits(&endpoint, Some(&identity), limits_of_product());
        let authority = authority.unwrap();
        let fault = authority.submit(&wrapped()).await.unwrap_err();
        assert_eq!(told(&fault), ("uncertain", code), "{announced:?}");
        assert_eq!(server.seen()[0].header("accept-encoding"), None, "nothing packed is asked for");
        let fault = authority.find(IDENTIFIER).await.unwrap_err();
        assert_eq!(told(&fault), ("transient", code), "{announced:?}");
        figures.cases(2);
    }
    let used = peak_mb().zip(before).map(|(after, before)| after - before);
    assert!(used.is_none_or(|used| used < 64.0), "{used:?} MB");
    if let Some(used) = used {
        figures.measure("MB of memory", used);
    }
    figures.finish();
}

fn limits_of_product() -> Limits {
    Limits { exchange: Duration::from_secs(30), ..Limits::default() }
}

/// The limit is the size of the answer, not a number beside it: one byte less is read, one more is
/// not.
#[tokio::test]
async fn the_limit_of_an_answer_is_exact() {
    let world = World::new();
    let most = limits().answer_bytes_max;
    for (size, expected) in
        [(most, ("uncertain", "no-receipt")), (most + 1, ("uncertain", "too-large"))]
    {
        let mut body = outcome("information").into_bytes();
        body.resize(size, b' ');
        let server = world.server(move |_| fhir(200, body.clone())).await;
        let fault = world.authority(&server).submit(&wrapped()).await.unwrap_err();
        assert_eq!(told(&fault), expected);
    }
}
