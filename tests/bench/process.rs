//! What a process used, from `/proc` (Linux only).
//!
//! What it does: processor time and resident memory of one process. What it does not: count its
//! children. Units: seconds, KiB.

use crate::pty::Failure;
use std::fs;

/// `USER_HZ`: clock ticks of a second in `/proc`, 100 on all that we build for.
const TICKS: f64 = 100.0;

/// At one moment.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// User and system time so far, seconds.
    pub cpu: f64,
    /// Resident now, KiB.
    pub resident: u64,
    /// The most that was resident since the start or since [`forget_peak`], KiB.
    pub peak: u64,
}

/// What this process used so far; `self` or a number.
pub fn usage(pid: &str) -> Result<Usage, Failure> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name in brackets may hold anything.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: Result<Vec<f64>, _> = ticks.map(str::parse::<f64>).collect();
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    Ok(Usage {
        cpu: ticks?.iter().sum::<f64>() / TICKS,
        resident: field(&status, "VmRSS:")?,
        peak: field(&status, "VmHWM:")?,
    })
}

/// Starts the peak anew.
pub fn forget_peak(pid: &str) -> Result<(), Failure> {
    Ok(fs::write(format!("/proc/{pid}/clear_refs"), "5")?)
}

fn field(status: &str, name: &str) -> Result<u64, Failure> {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number
        .ok_or_else(|| format!("no {name} in /proc"))?
        .parse()?)
}
