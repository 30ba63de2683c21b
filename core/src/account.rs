//! The account of memory: what is held, the most that was held, and the limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use adl_diag::{Code, Span};

use crate::run::RuntimeError;

/// Counts the bytes that tables and cells hold.
#[derive(Debug)]
pub struct Account {
    held: AtomicU64,
    peak: AtomicU64,
    /// Allocations so far.
    count: AtomicU64,
    limit: u64,
}

/// Bytes taken from an account, given back when this is dropped. The default holds nothing.
#[derive(Debug, Default)]
pub struct Charge {
    account: Option<Arc<Account>>,
    bytes: u64,
}

/// An allocation that the limit forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Bytes asked for; `u64::MAX` where the number itself does not fit.
    pub asked: u64,
    /// Bytes held at that time.
    pub held: u64,
    /// The limit.
    pub limit: u64,
}

impl Account {
    /// An empty account with a limit in bytes.
    #[must_use]
    pub fn new(limit: u64) -> Arc<Account> {
        let zero = || AtomicU64::new(0);
        Arc::new(Account { held: zero(), peak: zero(), count: zero(), limit })
    }

    /// Takes bytes for as long as the charge lives.
    ///
    /// # Errors
    ///
    /// If the limit would be passed.
    pub fn charge(self: &Arc<Account>, bytes: u64) -> Result<Charge, OutOfMemory> {
        self.take(bytes)?;
        Ok(Charge { account: Some(Arc::clone(self)), bytes })
    }

    /// Takes bytes until [`Account::give`] is told of them.
    ///
    /// # Errors
    ///
    /// If the limit would be passed.
    pub fn take(&self, bytes: u64) -> Result<(), OutOfMemory> {
        let held = self.held.fetch_add(bytes, Ordering::Relaxed);
        let sum = held.checked_add(bytes);
        if sum.is_none_or(|sum| self.limit < sum) {
            self.held.fetch_sub(bytes, Ordering::Relaxed);
            return Err(OutOfMemory { asked: bytes, held, limit: self.limit });
        }
        self.peak.fetch_max(held + bytes, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Gives bytes back.
    pub fn give(&self, bytes: u64) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Bytes held now.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// The most bytes that were held.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// The number of allocations so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The limit in bytes.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }
}

impl Charge {
    /// Takes more bytes under the same charge.
    ///
    /// # Errors
    ///
    /// If the limit would be passed.
    pub fn grow(&mut self, bytes: u64) -> Result<(), OutOfMemory> {
        if let Some(account) = &self.account {
            account.take(bytes)?;
            self.bytes += bytes;
        }
        Ok(())
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if let Some(account) = &self.account {
            account.give(self.bytes);
        }
    }
}

impl OutOfMemory {
    /// The run-time error at the place that asked.
    #[must_use]
    pub fn at(self, span: Span) -> RuntimeError {
        let OutOfMemory { asked, held, limit } = self;
        let asked = if asked == u64::MAX { "more bytes than can be counted".into() } else { bytes(asked) };
        let message =
            format!("out of memory: {asked} asked for, {} held, the limit is {}", bytes(held), bytes(limit));
        RuntimeError::new(Code::E0706, span, message)
    }
}

/// A number of bytes for people.
fn bytes(n: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if n < 10_000 {
        return format!("{n} bytes");
    }
    let (mut size, mut unit) = (n as f64 / 1024.0, 0);
    while 1024.0 <= size && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_charge_is_given_back() {
        let account = Account::new(100);
        let charge = account.charge(60).unwrap();
        assert_eq!(account.charge(41).unwrap_err(), OutOfMemory { asked: 41, held: 60, limit: 100 });
        drop(charge);
        assert_eq!((account.held(), account.peak(), account.count()), (0, 60, 1));
    }

    #[test]
    fn sizes_read_well() {
        assert_eq!([bytes(9_999), bytes(10_240), bytes(3 << 30)], ["9999 bytes", "10.0 KiB", "3.0 GiB"]);
    }
}
