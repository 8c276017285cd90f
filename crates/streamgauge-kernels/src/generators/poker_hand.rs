//! Poker hands (Cattral and Oppacher, "Poker Hand", UCI Machine Learning Repository, 2002).

use super::{Generator, Source};
use crate::randomness::Draws;

const N_CARDS: usize = 5;
const N_ATTRIBUTES: usize = 2 * N_CARDS;
const N_RANKS: u64 = 13;
const N_IN_DECK: u64 = 52;
/// The ranks ten, jack, queen, king and ace, one bit each; the ace is the first bit.
const TEN_TO_ACE: u32 = 0b1_1110_0000_0001;

/// Five cards dealt without replacement: suit code 0 to 3 and rank 1 to 13 of each; the class is the hand.
#[derive(Debug, Clone)]
pub struct PokerHand {
    cards: Draws,
}

impl PokerHand {
    /// Creates a stream of hands.
    pub fn new(source: impl Into<Source>) -> Self {
        Self { cards: source.into().rows("poker cards") }
    }

    /// Deals a hand: each card is drawn from the remaining ones.
    #[inline(always)]
    fn deal(&self, row: u64) -> [u64; N_CARDS] {
        let first = row.wrapping_mul(N_CARDS as u64);
        let (mut hand, mut sorted) = ([0; N_CARDS], [u64::MAX; N_CARDS]);
        for i in 0..N_CARDS {
            let mut card = self.cards.below(first.wrapping_add(i as u64), N_IN_DECK - i as u64);
            // The card-th of the remaining ones: skip every smaller card already dealt.
            for &dealt in &sorted[..i] {
                card += u64::from(card >= dealt);
            }
            hand[i] = card;
            sorted[i] = card;
            for j in (0..i).rev() {
                (sorted[j], sorted[j + 1]) = (sorted[j].min(sorted[j + 1]), sorted[j].max(sorted[j + 1]));
            }
        }
        hand
    }
}

/// Returns the class of a hand of cards 0 to 51: 0 nothing, 1 one pair, 2 two pairs, 3 three of a kind, 4 straight, 5
/// flush, 6 full house, 7 four of a kind, 8 straight flush, 9 royal flush.
#[inline(always)]
fn classify(hand: &[u64; N_CARDS]) -> i32 {
    let (mut ranks, mut counts, mut suits) = (0_u32, 0_u64, 0_u32);
    for &card in hand {
        let rank = card % N_RANKS;
        ranks |= 1 << rank;
        counts += 1 << (4 * rank);
        suits |= 1 << (card / N_RANKS);
    }
    let four = counts & 0x4444_4444_4444_4444 != 0;
    let three = counts & (counts >> 1) & 0x1111_1111_1111_1111 != 0;
    match ranks.count_ones() {
        5 => {
            let royal = ranks == TEN_TO_ACE;
            let straight = royal || ranks >> ranks.trailing_zeros() == 0b1_1111;
            match (suits.is_power_of_two(), straight) {
                (true, true) => 8 + i32::from(royal),
                (true, false) => 5,
                (false, true) => 4,
                (false, false) => 0,
            }
        }
        4 => 1,
        3 => 2 + i32::from(three),
        _ => 6 + i32::from(four),
    }
}

impl Generator for PokerHand {
    fn n_attributes(&self) -> usize {
        N_ATTRIBUTES
    }

    fn fill(&self, start: u64, x: &mut [f64], y: &mut [i32]) {
        let (rows, _) = x.as_chunks_mut::<N_ATTRIBUTES>();
        for (i, (values, label)) in rows.iter_mut().zip(y).enumerate() {
            let hand = self.deal(start.wrapping_add(i as u64));
            for (card, pair) in hand.iter().zip(values.as_chunks_mut::<2>().0) {
                *pair = [(card / N_RANKS) as f64, (card % N_RANKS + 1) as f64];
            }
            *label = classify(&hand);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_hands_in_a_deck_are_the_known_ones() {
        let mut counts = [0_u32; 10];
        for a in 0..N_IN_DECK {
            for b in 0..a {
                for c in 0..b {
                    for d in 0..c {
                        for e in 0..d {
                            counts[classify(&[a, b, c, d, e]) as usize] += 1;
                        }
                    }
                }
            }
        }
        assert_eq!(counts, [1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5_108, 3_744, 624, 36, 4]);
    }

    #[test]
    fn no_card_is_dealt_twice() {
        let generator = PokerHand::new(1);
        for row in 0..100_000 {
            let mut hand = generator.deal(row);
            hand.sort_unstable();
            assert!(hand.windows(2).all(|pair| pair[0] < pair[1]) && hand[4] < N_IN_DECK);
        }
    }
}
