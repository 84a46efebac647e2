//! Campaigns ask the questions of the tests at length. Each is a program of the package that it is
//! about; here stands only how it is built and called.

use xtask::process::Call;
use xtask::workspace::Workspace;

/// A campaign: `cargo xtask NAME ARGUMENTS…`.
pub(crate) struct Campaign {
    /// The word that people type.
    pub(crate) name: &'static str,
    /// Its arguments, as the usage shows them.
    pub(crate) takes: &'static str,
    /// What it does.
    pub(crate) says: &'static str,
    /// What is built before, as arguments of `cargo build`; empty where the call builds what it
    /// needs.
    builds: &'static [&'static str],
    /// The call: arguments of `cargo`. The arguments of the campaign follow.
    call: &'static [&'static str],
    /// Variables of its environment.
    env: &'static [(&'static str, &'static str)],
}

/// A campaign that `cargo run` builds and starts.
const fn program(
    name: &'static str,
    takes: &'static str,
    says: &'static str,
    call: &'static [&'static str],
) -> Campaign {
    Campaign { name, takes, says, builds: &[], call, env: &[] }
}

/// All campaigns, in the order of the usage.
pub(crate) const CAMPAIGNS: &[Campaign] = &[
    Campaign {
        name: "bench",
        takes: "[ROW]… [--rounds N] [--json]",
        says: "measure against baselines, with release builds; fails where a bound is missed",
        builds: &[
            "--release",
            "-p=cli",
            "-p=authority",
            "-p=bench",
            "-p=journeys",
            "--bin=labcourier",
            "--bin=labcourier-authority",
            "--bin=bench",
            "--bin=window-host",
        ],
        call: &["run", "--quiet", "--release", "-p", "bench", "--"],
        env: &[],
    },
    program(
        "simulate",
        "[--seeds N] [--from S] | --seed S",
        "play seeded worlds until one breaks a promise; --seed tells its story",
        &["run", "--quiet", "--profile", "simulate", "-p", "world", "--bin", "simulate", "--"],
    ),
    program(
        "deaths",
        "[--times N] [--seed S] [--only CAMPAIGN]",
        "kill labcourier and the window's core N times in every way; one table",
        &["run", "--quiet", "-p", "journeys", "--bin", "deaths", "--"],
    ),
    Campaign {
        name: "kills",
        takes: "",
        says: "kill the authority 200 times under load, on each store (LABCOURIER_KILLS sets \
               another number)",
        builds: &[],
        // Not by nextest, which ends what takes minutes.
        call: &[
            "test",
            "-p",
            "authority",
            "--",
            "--nocapture",
            "--test-threads",
            "1",
            "killed_at_any_moment",
            "is_away",
        ],
        env: &[("LABCOURIER_KILLS", "200")],
    },
    program(
        "fuzz",
        "[--seconds N] [--only TARGET]…",
        "look for inputs that break a reader, by coverage; a minute each",
        &["run", "--quiet", "-p", "hostile", "--bin", "fuzz", "--"],
    ),
    program(
        "conformance",
        "[--examples N] [--seed N] [--only TOOL]…",
        "clients and a fuzzer that others wrote, against the authority",
        &["run", "--quiet", "-p", "journeys", "--bin", "conformance", "--"],
    ),
    program(
        "reliability",
        "[--table]",
        "run every test of a fault; one table of what each counted (--table: of the figures at \
         hand)",
        &["run", "--quiet", "-p", "journeys", "--bin", "reliability", "--"],
    ),
    program(
        "tables",
        "fhir [PACKAGE [OUTPUT]]",
        "write the tables of facts that are made from published definitions",
        &["run", "--quiet", "-p", "tables", "--"],
    ),
    program(
        "mistakes",
        "[NAME]…",
        "make each mistake of tests/mistakes in a copy; the tests must notice all",
        &["run", "--quiet", "-p", "journeys", "--bin", "mistakes", "--"],
    ),
    program(
        "mutants",
        "[--package P | --file F]…",
        "make small mistakes in a copy (cargo-mutants, .cargo/mutants.toml); takes hours",
        &["mutants", "--test-tool", "nextest"],
    ),
];

/// The campaign of this name.
pub(crate) fn named(name: &str) -> Option<&'static Campaign> {
    CAMPAIGNS.iter().find(|campaign| campaign.name == name)
}

impl Campaign {
    /// Builds what it needs and runs it. The number is its exit code.
    pub(crate) fn run(&self, workspace: &Workspace, args: &[String]) -> Result<u8, String> {
        if !self.builds.is_empty() {
            Call::cargo().arg("build").args(self.builds).inside(&workspace.root).run()?;
        }
        let call = Call::cargo().args(self.call).args(args).inside(&workspace.root);
        let set = |call: Call, (name, value): &(&str, &str)| match std::env::var_os(name) {
            Some(_) => call,
            None => call.env(name, value),
        };
        self.env.iter().fold(call, set).code()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_campaign_calls_a_package_that_exists() {
        let workspace = Workspace::open().unwrap();
        let packages = xtask::workspace::list(&workspace.metadata, "packages");
        for campaign in CAMPAIGNS {
            let named = campaign.call.iter().skip_while(|word| **word != "-p").nth(1);
            let Some(named) = named else { continue };
            let known = packages.iter().any(|p| xtask::workspace::text(p, "name") == *named);
            assert!(known, "{}: {named}", campaign.name);
        }
        assert!(named("simulate").is_some() && named("simulated").is_none());
    }
}
