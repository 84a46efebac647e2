//! The registry and the audit log for an administrator's command: one connection for each question,
//! on a thread of its own, so that it may be asked from anywhere.

use deadpool_postgres::{Client, Pool};
use fhir::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::super::{AuditFilter, AuditLine, RegisteredCertificate, StoreError, audit, registry};
use super::target::unreachable;
use super::{ALL, Target, client, dollars, migrate};
use crate::AuthorityError;

pub(crate) struct Records(Box<Target>);

type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

impl Records {
    pub(crate) fn open(url: &str) -> Result<Self, AuthorityError> {
        let records = Self(Box::new(Target::parse(url)?));
        records.on(async |pool: &Pool| migrate(pool).await)?;
        Ok(records)
    }

    pub(crate) fn knows(&self, name: &str) -> Result<bool, StoreError> {
        self.truth(registry::KNOWS, &[&name])
    }

    pub(crate) fn has(&self, name: &str) -> Result<bool, StoreError> {
        self.truth(registry::HAS, &[&name])
    }

    pub(crate) fn add(&self, name: &str) -> Result<bool, StoreError> {
        Ok(self.execute(registry::ADD, &[&name])? == 1)
    }

    pub(crate) fn laboratories(&self, now: Instant) -> Result<Vec<(String, u32)>, StoreError> {
        let rows = self.query(registry::LABORATORIES, &[&now.0])?;
        let one = |row: &Row| {
            let count = u32::try_from(row.try_get::<_, i64>(1)?).unwrap_or(u32::MAX);
            Ok((row.try_get(0)?, count))
        };
        rows.iter().map(one).collect()
    }

    pub(crate) fn register(
        &self,
        name: &str,
        fingerprint: &str,
        issued: Instant,
        not_after: Instant,
    ) -> Result<bool, StoreError> {
        self.add(name)?;
        let values: Values<'_> = &[&name, &fingerprint, &issued.0, &not_after.0];
        Ok(self.execute(registry::REGISTER, values)? == 1)
    }

    pub(crate) fn certificates(
        &self,
        laboratory: Option<&str>,
    ) -> Result<Vec<RegisteredCertificate>, StoreError> {
        let rows = self.query(registry::CERTIFICATES, &[&laboratory])?;
        let one = |row: &Row| {
            let time = |column| row.try_get::<_, Option<i64>>(column).map(|time| time.map(Instant));
            Ok(RegisteredCertificate {
                fingerprint: row.try_get(0)?,
                laboratory: row.try_get(1)?,
                issued: time(2)?,
                not_after: time(3)?,
                revoked: time(4)?,
            })
        };
        rows.iter().map(one).collect()
    }

    pub(crate) fn revoke(&self, fingerprint: &str, at: Instant) -> Result<(), StoreError> {
        self.execute(registry::REVOKE, &[&fingerprint, &at.0]).map(drop)
    }

    pub(crate) fn audit(&self, filter: &AuditFilter) -> Result<Vec<AuditLine>, StoreError> {
        let last = filter.last.map_or(i64::MAX, i64::from);
        let rows = self.query(audit::LINES, &[&filter.laboratory, &filter.receipt, &last])?;
        let one = |row: &Row| {
            let entries: Option<i32> = row.try_get(5)?;
            Ok(AuditLine {
                at: Instant(row.try_get(0)?),
                laboratory: row.try_get(1)?,
                certificate: row.try_get(2)?,
                interaction: row.try_get(3)?,
                receipt: row.try_get(4)?,
                entries: entries.map(i32::unsigned_abs),
                status: u16::try_from(row.try_get::<_, i32>(6)?).unwrap_or_default(),
                shown: audit::ids(row.try_get(7)?),
            })
        };
        rows.iter().map(one).collect()
    }

    /// Deletes lines of the audit log before a time; how many.
    pub(crate) fn forget_audit(&self, until: Instant, now: Instant) -> Result<u64, StoreError> {
        self.execute(audit::NOT_KEPT, &[&now.0, &until.0])?;
        self.execute(audit::FORGET, &[&until.0])
    }

    fn truth(&self, sql: &str, values: Values<'_>) -> Result<bool, StoreError> {
        let rows = self.query(sql, values)?;
        Ok(rows.first().ok_or(StoreError::Closed)?.try_get(0)?)
    }

    fn query(&self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, StoreError> {
        self.on(async |pool: &Pool| {
            let client: Client = client(pool).await?;
            Ok(client.query(&dollars(sql), values).await?)
        })
    }

    fn execute(&self, sql: &str, values: Values<'_>) -> Result<u64, StoreError> {
        self.on(async |pool: &Pool| {
            let client: Client = client(pool).await?;
            Ok(client.execute(&dollars(sql), values).await?)
        })
    }

    fn on<T: Send>(
        &self,
        ask: impl AsyncFnOnce(&Pool) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .map_err(unreachable)?;
                runtime.block_on(async { ask(&self.0.pool(1, ALL)?).await })
            });
            asking.join().unwrap_or(Err(StoreError::Closed))
        })
    }
}
