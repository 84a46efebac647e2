//! What happened in worlds, counted.

/// Counts of one world, or of many added up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of worlds that were played.
    pub worlds: u64,
    /// Reports taken in.
    pub reports: u64,
    /// Requests that carried a report.
    pub requests: u64,
    /// Deaths of processes.
    pub crashes: u64,
    /// Processes that stopped and came back.
    pub stalls: u64,
    /// Writes that the disk refused, or did and called refused.
    pub refusals: u64,
    /// Times the clock was set or the computer slept.
    pub jumps: u64,
    /// Answers to a report that were lost, late, cut or garbled.
    pub answers_lost: u64,
    /// Documents that the search showed late, and searches that showed nothing for want of access.
    pub lags: u64,
    /// Changes of the lease from one process to another.
    pub takeovers: u64,
    /// Deeds of people.
    pub deeds: u64,
    /// Worlds with a crash.
    pub worlds_killed: u64,
    /// Worlds with a lost answer.
    pub worlds_lost: u64,
    /// Worlds with a search that lagged.
    pub worlds_lagging: u64,
    /// Worlds whose clock was set or whose computer slept.
    pub worlds_jumping: u64,
    /// Worlds with several processes.
    pub worlds_shared: u64,
}

impl Tally {
    /// Of one world with so many processes: counts it by what happened in it.
    pub(crate) fn of_world(mut self, processes: usize) -> Self {
        self.worlds = 1;
        self.worlds_killed = u64::from(self.crashes > 0);
        self.worlds_lost = u64::from(self.answers_lost > 0);
        self.worlds_lagging = u64::from(self.lags > 0);
        self.worlds_jumping = u64::from(self.jumps > 0);
        self.worlds_shared = u64::from(processes > 1);
        self
    }

    /// Adds those of another.
    pub fn add(&mut self, other: &Self) {
        self.worlds += other.worlds;
        self.reports += other.reports;
        self.requests += other.requests;
        self.crashes += other.crashes;
        self.stalls += other.stalls;
        self.refusals += other.refusals;
        self.jumps += other.jumps;
        self.answers_lost += other.answers_lost;
        self.lags += other.lags;
        self.takeovers += other.takeovers;
        self.deeds += other.deeds;
        self.worlds_killed += other.worlds_killed;
        self.worlds_lost += other.worlds_lost;
        self.worlds_lagging += other.worlds_lagging;
        self.worlds_jumping += other.worlds_jumping;
        self.worlds_shared += other.worlds_shared;
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} worlds, {} reports, {} requests, {} answers lost or late, {} late searches, {} \
             deaths, {} stalls, {} refused writes, {} jumps of the clock, {} takeovers, {} deeds \
             of people",
            self.worlds,
            self.reports,
            self.requests,
            self.answers_lost,
            self.lags,
            self.crashes,
            self.stalls,
            self.refusals,
            self.jumps,
            self.takeovers,
            self.deeds
        )
    }
}
