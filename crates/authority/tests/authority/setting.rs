//! On which store, and in which release of the interface, a test runs. Each test is written once
//! and compiled once; the lists of the suite make a test of the runner out of it for each setting.

use exchange::{InvalidAnswer, Release, SearchSupport};

/// Where documents are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreKind {
    Sqlite,
    Postgres,
}

/// What a test runs on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) store: StoreKind,
    pub(crate) release: Release,
}

tokio::task_local! {
    static SETTING: Setting;
}

impl Setting {
    /// This store, and the newest release.
    pub(crate) fn on(store: StoreKind) -> Self {
        Self { store, release: Release::default() }
    }

    /// The setting of the test that asks; SQLite and the newest release outside of the lists.
    pub(crate) fn current() -> Self {
        SETTING.try_with(|setting| *setting).unwrap_or(Self::on(StoreKind::Sqlite))
    }

    /// Runs a test in this setting.
    pub(crate) async fn run(self, test: impl Future<Output = ()>) {
        SETTING.scope(self, test).await;
    }
}

/// The release in which the test that asks runs.
pub(crate) fn release() -> Release {
    Setting::current().release
}

/// What the release calls the parameter for the time of last change.
pub(crate) fn last_updated() -> &'static str {
    release().facts().last_updated
}

/// Whether the release can be searched by more than the identifier; what it does not know it
/// ignores.
pub(crate) fn has_full_search() -> bool {
    release().facts().search == SearchSupport::Full
}

/// Whether an invalid document is answered with an OperationOutcome alone, and leaves no trace.
pub(crate) fn tells_outcomes_alone() -> bool {
    release().facts().invalid == InvalidAnswer::OutcomeOnly
}

/// Whether this is a test on PostgreSQL.
pub(crate) fn on_postgres() -> bool {
    Setting::current().store == StoreKind::Postgres
}

/// Makes tests of the runner in one setting. Without a PostgreSQL those on it are shown as ignored.
macro_rules! in_setting {
    (Postgres, $release:ident, $runtime:tt, [$($name:ident)*]) => {
        $(
            #[cfg_attr(not(postgres_is_installed), ignore = "no PostgreSQL is installed")]
            #[tokio::test $runtime]
            async fn $name() {
                in_setting!(@run Postgres, $release, super::$name());
            }
        )*
    };
    (Sqlite, $release:ident, $runtime:tt, [$($name:ident)*]) => {
        $(
            #[tokio::test $runtime]
            async fn $name() {
                in_setting!(@run Sqlite, $release, super::$name());
            }
        )*
    };
    (@run $store:ident, $release:ident, $test:expr) => {
        let store = crate::setting::StoreKind::$store;
        let release = ::exchange::Release::$release;
        crate::setting::Setting { store, release }.run($test).await;
    };
}

/// Each of these tests on both stores.
macro_rules! on_every_store {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            in_setting!(Sqlite, R1_13_1, (), [$($name)*]);
        }
        mod postgres {
            in_setting!(Postgres, R1_13_1, (), [$($name)*]);
        }
    };
}

/// The same for tests that block a thread.
macro_rules! on_every_store_in_threads {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            in_setting!(
                Sqlite, R1_13_1, (flavor = "multi_thread", worker_threads = 2), [$($name)*]
            );
        }
        mod postgres {
            in_setting!(
                Postgres, R1_13_1, (flavor = "multi_thread", worker_threads = 2), [$($name)*]
            );
        }
    };
}

/// Each of these tests on both stores, and in the earlier releases on SQLite.
macro_rules! in_every_release {
    ($($name:ident),* $(,)?) => {
        on_every_store!($($name),*);
        mod release_1_8_0 {
            in_setting!(Sqlite, R1_8_0, (), [$($name)*]);
        }
        mod release_1_0_0_trialuse {
            in_setting!(Sqlite, R1_0_0Trialuse, (), [$($name)*]);
        }
    };
}

/// Each of these tests on PostgreSQL only.
#[cfg(postgres_is_installed)]
macro_rules! on_postgres_only {
    ($($name:ident),* $(,)?) => {
        mod postgres {
            in_setting!(
                Postgres, R1_13_1, (flavor = "multi_thread", worker_threads = 2), [$($name)*]
            );
        }
    };
}
