//! Samples as text, in the format that the reader asked for.
//!
//! What it does: collect samples by metric and write them as OpenMetrics 1.0, or in the older text
//! format of Prometheus. What it does not: know what they mean. Invariants: every metric of the table
//! has its HELP and TYPE, with samples or without; what a server said is cleaned.

use super::table::{Kind, METRICS, Metric};
use crate::core::present::clean;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::encoding::{prometheus_text, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use std::collections::BTreeMap;
use std::fmt;

/// How samples are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// The text format 0.0.4 of Prometheus, for who asks for plain text.
    Plain,
}

impl Format {
    /// What an `Accept` header asks for: OpenMetrics unless plain text is named and OpenMetrics is not.
    pub fn accepted(accept: &str) -> Self {
        let accept = accept.to_ascii_lowercase();
        if accept.contains("text/plain") && !accept.contains("application/openmetrics-text") {
            Format::Plain
        } else {
            Format::OpenMetrics
        }
    }

    /// The content type.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Format::Plain => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// A value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A number of something.
    Count(u64),
    /// Seconds.
    Seconds(f64),
}

#[derive(Debug, Clone, PartialEq)]
struct Sample {
    labels: Vec<(&'static str, String)>,
    value: Value,
}

/// What is told at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Samples(BTreeMap<&'static str, Vec<Sample>>);

impl Samples {
    /// Adds a number. `labels`: the values of the metric's labels, in their order.
    pub fn count(&mut self, metric: &Metric, labels: &[&str], value: u64) {
        self.put(metric, labels, Value::Count(value));
    }

    /// Adds seconds.
    pub fn seconds(&mut self, metric: &Metric, labels: &[&str], ms: i64) {
        self.put(metric, labels, Value::Seconds(ms as f64 / 1000.0));
    }

    fn put(&mut self, metric: &Metric, labels: &[&str], value: Value) {
        debug_assert_eq!(labels.len(), metric.labels.len(), "{}", metric.name);
        let names = metric.labels.iter().copied();
        let labels = names.zip(labels.iter().map(|it| clean(it)));
        let sample = Sample {
            labels: labels.collect(),
            value,
        };
        self.0.entry(metric.name).or_default().push(sample);
    }

    /// As text.
    ///
    /// # Errors
    /// The encoder failed; not for want of room.
    pub fn write(self, format: Format) -> Result<String, fmt::Error> {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(self));
        let mut text = String::new();
        match format {
            Format::OpenMetrics => text::encode(&mut text, &registry)?,
            Format::Plain => prometheus_text::encode(&mut text, &registry)?,
        }
        Ok(text)
    }
}

impl Collector for Samples {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        for metric in METRICS {
            let unit = metric.seconds.then_some(&Unit::Seconds);
            let kind = match metric.kind {
                Kind::Gauge => MetricType::Gauge,
                Kind::Counter => MetricType::Counter,
                Kind::Info => MetricType::Info,
            };
            let family = encoder.encode_descriptor(metric.name, metric.help, unit, kind)?;
            let samples = self.0.get(metric.name).map_or(&[][..], Vec::as_slice);
            encode_all(family, metric.kind, samples)?;
        }
        Ok(())
    }
}

fn encode_all(mut family: MetricEncoder, kind: Kind, samples: &[Sample]) -> fmt::Result {
    for sample in samples {
        if kind == Kind::Info {
            family.encode_info(&sample.labels)?;
            continue;
        }
        if sample.labels.is_empty() {
            encode_one(&mut family, kind, sample.value)?;
        } else {
            encode_one(
                &mut family.encode_family(&sample.labels)?,
                kind,
                sample.value,
            )?;
        }
    }
    Ok(())
}

fn encode_one(encoder: &mut MetricEncoder, kind: Kind, value: Value) -> fmt::Result {
    match (kind, value) {
        (Kind::Counter, Value::Count(it)) => {
            encoder.encode_counter::<NoLabelSet, _, f64>(&it, None)
        }
        (Kind::Counter, Value::Seconds(it)) => {
            encoder.encode_counter::<NoLabelSet, _, f64>(&it, None)
        }
        (_, Value::Count(it)) => encoder.encode_gauge(&it),
        (_, Value::Seconds(it)) => encoder.encode_gauge(&it),
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::{ACTIONS, SERVER_INFO, SESSIONS, START};
    use super::*;

    fn samples() -> Samples {
        let mut samples = Samples::default();
        samples.count(&SESSIONS, &["a\"b\\c\u{1b}[2J\n", "stuck"], 2);
        samples.count(&ACTIONS, &["abort", "done"], 3);
        samples.count(&SERVER_INFO, &["home", "http://h:1", "1.18.33", "v1"], 1);
        samples.seconds(&START, &[], 1_500);
        samples
    }

    #[test]
    fn open_metrics_has_types_units_and_an_end() {
        let text = samples().write(Format::OpenMetrics).expect("text");
        assert!(text.ends_with("# EOF\n"), "{text}");
        for line in [
            "# TYPE ocwatch_sessions gauge",
            "ocwatch_sessions{server=\"a\\\"b\\\\c␛[2J \",level=\"stuck\"} 2",
            "# TYPE ocwatch_actions counter",
            "ocwatch_actions_total{action=\"abort\",outcome=\"done\"} 3",
            "# TYPE ocwatch_server info",
            "ocwatch_server_info{server=\"home\",url=\"http://h:1\",version=\"1.18.33\",dialect=\"v1\"} 1",
            "# UNIT process_start_time_seconds seconds",
            "process_start_time_seconds 1.5",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
        for metric in METRICS {
            let unit = if metric.seconds { "_seconds" } else { "" };
            let help = format!("# HELP {}{unit} {}", metric.name, metric.help);
            assert!(text.lines().any(|it| it == help), "{help}\n{text}");
        }
    }

    #[test]
    fn the_older_format_names_the_samples_themselves() {
        let text = samples().write(Format::Plain).expect("text");
        assert!(
            text.contains("# TYPE ocwatch_actions_total counter\n"),
            "{text}"
        );
        assert!(
            text.contains("# TYPE ocwatch_server_info gauge\n"),
            "{text}"
        );
        assert!(!text.contains("# EOF"), "{text}");
    }

    #[test]
    fn the_format_is_what_the_reader_takes() {
        let prometheus =
            "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";
        assert_eq!(Format::accepted(prometheus), Format::OpenMetrics);
        for any in ["", "*/*", "text/html"] {
            assert_eq!(Format::accepted(any), Format::OpenMetrics, "{any}");
        }
        assert_eq!(Format::accepted("text/plain"), Format::Plain);
    }
}
