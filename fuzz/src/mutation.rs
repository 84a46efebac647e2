//! Changes of stored inputs, the same for the same seed: what the fuzzer does, without its
//! coverage, so that every test run on the pinned compiler tries some.

/// Longest input that is made.
const BYTES_MAX: usize = 64 << 10;

/// SplitMix64: equal on every machine.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Begins anew.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, 0 where that is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % (limit.max(1) as u64)).unwrap_or_default()
    }
}

/// One of the inputs with one to four changes: words put in or over, pieces of another input, bytes
/// flipped, doubled, left out, cut off.
pub fn changed(inputs: &[Vec<u8>], words: &[&str], random: &mut Random) -> Vec<u8> {
    let Some(of) = inputs.get(random.below(inputs.len())) else { return Vec::new() };
    let mut bytes = of.clone();
    for _ in 0..=random.below(4) {
        change(&mut bytes, inputs, words, random);
    }
    bytes.truncate(BYTES_MAX);
    bytes
}

fn change(bytes: &mut Vec<u8>, inputs: &[Vec<u8>], words: &[&str], random: &mut Random) {
    let start = random.below(bytes.len() + 1);
    let end = (start + random.below(24)).min(bytes.len());
    match random.below(8) {
        0 | 1 => {
            let word = words.get(random.below(words.len())).map_or(&b"\0"[..], |w| w.as_bytes());
            bytes.splice(start..end, word.iter().copied());
        }
        2 => {
            let word = words.get(random.below(words.len())).map_or(&b"\xFF"[..], |w| w.as_bytes());
            bytes.splice(start..start, word.iter().copied());
        }
        3 => {
            if let Some(byte) = bytes.get_mut(start) {
                *byte ^= 1 << random.below(8);
            }
        }
        4 => {
            bytes.drain(start..end);
        }
        5 => {
            let piece = bytes[start..end].to_vec();
            let times = 1 + random.below(40);
            bytes.splice(start..start, piece.repeat(times));
        }
        6 => {
            let other = inputs.get(random.below(inputs.len())).map_or(&[][..], Vec::as_slice);
            let from = random.below(other.len() + 1);
            let to = (from + random.below(200)).min(other.len());
            bytes.splice(start..end, other[from..to].iter().copied());
        }
        _ => bytes.truncate(start),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_changes_and_others_make_others() {
        let inputs = vec![b"{\"resourceType\":\"Patient\"}".to_vec(), b"<Patient/>".to_vec()];
        let made = |seed: u64| -> Vec<Vec<u8>> {
            let mut random = Random::new(seed);
            (0..50).map(|_| changed(&inputs, &["null", "é"], &mut random)).collect()
        };
        assert_eq!(made(7), made(7));
        assert_ne!(made(7), made(8));
        let mut different = made(7);
        different.sort_unstable();
        different.dedup();
        assert!(different.len() > 40, "{}", different.len());
        assert!(changed(&[], &[], &mut Random::new(1)).is_empty());
    }
}
