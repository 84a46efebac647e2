//! The passphrase of a guard, such as the locked window: only what proves it is kept.
//!
//! `LCSCREEN1 | memory KiB u32 | passes u32 | lanes u32 | salt 16 | verifier 32`, numbers
//! little-endian; the verifier is Argon2id of the passphrase. Nothing is sealed by it: the
//! journal's key rests elsewhere.

use zeroize::Zeroizing;

use super::problem::SecretsError;
use super::vault::{COST, Cost, derive, number};
use crate::password::Password;

const MAGIC: &[u8; 9] = b"LCSCREEN1";
const SALT: usize = 16;
const VERIFIER: usize = 32;

/// What is kept of a new passphrase.
pub(super) fn record(passphrase: &Password) -> Result<Zeroizing<Vec<u8>>, SecretsError> {
    let mut salt = [0u8; SALT];
    getrandom::fill(&mut salt).map_err(|_| SecretsError::NoRandomness)?;
    let derived = derive(passphrase, COST, &salt)?;
    let mut out = Zeroizing::new(Vec::with_capacity(MAGIC.len() + 12 + SALT + VERIFIER));
    out.extend_from_slice(MAGIC);
    for number in [COST.memory_kib, COST.passes, COST.lanes] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&salt);
    out.extend_from_slice(&derived[32..]);
    Ok(out)
}

/// Whether it is the passphrase of the record. `Damaged` where the record is none.
pub(super) fn fits(record: &[u8], passphrase: &Password) -> Result<bool, SecretsError> {
    let damaged = || SecretsError::Damaged { name: "screen" };
    let (cost, salt, verifier) = parse(record).ok_or_else(damaged)?;
    let derived = derive(passphrase, cost, salt)?;
    // In constant time: whoever asks again and again learns nothing from how long the answer takes.
    let difference = derived[32..].iter().zip(verifier).fold(0, |all, (a, b)| all | (a ^ b));
    Ok(difference == 0)
}

fn parse(record: &[u8]) -> Option<(Cost, &[u8; SALT], &[u8; VERIFIER])> {
    let rest = record.strip_prefix(MAGIC)?;
    let (memory_kib, rest) = number(rest)?;
    let (passes, rest) = number(rest)?;
    let (lanes, rest) = number(rest)?;
    let cost = Cost { memory_kib, passes, lanes }.bounded()?;
    let (salt, rest) = rest.split_first_chunk::<SALT>()?;
    let (verifier, rest) = rest.split_first_chunk::<VERIFIER>()?;
    rest.is_empty().then_some((cost, salt, verifier))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn password(text: &str) -> Password {
        Password::from(text.to_owned())
    }

    #[test]
    fn the_passphrase_fits_and_nothing_of_it_is_kept() {
        let kept = record(&password("zwinglicanary")).unwrap();
        assert!(fits(&kept, &password("zwinglicanary")).unwrap());
        assert!(!fits(&kept, &password("zwinglicanarz")).unwrap());
        assert!(!fits(&kept, &password("")).unwrap());
        assert!(!kept.windows(6).any(|window| window == b"zwingl"));
        assert_ne!(*record(&password("zwinglicanary")).unwrap(), *kept, "salted");
    }

    #[test]
    fn a_record_that_is_none_opens_nothing() {
        let kept = record(&password("a")).unwrap();
        let mut greedy = kept.to_vec();
        // Asks for 4 TiB of memory.
        greedy[12] = 0xff;
        for bytes in [&kept[..0], &kept[1..], &kept[..kept.len() - 1], &greedy[..]] {
            let error = fits(bytes, &password("a")).unwrap_err();
            assert_eq!(error.code(), "secret-damaged");
        }
    }
}
