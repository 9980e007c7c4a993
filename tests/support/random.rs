//! Random choices that can be repeated: the seed is printed, and `CAPICTL_SEED` sets it.

/// A source of numbers by the splitmix64 rule: small, and good enough to choose samples.
pub struct Random(u64);

impl Random {
    /// Starts from `CAPICTL_SEED`, else from the clock, and prints the seed. `purpose` keeps tests apart.
    pub fn for_test(purpose: &str) -> Self {
        let clock = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let seed = match std::env::var("CAPICTL_SEED") {
            Ok(text) => text.parse().expect("CAPICTL_SEED is a number"),
            Err(_) => clock().expect("it is after 1970").as_secs(),
        };
        println!("{purpose}: CAPICTL_SEED={seed}");
        let salt = purpose.bytes().fold(seed, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(byte.into())
        });
        Self(salt)
    }

    /// Starts from a number, such as another source has given.
    pub fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("it is below a usize")
    }

    /// Returns `count` different numbers below `end`, or all of them in order when a sweep asks for the whole.
    pub fn sample(&mut self, end: usize, count: usize) -> Vec<usize> {
        if std::env::var_os("CAPICTL_SWEEP").is_some() {
            return (0..end).collect();
        }
        let mut all: Vec<usize> = (0..end).collect();
        (0..count.min(end))
            .map(|_| all.swap_remove(self.below(all.len())))
            .collect()
    }
}
