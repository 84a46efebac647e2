//! Callers who are slow, rude or in the wrong place; and what changes while it runs.

use std::sync::Arc;
use std::time::Duration;

use crate::common::{House, connect, document, tls_of, urn, wrapped};
use authority::init;
use reqwest::StatusCode;
use testkit::Figures;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

in_every_release![
    markup_and_odd_characters_are_data,
    a_broken_request_is_told_what_is_wrong_with_it,
    an_address_can_be_written_in_every_form_that_means_it,
];

/// Nothing that a release says.
mod newest {
    use super::{
        a_caller_that_stops_in_the_middle_is_cut, a_laboratory_can_be_added_while_it_runs,
        an_answer_that_nobody_reads_ends, callers_that_say_no_more_keep_nobody_out,
        one_laboratory_leaves_places_for_others, rude_callers_get_no_html_and_disturb_nobody,
        silent_connections_keep_nobody_out, the_answer_to_a_request_full_of_flaws_is_no_flood,
        while_it_ends_what_was_begun_is_finished_and_others_are_told_to_come_back,
    };

    on_every_store![
        silent_connections_keep_nobody_out,
        callers_that_say_no_more_keep_nobody_out,
        an_answer_that_nobody_reads_ends,
        the_answer_to_a_request_full_of_flaws_is_no_flood,
        one_laboratory_leaves_places_for_others,
        a_caller_that_stops_in_the_middle_is_cut,
        rude_callers_get_no_html_and_disturb_nobody,
        a_laboratory_can_be_added_while_it_runs,
        while_it_ends_what_was_begun_is_finished_and_others_are_told_to_come_back,
    ];
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

/// Memory of this process that is in use, in bytes.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes =
        line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) << 10
}

/// More connections than the service has places for, by which nothing is said; from several
/// addresses where the system has more than one of its own.
async fn silent(house: &House, count: usize) -> Vec<TcpStream> {
    let addr = house.serving.as_ref().unwrap().addr;
    let mut streams = Vec::new();
    for number in 0..count {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        if cfg!(target_os = "linux") {
            let last = u8::try_from(number % 40).unwrap() + 2;
            socket.bind(([127, 0, 0, last], 0).into()).unwrap();
        }
        streams.push(socket.connect(addr).await.unwrap());
    }
    streams
}

async fn silent_connections_keep_nobody_out() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    assert_eq!(lab.get("/metadata").await.status(), StatusCode::OK);
    let before = memory();
    let mut silent = silent(&house, 1_200).await;
    for _ in 0..3 {
        let began = std::time::Instant::now();
        // A client of its own each time: a new connection.
        let answer = house.client("beta").get("/metadata").await;
        assert_eq!(answer.status(), StatusCode::OK);
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    }
    assert_eq!(lab.get("/metadata").await.status(), StatusCode::OK, "who is known stays");
    let grown = memory().saturating_sub(before);
    assert!(grown < 100 << 20, "{grown} bytes");
    // Whoever says nothing within two seconds is let go, also when nobody else comes.
    let began = std::time::Instant::now();
    let mut last = silent.pop().unwrap();
    let told = tokio::time::timeout(Duration::from_secs(8), last.read(&mut [0; 8])).await;
    assert!(!matches!(told, Ok(Ok(1..))) && told.is_ok(), "{:?}", began.elapsed());
}

/// Connections that begin and say no more, from the address of the laboratory itself, as behind a
/// balancer: by a byte, and by a whole beginning.
async fn callers_that_say_no_more_keep_nobody_out() {
    let house = House::open(|_| {}).await;
    let addr = house.serving.as_ref().unwrap().addr;
    let own = house.folder.path();
    let config = tls_of(own, Some("alpha"), own, &[&rustls::version::TLS13]);
    let name = rustls_pki_types::ServerName::try_from("localhost").unwrap();
    let mut hello = Vec::new();
    let mut client = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    client.write_tls(&mut hello).unwrap();
    for beginning in [&hello[..1], &hello] {
        let mut streams = Vec::new();
        for _ in 0..300 {
            let mut stream = TcpStream::connect(addr).await.unwrap();
            stream.write_all(beginning).await.unwrap();
            streams.push(stream);
        }
        for _ in 0..3 {
            let began = std::time::Instant::now();
            let answer = house.client("beta").get("/metadata").await;
            assert_eq!(answer.status(), StatusCode::OK);
            assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        }
    }
}

/// An answer that nobody reads keeps the place of its request, and not for ever.
async fn an_answer_that_nobody_reads_ends() {
    let house = House::open(|options| {
        options.pause_max = Duration::from_secs(2);
        options.limits.open_requests = 1;
    })
    .await;
    // Its connection stands before: what is asked while the other answer waits is asked at once.
    let lab = house.client("alpha");
    assert_eq!(lab.get("/metadata").await.status(), StatusCode::OK);
    let plan = "[[fault]]\non = \"capabilities\"\ntimes = 1\nkind = \"endless-body\"\n";
    house.faults().replace(authority::FaultScript::parse(plan).unwrap());
    let mut unread = connect(&house).await;
    let request = b"GET /v1/fhir/metadata HTTP/1.1\r\nhost: localhost\r\n\r\n";
    unread.write_all(request).await.unwrap();
    unread.read_exact(&mut [0; 1]).await.unwrap();
    let mut seen = Vec::new();
    while seen.last() != Some(&StatusCode::OK) {
        seen.push(lab.get("/metadata").await.status());
    }
    assert_eq!(seen[0], StatusCode::TOO_MANY_REQUESTS, "its place is taken: {seen:?}");
}

/// What is wrong in it is told, and not many times over.
async fn the_answer_to_a_request_full_of_flaws_is_no_flood() {
    let house = House::open(|_| {}).await;
    let flaw = "{\"value\":\"aaaaaaaaaaaaaaaaaaaaa\"}";
    let body = format!(
        "{{\"resourceType\":\"DocumentReference\",\"identifier\":[{}]}}",
        vec![flaw; 60_000].join(",")
    );
    let answer = house.client("alpha").post(body.into_bytes(), "application/fhir+json").await;
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let told = answer.bytes().await.unwrap();
    assert!(told.len() < 2 << 20, "{} bytes", told.len());
    // Many flaws of many kinds.
    let (entry, id) = ("{\"fullUrl\":\"urn:uuid:00000000-0000-4000-8000-000000000000\"}", urn());
    let document = format!(
        "{{\"resourceType\":\"Bundle\",\"type\":\"document\",\"id\":\"1\",\"entry\":[{}]}}",
        vec![entry; 20_000].join(",")
    );
    let (body, format) = wrapped(&document, &id);
    let answer = house.client("alpha").post(body, format.media_type()).await;
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let told = answer.text().await.unwrap();
    assert!(told.len() < 2 << 20 && told.contains("too-costly"), "{} bytes", told.len());
}

/// One laboratory opens more connections than its part: what is more is let go at once, and others
/// get in.
async fn one_laboratory_leaves_places_for_others() {
    let house = House::open(|_| {}).await;
    let mut held = Vec::new();
    let mut refused = false;
    while !refused && held.len() < 200 {
        let mut stream = connect(&house).await;
        // Whoever has no place is let go at once; whoever has one is answered.
        let request = b"GET /v1/fhir/metadata HTTP/1.1\r\nhost: localhost\r\n\r\n";
        let said = async {
            stream.write_all(request).await.ok()?;
            let mut first = [0; 1];
            stream.read_exact(&mut first).await.ok()
        };
        match said.await {
            Some(_) => held.push(stream),
            None => refused = true,
        }
    }
    assert!(refused, "{} connections are held", held.len());
    let answer = house.client("beta").get("/metadata").await;
    assert_eq!(answer.status(), StatusCode::OK);
}

async fn a_caller_that_stops_in_the_middle_is_cut() {
    let house = House::open(|options| options.pause_max = Duration::from_millis(50)).await;
    let mut stream = connect(&house).await;
    let head = "POST /v1/fhir/DocumentReference HTTP/1.1\r\nhost: localhost\r\n\
                content-type: application/fhir+json\r\ncontent-length: \
                5000\r\n\r\n{\"resourceType\"";
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

async fn a_laboratory_can_be_added_while_it_runs() {
    let house = House::open(|_| {}).await;
    init(house.folder.path(), &["delta".to_owned()]).unwrap();
    let lab = house.client("delta");
    assert_eq!(lab.get("/metadata").await.status(), StatusCode::OK);
    lab.deliver(&document(&urn(), "A", "1"), &urn()).await;
    assert_eq!(house.client("alpha").search("").await.total, Some(0));
}

async fn markup_and_odd_characters_are_data() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    for odd in [
        "<script>alert(1)</script>&amp;",
        "'; DROP TABLE document; --",
        "Ä\u{202e}😀 %00",
        r"a,b|c$d\e\,f\",
    ] {
        let identifier = format!("urn:uuid:{odd}");
        // The samples of this suite are put together from text.
        let shown = odd.replace('\\', "");
        let sample = document(&urn(), &shown, &shown);
        let receipt = lab.deliver(&sample, &identifier).await.receipt.unwrap();
        for format in ["json", "xml"] {
            let value = exchange::encode(&exchange::escape(&identifier));
            let query = format!("identifier={value}&_format={format}");
            let page = lab.search(&query).await;
            assert_eq!(page.answers.len(), 1, "{odd}");
            assert_eq!(page.answers[0].receipt.as_deref(), Some(receipt.as_str()));
            assert_eq!(page.answers[0].identifiers, [identifier.as_str()]);
        }
    }
}

/// Status and body of the one answer on a connection that ends after it.
async fn answered(house: &House, request: &str) -> (u16, String) {
    let mut stream = connect(house).await;
    stream.write_all(request.as_bytes()).await.unwrap();
    let said = rest(&mut stream).await;
    let status = said.split(' ').nth(1).and_then(|status| status.parse().ok());
    let (head, body) = said.split_once("\r\n\r\n").expect(&said);
    assert!(!head.contains("text/html"), "{head}");
    (status.expect(&said), body.to_owned())
}

async fn a_broken_request_is_told_what_is_wrong_with_it() {
    let mut figures =
        Figures::start("hostile-text", "a_broken_request_is_told_what_is_wrong_with_it");
    let house = House::open(|_| {}).await;
    let here = "/v1/fhir/DocumentReference";
    let long = "a".repeat(70_000);
    let endless = "a".repeat(2 << 20);
    let close = "connection: close\r\n";
    let host = format!("host: localhost\r\n{close}");
    for (request, status) in [
        (format!("GET {here} HTTP/9.9\r\n{host}\r\n"), 400),
        (format!("GET {here}\u{1} HTTP/1.1\r\n{host}\r\n"), 400),
        (format!("GET {here} HTTP/1.1\r\nno colon\r\n\r\n"), 400),
        (format!("POST {here} HTTP/1.1\r\n{host}content-length: -1\r\n\r\n"), 400),
        (
            format!("POST {here} HTTP/1.1\r\n{host}content-length: 1\r\ncontent-length: 2\r\n\r\n"),
            400,
        ),
        ("nonsense\r\n\r\n".to_owned(), 400),
        (format!("GET {here} HTTP/1.1\r\n{close}\r\n"), 400),
        (format!("GET {here} HTTP/1.1\r\nhost: a\r\nhost: b\r\n{close}\r\n"), 400),
        (format!("GET {here} HTTP/1.1\r\nhost: a b\r\n{close}\r\n"), 400),
        (format!("GET {here}/%zz HTTP/1.1\r\n{host}\r\n"), 400),
        (format!("GET {here}/%ff HTTP/1.1\r\n{host}\r\n"), 400),
        (format!("GET {here}?identifier=%a HTTP/1.1\r\n{host}\r\n"), 400),
        (format!("GET {here}?identifier={long} HTTP/1.1\r\n{host}\r\n"), 414),
        (format!("GET {here} HTTP/1.1\r\n{host}x: {long}\r\n\r\n"), 431),
        (format!("GET {here} HTTP/1.1\r\n{host}x: {endless}\r\n\r\n"), 431),
        (format!("POST {here} HTTP/1.1\r\n{host}transfer-encoding: chunked\r\n\r\nzz\r\n"), 400),
        (format!("GET https://localhost{here}/x HTTP/1.1\r\n{host}\r\n"), 404),
        (format!("GET https://localhost{here}?_count=x HTTP/1.1\r\n{host}\r\n"), 400),
        (format!("OPTIONS * HTTP/1.1\r\n{host}\r\n"), 404),
        (format!("CONNECT localhost:443 HTTP/1.1\r\n{host}\r\n"), 404),
        (format!("GET {here}/../Patient HTTP/1.1\r\n{host}\r\n"), 404),
        (format!("GET {here} HTTP/1.1\r\n{host}accept: image/png\r\n\r\n"), 406),
        (format!("GET {here}/x HTTP/1.0\r\n\r\n"), 404),
    ] {
        let shown: String = request.chars().take(120).collect();
        let mut stream = connect(&house).await;
        // It may be answered before everything is written.
        let _ = stream.write_all(request.as_bytes()).await;
        let said = rest(&mut stream).await;
        assert!(
            said.starts_with(&format!("HTTP/1.1 {status} ")) || said.starts_with("HTTP/1.0 404"),
            "{shown}: {said}"
        );
        let (_, body) = said.split_once("\r\n\r\n").unwrap();
        let tree = fhir::Tree::read(body.as_bytes(), fhir::Format::Json, &fhir::Limits::default());
        let tree = tree.unwrap_or_else(|_| panic!("{shown}: {said}"));
        assert_eq!(tree.check(), [], "{shown}");
        assert_eq!(tree.root().resource_type(), Some("OperationOutcome"), "{shown}");
        figures.cases(1);
    }
    // On HTTP/2 too.
    let lab = house.client("alpha");
    let request = lab.client.get(format!("{}/metadata", lab.base)).header("x-long", &long);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.version(), reqwest::Version::HTTP_2);
    assert_eq!(answer.status(), StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    crate::common::resource(answer).await;
    figures.cases(1);
    figures.finish();
}

async fn an_address_can_be_written_in_every_form_that_means_it() {
    let house = House::open(|_| {}).await;
    let base = house.base.strip_prefix("https://").unwrap();
    let (host, path) = base.split_once('/').unwrap();
    for target in [
        format!("/{path}/metadata"),
        format!("/{path}/metadata/"),
        format!("/{path}/meta%64ata"),
        format!("https://{host}/{path}/metadata"),
        format!("/{path}/metadata?_format=json&&=&x"),
    ] {
        let request = format!("GET {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        let (status, body) = answered(&house, &request).await;
        assert_eq!(status, 200, "{target}: {body}");
        assert!(body.contains("CapabilityStatement"));
    }
    // The address that the caller named is the one of the links.
    let target = "GET https://labor.example/v1/fhir/DocumentReference?_count=0 HTTP/1.1\r\n\
                  host: labor.example\r\nconnection: close\r\n\r\n";
    let (_, body) = answered(&house, target).await;
    assert!(
        body.contains("\"https://labor.example/v1/fhir/DocumentReference?_count=0\""),
        "{body}"
    );
}

async fn while_it_ends_what_was_begun_is_finished_and_others_are_told_to_come_back() {
    let house = House::open(|options| options.admin = Some(([127, 0, 0, 1], 0).into())).await;
    let admin = house.serving.as_ref().unwrap().admin.unwrap();
    let text = document(&urn(), "A", "1");
    let (body, _) = crate::common::wrapped(&text, &urn());
    // A report whose second half is still on its way.
    let mut slow = connect(&house).await;
    let head = format!(
        "POST /v1/fhir/DocumentReference HTTP/1.1\r\nhost: localhost\r\n\
         content-type: application/fhir+json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    slow.write_all(&body[..100]).await.unwrap();
    slow.flush().await.unwrap();
    let lab = house.client("beta");
    assert_eq!(lab.get("/metadata").await.status(), StatusCode::OK);
    let metrics = format!("http://{admin}/metrics");
    while !lab
        .client
        .get(&metrics)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap()
        .contains("open_requests 1\n")
    {
        tokio::task::yield_now().await;
    }
    let ending = tokio::spawn(house.close());
    let refused = loop {
        let answer = lab.get("/DocumentReference?_format=xml").await;
        if answer.status() != StatusCode::OK {
            break answer;
        }
    };
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.headers().contains_key("retry-after"));
    assert!(
        refused.headers()["content-type"].to_str().unwrap().starts_with("application/fhir+xml")
    );
    crate::common::resource(refused).await;
    let ready = lab.client.get(format!("http://{admin}/readyz")).send().await.unwrap();
    assert_eq!(ready.status(), StatusCode::SERVICE_UNAVAILABLE, "a balancer looks elsewhere");
    slow.write_all(&body[100..]).await.unwrap();
    let said = rest(&mut slow).await;
    assert!(said.starts_with("HTTP/1.1 201 "), "{said}");
    assert!(said.contains("connection: close"), "{said}");
    let folder = ending.await.unwrap();
    let again = House::open_in(folder, |_| {}).await;
    assert_eq!(again.client("alpha").search("_count=0").await.total, Some(1));
}
