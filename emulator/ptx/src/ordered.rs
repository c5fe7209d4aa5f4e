//! Values by numbers such as addresses and handles, in the order of the numbers.

use std::collections::BTreeMap;
use std::ops::RangeBounds;

/// A map with ordered keys.
///
/// It is a tree of positions in a list, so that it is not compiled for each type of value.
#[derive(Debug, Clone)]
pub struct Ordered<V> {
    /// Position of the value of each key.
    places: BTreeMap<u64, u64>,
    /// Keys and values, unordered.
    values: Vec<(u64, V)>,
}

impl<V> Default for Ordered<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> Ordered<V> {
    pub const fn new() -> Self {
        Self { places: BTreeMap::new(), values: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub fn contains(&self, key: u64) -> bool {
        self.places.contains_key(&key)
    }

    pub fn get(&self, key: u64) -> Option<&V> {
        self.at(*self.places.get(&key)?)
    }

    pub fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        let place = *self.places.get(&key)?;
        Some(&mut self.values.get_mut(place as usize)?.1)
    }

    /// Inserts a value. Replaces the value of the same key.
    pub fn insert(&mut self, key: u64, value: V) {
        match self.get_mut(key) {
            Some(before) => *before = value,
            None => {
                self.places.insert(key, self.values.len() as u64);
                self.values.push((key, value));
            }
        }
    }

    /// Returns the value of a key, created if there is none.
    pub fn get_or_insert_with(&mut self, key: u64, make: impl FnOnce() -> V) -> &mut V {
        let place = match self.places.get(&key) {
            Some(place) => *place as usize,
            None => {
                let place = self.values.len();
                self.values.push((key, make()));
                self.places.insert(key, place as u64);
                place
            }
        };
        &mut self.values[place].1
    }

    pub fn remove(&mut self, key: u64) -> Option<V> {
        let place = self.places.remove(&key)?;
        let (_, value) = self.values.swap_remove(place as usize);
        // The last value has moved to the free position.
        if let Some((moved, _)) = self.values.get(place as usize) {
            self.places.insert(*moved, place);
        }
        Some(value)
    }

    /// Returns the value of the highest key that is at most this one.
    pub fn last_up_to(&self, key: u64) -> Option<(u64, &V)> {
        let (key, place) = self.places.range(..=key).next_back()?;
        Some((*key, self.at(*place)?))
    }

    pub fn first_key(&self) -> Option<u64> {
        self.places.first_key_value().map(|(key, _)| *key)
    }

    pub fn last_key(&self) -> Option<u64> {
        self.places.last_key_value().map(|(key, _)| *key)
    }

    pub fn keys(&self) -> impl Iterator<Item = u64> {
        self.places.keys().copied()
    }

    pub fn keys_in(&self, range: impl RangeBounds<u64>) -> Vec<u64> {
        self.places.range(range).map(|(key, _)| *key).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, &V)> {
        self.places.iter().filter_map(|(key, place)| Some((*key, self.at(*place)?)))
    }

    fn at(&self, place: u64) -> Option<&V> {
        self.values.get(place as usize).map(|(_, value)| value)
    }
}

/// Stable sort of values by a number of each. It is also compiled once.
pub(crate) fn sort_by_number<T: Copy>(values: &mut Vec<T>, number: impl Fn(&T) -> u64) {
    let mut places = Vec::with_capacity(values.len());
    for value in values.iter() {
        places.push((number(value), places.len()));
    }
    sort(&mut places);
    *values = places.into_iter().map(|(_, place)| values[place]).collect();
}

fn sort(places: &mut [(u64, usize)]) {
    places.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_with_their_keys_when_others_go() {
        let mut all = Ordered::new();
        for key in [30, 10, 20, 40] {
            all.insert(key, key + 1);
        }
        all.insert(20, 22);
        assert_eq!(all.remove(30), Some(31));
        assert_eq!(all.remove(30), None);
        *all.get_or_insert_with(10, || 0) += 1;
        assert_eq!(all.iter().collect::<Vec<_>>(), [(10, &12), (20, &22), (40, &41)]);
        assert_eq!(all.last_up_to(39), Some((20, &22)));
        assert_eq!(all.last_up_to(9), None);
        assert_eq!(all.keys_in(11..=40), [20, 40]);
        assert_eq!((all.first_key(), all.last_key(), all.len()), (Some(10), Some(40), 3));
    }
    #[test]
    fn equal_numbers_stay_in_their_order() {
        let mut pairs = vec![(2, 'a'), (1, 'b'), (2, 'c'), (0, 'd')];
        sort_by_number(&mut pairs, |pair| pair.0);
        assert_eq!(pairs, [(0, 'd'), (1, 'b'), (2, 'a'), (2, 'c')]);
    }
}
