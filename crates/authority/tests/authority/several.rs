//! What only several processes on one PostgreSQL can show, and what happens when it goes away.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::postgres::{Cluster, Database};
use crate::common::{Folder, House, Lab, document, resource, urn, wrapped};
use authority::{AuditFilter, ServeOptions, audit, init};
use exchange::Processing;
use reqwest::StatusCode;
use tokio_util::sync::CancellationToken;

on_postgres_only![
    what_one_node_accepts_the_other_shows_and_pages_go_on_at_either,
    a_conditional_create_makes_one_document_at_all_nodes_together,
    a_document_that_the_database_refuses_takes_no_other_with_it,
    a_node_leaves_the_queue_to_workers,
    over_the_network_it_is_reached_by_password_and_verified_tls_only,
    whoever_follows_by_time_misses_nothing_while_all_nodes_write,
    many_that_start_at_once_prepare_an_empty_database_once,
    while_the_database_is_away_it_says_so_and_recovers_by_itself,
];

/// Two services on one store; each has a laboratory's client.
struct Pair {
    house: House,
    other: authority::Serving,
    over: CancellationToken,
}

impl Pair {
    async fn open(change: impl Fn(&mut ServeOptions)) -> Self {
        let house = House::open(&change).await;
        let mut options = ServeOptions::new(house.folder.path());
        change(&mut options);
        let over = CancellationToken::new();
        let other = authority::serve(options, over.clone()).await.unwrap();
        Self { house, other, over }
    }

    fn labs(&self) -> [Lab; 2] {
        let one = self.house.client("alpha");
        let two = Lab { base: self.other.base_url.clone(), ..self.house.client("alpha") };
        [one, two]
    }

    async fn close(self) -> Folder {
        self.over.cancel();
        self.other.finished().await;
        self.house.close().await
    }
}

async fn what_one_node_accepts_the_other_shows_and_pages_go_on_at_either() {
    let pair = Pair::open(|_| {}).await;
    let [one, two] = pair.labs();
    let mut sent = Vec::new();
    for number in 0..9 {
        let lab = [&one, &two][number % 2];
        sent.push(lab.deliver(&document(&urn(), "A", "1"), &urn()).await.receipt.unwrap());
    }
    for receipt in &sent {
        assert_eq!(one.processed(receipt).await.processing, Some(Processing::Completed));
        assert_eq!(two.processed(receipt).await.processing, Some(Processing::Completed));
    }
    let mut page = one.search("_count=2").await;
    let mut seen = Vec::new();
    for number in 0.. {
        seen.extend(page.answers.iter().filter_map(|answer| answer.receipt.clone()));
        one.deliver(&document(&urn(), "Neu", "1"), &urn()).await;
        let Some(next) = page.links.next else { break };
        // Whatever node answers: a balancer in front of them has one name.
        let lab = [&two, &one][number % 2];
        page = lab.follow(&next.replace(&one.base, &lab.base).replace(&two.base, &lab.base)).await;
    }
    sent.reverse();
    assert_eq!(seen, sent);
    let folder = pair.close().await;
    let lines = audit(folder.path(), &AuditFilter::default()).unwrap();
    let creates = lines.iter().filter(|line| line.interaction == "create").count();
    assert_eq!(creates, 9 + 5, "both nodes write one log");
}

async fn a_conditional_create_makes_one_document_at_all_nodes_together() {
    let pair = Pair::open(|options| options.conditional_create = true).await;
    let identifier = urn();
    let tries: Vec<_> = (0..16)
        .map(|number| {
            let (body, format) = wrapped(&document(&urn(), "A", "1"), &identifier);
            let [one, two] = pair.labs();
            let lab = if number % 2 == 0 { one } else { two };
            let condition = format!("identifier={identifier}");
            tokio::spawn(async move {
                let request = lab.client.post(format!("{}/DocumentReference", lab.base));
                let request = request.header("if-none-exist", condition);
                let request = request.header("content-type", format.media_type()).body(body);
                request.send().await.unwrap().status().as_u16()
            })
        })
        .collect();
    let mut answers = Vec::new();
    for one in tries {
        answers.push(one.await.unwrap());
    }
    answers.sort_unstable();
    assert_eq!(answers[..15], [200; 15]);
    assert_eq!(answers[15], 201);
}

/// A client that only ever asks for what is newer than the newest it has seen.
async fn whoever_follows_by_time_misses_nothing_while_all_nodes_write() {
    let pair = Pair::open(|_| {}).await;
    let labs = pair.labs();
    let writers: Vec<_> = (0..6)
        .map(|number| {
            let lab = labs[number % 2].clone();
            tokio::spawn(async move {
                let mut sent = Vec::new();
                for _ in 0..25 {
                    let answer = lab.deliver(&document(&urn(), "A", "1"), &urn()).await;
                    sent.push(answer.receipt.unwrap());
                }
                sent
            })
        })
        .collect();
    let (mut seen, mut done, mut mark) = (BTreeSet::new(), BTreeSet::new(), "2020".to_owned());
    let mut polls = 0;
    let end = Instant::now() + Duration::from_secs(120);
    // Every document is accepted once and completed once: 150 of each.
    while done.len() < 150 {
        assert!(Instant::now() < end, "{} seen, {} completed of 150", seen.len(), done.len());
        let lab = &labs[polls % 2];
        polls += 1;
        let mark_now = mark.replace('+', "%2B");
        let query = format!("_lastUpdated=gt{mark_now}&_sort=_lastUpdated&_count=20");
        for answer in lab.search(&query).await.answers {
            let at = answer.last_updated.unwrap();
            mark = at.to_search();
            let receipt = answer.receipt.unwrap();
            if answer.processing == Some(Processing::Completed) {
                assert!(done.insert(receipt.clone()), "completed twice");
            }
            seen.insert(receipt);
        }
    }
    let mut sent = BTreeSet::new();
    for writer in writers {
        sent.extend(writer.await.unwrap());
    }
    assert_eq!(done, sent);
    println!("{polls} polls followed 150 documents");
}

async fn many_that_start_at_once_prepare_an_empty_database_once() {
    let folder = Folder::new();
    let data = folder.path().to_owned();
    let starts: Vec<_> = (0..6)
        .map(|_| {
            let data = data.clone();
            tokio::task::spawn_blocking(move || authority::init(&data, &[]).map(drop))
        })
        .collect();
    for start in starts {
        // The data folder's own files may be made by one of them at a time; the database by all.
        let _ = start.await.unwrap();
    }
    init(&data, &["alpha".to_owned()]).unwrap();
    let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store/postgres");
    let named = |name: &str| name.starts_with("schema-");
    let steps = std::fs::read_dir(schemas).unwrap();
    let steps = steps.filter(|entry| named(entry.as_ref().unwrap().file_name().to_str().unwrap()));
    let steps = i64::try_from(steps.count()).unwrap();
    assert_eq!(folder.count("SELECT version FROM authority_schema"), steps);
    assert_eq!(folder.count("SELECT count(*) FROM authority_schema"), 1);
}

async fn a_document_that_the_database_refuses_takes_no_other_with_it() {
    let house = House::open(|_| {}).await;
    let poison = urn();
    house
        .folder
        .execute(&format!(
            "CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN RAISE EXCEPTION 'not this one'; END $$;
             CREATE TRIGGER refused BEFORE INSERT ON document FOR EACH ROW
                 WHEN (NEW.identifier = '{poison}') EXECUTE FUNCTION refused();"
        ))
        .unwrap();
    let lab = house.client("alpha");
    let tries: Vec<_> = (0..24)
        .map(|number| {
            let identifier = if number == 11 { poison.clone() } else { urn() };
            let (body, format) = wrapped(&document(&urn(), "A", "1"), &identifier);
            let lab = lab.clone();
            tokio::spawn(async move { lab.post(body, format.media_type()).await.status().as_u16() })
        })
        .collect();
    let mut answers = Vec::new();
    for one in tries {
        answers.push(one.await.unwrap());
    }
    assert_eq!(answers.iter().filter(|answer| **answer == 503).count(), 1);
    assert_eq!(answers[11], 503);
    assert_eq!(lab.search("_count=0").await.total, Some(23));
}

async fn a_node_leaves_the_queue_to_workers() {
    let house = House::open(|options| options.leave_queue = true).await;
    let lab = house.client("alpha");
    let receipt = lab.deliver(&document(&urn(), "A", "1"), &urn()).await.receipt.unwrap();
    for _ in 0..20 {
        assert_eq!(lab.read(&receipt).await.processing, Some(Processing::InProgress));
    }
    let over = CancellationToken::new();
    let admin = Some(([127, 0, 0, 1], 0).into());
    let rules = authority::Rules::default();
    let working = authority::work(house.folder.path(), rules, admin, over.clone()).await.unwrap();
    assert_eq!(lab.processed(&receipt).await.processing, Some(Processing::Completed));
    // It is looked after like a node, and has nothing to be told about faults.
    let at = format!("http://{}", working.admin.unwrap());
    let get = async |path: &str| {
        let answer = lab.client.get(format!("{at}{path}")).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    assert_eq!(get("/healthz").await.0, 200);
    assert_eq!(get("/readyz").await, (200, "ready\n".to_owned()));
    let (status, metrics) = get("/metrics").await;
    assert!(status == 200 && metrics.contains("authority_waiting 0"), "{metrics}");
    assert_eq!(get("/faults").await.0, 404);
    over.cancel();
    working.finished().await;
}

async fn while_the_database_is_away_it_says_so_and_recovers_by_itself() {
    // With care for its data, as in service.
    let cluster = Arc::new(Cluster::start(&[]));
    let folder = Folder::on(Database::on(Arc::clone(&cluster)));
    init(folder.path(), &["alpha".to_owned(), "beta".to_owned()]).unwrap();
    let house = House::open_in(folder, |options| {
        options.admin = Some(([127, 0, 0, 1], 0).into());
    })
    .await;
    let admin = format!("http://{}", house.serving.as_ref().unwrap().admin.unwrap());
    let (lab, over) = (house.client("alpha"), CancellationToken::new());
    let ready = async |wanted: StatusCode| {
        let end = Instant::now() + Duration::from_secs(60);
        let url = format!("{admin}/readyz");
        let plain = crate::common::client(crate::common::tls(house.folder.path(), Some("alpha")));
        while plain.get(&url).send().await.unwrap().status() != wanted {
            assert!(Instant::now() < end, "not {wanted}");
        }
    };
    let senders: Vec<_> = (0..3)
        .map(|_| {
            let (lab, over) = (lab.clone(), over.clone());
            tokio::spawn(async move {
                let mut accepted = Vec::new();
                let mut unsure = 0;
                while !over.is_cancelled() {
                    let (body, format) = wrapped(&document(&urn(), "A", "1"), &urn());
                    let answer = lab.post(body, format.media_type()).await;
                    match answer.status().as_u16() {
                        201 => {
                            let location = answer.headers()["location"].to_str().unwrap();
                            accepted.push(location.rsplit('/').next().unwrap().to_owned());
                        }
                        503 => {
                            let tree = resource(answer).await;
                            assert_eq!(tree.root().text("issue.code"), Some("transient"));
                        }
                        500 => unsure += 1,
                        other => panic!("{other}"),
                    }
                }
                (accepted, unsure)
            })
        })
        .collect();
    let kills = std::env::var("LABCOURIER_KILLS").map_or(0, |count| count.parse::<u32>().unwrap());
    let rounds = (kills / 10).max(2);
    for round in 0..rounds {
        let before = house.folder.count("SELECT count(*) FROM document");
        while house.folder.count("SELECT count(*) FROM document") < before + 5 {
            tokio::task::yield_now().await;
        }
        if round % 2 == 0 {
            cluster.stop()
        } else {
            cluster.kill()
        }
        ready(StatusCode::SERVICE_UNAVAILABLE).await;
        let answer = lab.get("/DocumentReference").await;
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(answer.headers().contains_key("retry-after"));
        assert_eq!(resource(answer).await.root().text("issue.code"), Some("transient"));
        cluster.resume();
        ready(StatusCode::OK).await;
    }
    over.cancel();
    let (mut accepted, mut unsure) = (Vec::new(), 0);
    for sender in senders {
        let (some, doubts) = sender.await.unwrap();
        accepted.extend(some);
        unsure += doubts;
    }
    for receipt in &accepted {
        assert_eq!(lab.processed(receipt).await.processing, Some(Processing::Completed));
    }
    while lab.search("elm-status=in-progress&_count=0").await.total != Some(0) {
        tokio::task::yield_now().await;
    }
    let folder = house.close().await;
    let stored = folder.count("SELECT count(*) FROM document");
    assert_eq!(folder.count("SELECT count(*) FROM version"), 2 * stored, "each processed once");
    let accepted = i64::try_from(accepted.len()).unwrap();
    println!(
        "{rounds} restarts of PostgreSQL: {accepted} accepted, {stored} stored, {unsure} not known"
    );
    // What was refused with 503 is not there: the sender may send it again.
    assert!((accepted..=accepted + unsure).contains(&stored));
}

async fn over_the_network_it_is_reached_by_password_and_verified_tls_only() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let cluster = Arc::new(Cluster::start_with_tls(port));
    let database = Database::on(Arc::clone(&cluster));
    database
        .ask("CREATE ROLE lab LOGIN PASSWORD 'ge heim'; GRANT ALL ON SCHEMA public TO lab")
        .unwrap();
    let files = tempfile::TempDir::new().unwrap();
    let password = files.path().join("password");
    std::fs::write(&password, "ge heim\n").unwrap();
    let name = &database.name;
    let roots = cluster.path().join("server.pem");
    let (roots, file) = (roots.display(), password.display());
    let url = |host: &str, more: &str| format!("postgres://lab@{host}:{port}/{name}?{more}");
    let tried = |url: String| {
        let folder = tempfile::TempDir::new().unwrap();
        authority::record_store(folder.path(), &url.parse().unwrap())?;
        init(folder.path(), &["alpha".to_owned()]).map(drop)
    };
    let good = format!("sslmode=require&sslrootcert={roots}&password_file={file}");
    tried(url("localhost", &good)).unwrap();
    assert_eq!(database.ask("SELECT count(*) FROM laboratory").unwrap().trim(), "1");
    tried(url("localhost", &format!("sslmode=require&sslrootcert={roots}&password=ge%20heim")))
        .unwrap();
    for (wrong, why) in [
        (url("localhost", &format!("sslmode=require&password_file={file}")), "a CA of the system"),
        (url("127.0.0.1", &good), "another name than the certificate's"),
        (url("localhost", &format!("password_file={file}")), "no TLS where the server asks for it"),
        (url("localhost", &format!("sslmode=require&sslrootcert={roots}&password=x")), "password"),
    ] {
        let error = tried(wrong).expect_err(why);
        let mut text = format!("{error} {error:?}");
        text.push_str(&std::error::Error::source(&error).unwrap().to_string());
        assert!(!text.contains("ge heim") && !text.contains("password=x"), "{text}");
    }
}
