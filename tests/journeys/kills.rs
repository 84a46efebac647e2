//! Real deaths: the real `labcourier` is killed at every operation on its disk and at every stage
//! of the exchange, its power is cut, it is shot at under load. Afterwards it goes on by itself,
//! and what the laboratory says is compared with what the authority has.
//!
//! A test run takes a sample; `LABCOURIER_KILLS=1500` (`cargo xtask deaths --times 1500`) sets how
//! many deaths all campaigns make together, `LABCOURIER_SEED` which ones.

mod kills {
    mod batch;
    mod core;
    mod crowd;
    mod disk;
    mod plan;
    mod power;
}
