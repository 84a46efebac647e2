//! Questions to an authority, one after the other over one connection.

use std::time::Instant;

use rustls::ClientConfig;

use super::load;
use crate::Result;
use crate::table::Samples;

/// A question and what it costs to answer.
pub(crate) struct Question {
    /// For the table.
    pub(crate) name: &'static str,
    /// The part after `{base_url}/DocumentReference`; `{…}` is filled in.
    path: &'static str,
}

/// What is asked: the first and a deep page, what laboratories poll, and what they look up.
pub(crate) const QUESTIONS: [Question; 8] = [
    Question { name: "page of 50", path: "?_count=50" },
    Question { name: "page of 50, the last", path: "?_count=50&page={last}" },
    Question { name: "page of 50 of the failed", path: "?elm-status=failed&_count=50" },
    Question {
        name: "page of 50 changed since",
        path: "?_lastUpdated=gt{recent}&_sort=_lastUpdated&_count=50",
    },
    Question { name: "total of the failed", path: "?elm-status=failed&_count=0" },
    Question { name: "total", path: "?_count=0" },
    Question { name: "by identifier", path: "?identifier={identifier}" },
    Question { name: "read by id", path: "/{receipt}" },
];

/// The one that laboratories poll.
const CHANGED: usize = 3;

/// A client that asks.
pub(crate) struct Reader {
    client: reqwest::Client,
    base: String,
    size: u64,
}

impl Reader {
    /// Connects, so that no question pays for the handshake.
    pub(crate) async fn new(tls: &ClientConfig, base: &str, size: u64) -> Result<Self> {
        let builder = reqwest::Client::builder().tls_backend_preconfigured(tls.clone());
        let client = builder.http1_only().no_proxy().build()?;
        let reader = Self { client, base: base.to_owned(), size };
        reader.ask("?_count=0").await?;
        Ok(reader)
    }

    /// Median time of an answer, in milliseconds.
    pub(crate) async fn median_ms(&self, question: &Question, times: usize) -> Result<f64> {
        let mut samples = Samples::default();
        for _ in 0..times {
            let path = self.filled(question.path);
            let began = Instant::now();
            self.ask(&path).await?;
            samples.0.push(began.elapsed().as_secs_f64() * 1e3);
        }
        Ok(samples.median())
    }

    /// Answers a second to pages of what changed lately, asked by so many clients of this
    /// connection pool.
    pub(crate) async fn pages_a_second(&self, clients: usize, each: usize) -> Result<f64> {
        let path = self.filled(QUESTIONS[CHANGED].path);
        let began = Instant::now();
        let asking = (0..clients).map(|_| async {
            for _ in 0..each {
                self.ask(&path).await?;
            }
            Result::Ok(())
        });
        for answer in futures::future::join_all(asking).await {
            answer?;
        }
        let answers = f64::from(u32::try_from(clients * each).unwrap_or(u32::MAX));
        Ok(answers / began.elapsed().as_secs_f64())
    }

    /// Waits until every document is judged.
    pub(crate) async fn all_judged(&self) -> Result<()> {
        let url = format!("{}/DocumentReference?elm-status=in-progress&_count=0", self.base);
        loop {
            let request = self.client.get(&url).header("accept", "application/fhir+json");
            let bundle: serde_json::Value =
                serde_json::from_slice(&request.send().await?.error_for_status()?.bytes().await?)?;
            if bundle["total"] == 0 {
                return Ok(());
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    fn filled(&self, path: &str) -> String {
        let middle = self.size / 2;
        path.replace("{last}", &(self.size / 50).to_string())
            .replace("{recent}", &load::arrived(self.size, self.size - 50))
            .replace("{identifier}", &load::identifier(middle))
            .replace("{receipt}", &load::receipt(middle))
    }

    /// The whole answer must come, and be a good one.
    async fn ask(&self, path: &str) -> Result<()> {
        let url = format!("{}/DocumentReference{path}", self.base);
        let request = self.client.get(url).header("accept", "application/fhir+json");
        let body = request.send().await?.error_for_status()?.bytes().await?;
        // An empty answer would be fast for the wrong reason.
        let text = String::from_utf8_lossy(&body);
        if path.contains("_count=0") || text.contains("\"DocumentReference\"") {
            return Ok(());
        }
        Err(format!("nothing was found: {path}").into())
    }
}
