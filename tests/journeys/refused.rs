//! An hour in which somebody else stands where the authority should be, or the authority refuses
//! our certificate: nothing leaves, nothing fails, one banner; afterwards everything goes on by
//! itself.

use std::time::Duration;

use authority::FaultKind;
use identity::Identity;
use journeys::ground::{Ground, Hour, hour, measured};
use journeys::outage::{Front, Scene, endpoint, patient};
use report::State;
use testkit::{
    Figures, Reaction, ScriptedServer, ScriptedTls, Seen, TestCa, TlsVersions, Validity,
    certificate_of_pem,
};

#[test]
fn a_refused_certificate_holds_the_queue_and_nothing_else() {
    let ground = Ground::new();
    let mut figures = Figures::start("refused-certificate", "a_refused_certificate_holds");
    let mut hours = Vec::new();
    for code in [401, 403] {
        for warm in [false, true] {
            let kind = FaultKind::BareStatus(code);
            let name = format!("{code}, warm {warm}");
            let hour = ground.faulty(&mut figures, &name, &kind, warm);
            holds(&hour, "forbidden", &name);
            hours.push(hour);
        }
    }
    let own = || ground.ca.loopback_server();
    for versions in [TlsVersions::Only12, TlsVersions::Only13] {
        // The laboratory's certificate is of the authority; this server wants one of its own
        // issuer.
        let tls = ScriptedTls { server: own(), client_ca: Some(ground.ca.der().clone()), versions };
        let name = format!("handshake refused, {versions:?}");
        hours.push(held_by(&ground, &mut figures, &name, tls, "tls-client-refused"));
    }
    let expired = ground.ca.server(&["localhost"], Validity::Expired);
    let tls = ScriptedTls::mutual(expired, ground.ca.der());
    let name = "the server's certificate has expired";
    hours.push(held_by(&ground, &mut figures, name, tls, "tls-server-untrusted"));
    hours.extend(ours_expired(&ground, &mut figures));
    measured(&mut figures, &hours);
    figures.finish();
    ground.end();
}

/// A gateway answers 400 or 422 in its own name, without the authority's reasons, for as long as it
/// likes: that refuses no report.
#[test]
fn a_gateway_without_reasons_rejects_nothing_however_long_it_lasts() {
    let ground = Ground::new();
    let mut figures =
        Figures::start("refused-certificate", "a_gateway_without_reasons_rejects_nothing");
    let mut hours = Vec::new();
    for code in [400, 422] {
        for warm in [false, true] {
            let kind = FaultKind::BareStatus(code);
            let name = format!("{code} without reasons, warm {warm}");
            let hour = ground.faulty(&mut figures, &name, &kind, warm);
            assert_eq!(hour.banner, ("locked", "unexplained".to_owned()), "{name}");
            // What was tried is in doubt where the question for it is refused likewise.
            let is_open = |it: &State| matches!(it, State::Queued { .. } | State::Unknown { .. });
            assert!(hour.states.iter().rev().take(3).all(is_open), "{name}: {:?}", hour.states);
            hours.push(hour);
        }
    }
    measured(&mut figures, &hours);
    figures.finish();
    ground.end();
}

/// Nothing failed, nothing in doubt, one word about it.
fn holds(hour: &Hour, code: &str, name: &str) {
    assert_eq!(hour.banner, ("locked", code.to_owned()), "{name}");
    waits(hour, name);
}

fn waits(hour: &Hour, name: &str) {
    let queued = |state: &State| matches!(state, State::Queued { .. });
    assert!(hour.states.iter().rev().take(3).all(queued), "{name}: {:?}", hour.states);
}

fn held_by(
    ground: &Ground,
    figures: &mut Figures,
    name: &str,
    tls: ScriptedTls,
    code: &str,
) -> Hour {
    ground.runtime.block_on(async {
        let server = ScriptedServer::start(tls, |_| Reaction::answer(201, "text/plain", "")).await;
        let hour = ground.behind(figures, name, &server).await;
        holds(&hour, code, name);
        assert_eq!((hour.submits, server.body_bytes(), server.seen().len()), (0, 0, 0), "{name}");
        hour
    })
}

/// Our own certificate has expired; a person imports another.
fn ours_expired(ground: &Ground, figures: &mut Figures) -> Vec<Hour> {
    ground.runtime.block_on(async {
        let front = Front::open().await;
        front.lead(Some(ground.address()));
        let stranger = TestCa::new("Fremde Behörde");
        let foreign = stranger.client("riverside");
        let foreign = Identity::import(&[foreign.pem().as_bytes()], None).unwrap();
        let mut hours = Vec::new();
        for (name, identity) in [("another's certificate", Some(&foreign)), ("none at all", None)] {
            let mut scene = Scene::new();
            let endpoint = endpoint(&front.base(), &ground.trusted());
            scene.connect(&endpoint, identity, patient());
            let hour = hour(&mut scene, name).await;
            // The alert may be lost in the reset that follows it; then the queue holds all the
            // same.
            let code = hour.banner.1.clone();
            let told = [("locked", "tls-client-refused"), ("unreachable", "cut")];
            assert!(told.contains(&(hour.banner.0, code.as_str())), "{name}: {code}");
            waits(&hour, name);
            assert_eq!(hour.submits, 0, "{name}");
            hours.push(hour);
            scene.connect(&endpoint, Some(&ground.identity()), patient());
            ground.recovers(figures, &mut scene, name).await;
        }
        hours
    })
}

#[test]
fn a_server_not_to_be_trusted_gets_no_byte_in_an_hour() {
    let ground = Ground::new();
    let mut figures = Figures::start("tls", "a_server_not_to_be_trusted");
    let mut bytes = 0;
    let stranger = TestCa::new("Mitleser");
    let rows = [
        ("expired", ground.ca.server(&["localhost"], Validity::Expired)),
        ("not yet valid", ground.ca.server(&["localhost"], Validity::NotYet)),
        ("an issuer that nobody trusts", stranger.loopback_server()),
        ("another host", ground.ca.server(&["other.example"], Validity::Current)),
        ("self-signed", TestCa::self_signed_server()),
    ];
    for (name, certificate) in rows {
        bytes += ground.runtime.block_on(async {
            let tls = ScriptedTls::mutual(certificate, ground.ca.der());
            let server = ScriptedServer::start(tls, sound).await;
            let hour = ground.behind(&mut figures, name, &server).await;
            holds(&hour, "tls-server-untrusted", name);
            assert_eq!(hour.submits, 0, "{name}");
            server.body_bytes()
        });
    }
    figures.measure("body bytes", bytes as f64);
    figures.finish();
    ground.end();
}

fn sound(_: &Seen) -> Reaction {
    Reaction::answer(200, "application/fhir+json", r#"{"resourceType":"CapabilityStatement"}"#)
}

#[test]
fn whoever_stands_in_between_gets_no_byte_in_an_hour() {
    let ground = Ground::new();
    let mut figures = Figures::start("redirect-proxy", "whoever_stands_in_between");
    let mut bytes = 0;
    let mut rows: Vec<(String, Reaction, &str)> = [301, 302, 303, 307, 308]
        .into_iter()
        .map(|status| {
            let answer = Reaction::answer(status, "text/plain", "");
            let answer = answer.header("Location", "http://elsewhere.invalid/");
            (format!("redirect {status}"), answer, "redirect")
        })
        .collect();
    let page = "<!DOCTYPE html><html><body>Bitte anmelden</body></html>";
    rows.push(("portal".to_owned(), Reaction::answer(200, "text/html", page), "html"));
    let asks = Reaction::answer(407, "text/html", page);
    rows.push(("407 within the connection".to_owned(), asks, "proxy-authentication"));
    for (name, reaction, code) in rows {
        bytes += ground.runtime.block_on(async {
            // Worse than a real portal: it has a certificate that we trust, and it asks for ours.
            let issuer = certificate_of_pem(&ground.data.path().join("ca.pem"));
            let tls = ScriptedTls::mutual(ground.ca.loopback_server(), &issuer);
            let server = ScriptedServer::start(tls, move |_| reaction.clone()).await;
            let hour = ground.behind(&mut figures, &name, &server).await;
            assert_eq!(hour.submits, 0, "{name}");
            holds(&hour, code, &name);
            server.body_bytes()
        });
    }
    let own = ground.ca.loopback_server();
    let unasked = ScriptedTls { server: own, client_ca: None, versions: TlsVersions::Both };
    let name = "a server that never asks for our certificate";
    // `held_by` demands that no request and no byte of a body has come.
    held_by(&ground, &mut figures, name, unasked, "tls-client-not-asked");
    bytes += proxies(&ground, &mut figures);
    figures.measure("body bytes", bytes as f64);
    figures.finish();
    ground.end();
}

/// Proxies that ask for a password, refuse, are down, say nothing, or read along.
fn proxies(ground: &Ground, figures: &mut Figures) -> usize {
    ground.runtime.block_on(async {
        let identity = ground.identity();
        // A proxy that says nothing costs this time twice: once more it is asked why.
        let limits = client::Limits { connect: Duration::from_millis(700), ..patient() };
        let page =
            |status| move |_: &Seen| Reaction::answer(status, "text/html", "<html>proxy</html>");
        let asking = ScriptedServer::start_plain(page(407)).await;
        let refusing = ScriptedServer::start_plain(page(403)).await;
        let failing = ScriptedServer::start_plain(page(502)).await;
        let silent = ScriptedServer::start_plain(|_| Reaction::Silence).await;
        let babbling =
            ScriptedServer::start_plain(|_| Reaction::Bytes(b"SSH-2.0-x\r\n".to_vec())).await;
        let down = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut bytes = 0;
        for (name, address, banner) in [
            ("asks for a password", asking.address(), ("locked", "proxy-authentication")),
            ("refuses", refusing.address(), ("locked", "proxy-refused")),
            ("fails", failing.address(), ("locked", "proxy-refused")),
            ("says nothing", silent.address(), ("unreachable", "proxy-unreachable")),
            ("is no proxy", babbling.address(), ("unreachable", "proxy-unreachable")),
            ("is down", down, ("unreachable", "proxy-unreachable")),
        ] {
            let front = Front::open().await;
            front.lead(Some(ground.address()));
            let sound = endpoint(&front.base(), &ground.trusted());
            let mut broken = sound.clone();
            broken.proxy = Some(format!("http://{address}").parse().unwrap());
            let mut scene = Scene::new();
            scene.connect(&broken, Some(&identity), limits);
            let name = format!("a proxy that {name}");
            let hour = hour(&mut scene, &name).await;
            assert_eq!((hour.submits, hour.banner), (0, (banner.0, banner.1.to_owned())), "{name}");
            scene.connect(&sound, Some(&identity), patient());
            ground.recovers(figures, &mut scene, &name).await;
        }
        for server in [&asking, &refusing, &failing, &silent, &babbling] {
            assert!(server.seen().iter().all(|seen| seen.method == "CONNECT"));
            bytes += server.body_bytes();
        }
        bytes
    })
}
