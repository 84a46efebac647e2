//! Many clients at once: everything that is accepted is there afterwards.

use reqwest::StatusCode;

use crate::common::{House, document, urn};

on_every_store![throughput_of_create];

async fn throughput_of_create() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let count = 400;
    let bodies: Vec<_> = (0..count)
        .map(|n| crate::common::wrapped(&document(&urn(), "A", &n.to_string()), &urn()))
        .collect();
    let begin = std::time::Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for chunk in bodies.chunks(count / 16) {
        let (lab, chunk) = (lab.clone(), chunk.to_vec());
        tasks.spawn(async move {
            for (body, format) in chunk {
                assert_eq!(lab.post(body, format.media_type()).await.status(), StatusCode::CREATED);
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    let rate = count as f64 / begin.elapsed().as_secs_f64();
    println!("{count} documents accepted by 16 clients: {rate:.0}/s");
    assert_eq!(lab.search("_count=0").await.total, Some(count as u64));
}
