//! How many deaths of which kind, and which of all that are possible.

/// How many deaths the campaigns make together, where a number is asked for.
fn asked() -> Option<u64> {
    let asked = std::env::var("LABCOURIER_KILLS").ok()?;
    Some(asked.parse().expect("LABCOURIER_KILLS is a number"))
}

/// How many cases a campaign runs: its share of what is asked for, else its sample.
pub(super) fn share(percent: u64, sample: u64) -> u64 {
    asked().map_or(sample, |all| (all * percent).div_ceil(100).max(1))
}

/// How many programs of one campaign die at the same time.
pub(super) fn lanes() -> usize {
    if asked().is_some_and(|all| all > 300) { 3 } else { 1 }
}

/// The seed of this run: the same unless another is asked for, so that what fails can be repeated.
pub(super) fn seed(campaign: &str) -> u64 {
    let chosen = std::env::var("LABCOURIER_SEED").ok().and_then(|text| text.parse().ok());
    let seed = chosen.unwrap_or(1);
    eprintln!("{campaign}: LABCOURIER_SEED={seed}");
    seed
}

/// Every k-th of the cases, so many as asked, begun where the seed says: another seed takes others.
/// Where more are asked for than there are, they come again: no two deaths are quite the same.
pub(super) fn sample<T: Clone>(all: &[T], wanted: u64, seed: u64) -> Vec<T> {
    let wanted = usize::try_from(wanted).expect("a count");
    if wanted >= all.len() {
        return all.iter().cycle().take(wanted).cloned().collect();
    }
    let every = all.len().div_ceil(wanted.max(1));
    let from = usize::try_from(seed % every as u64).expect("less than a length");
    all.iter().skip(from).step_by(every).cloned().collect()
}

/// Throws of a seed (splitmix64).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }
}
