//! What the measurements put out, line by line.

use super::*;
use std::time::Duration;

fn measurements(text: &str) -> Measurements {
    let mut p = Properties::default();
    p.parse(text);
    Measurements::new(&p).unwrap()
}

fn span(begin: Instant, intended_us: u64, us: u64) -> Span {
    let end = begin + Duration::from_micros(us);
    Span { intended: Some(begin - Duration::from_micros(intended_us)), begin, end }
}

fn export(measurements: &Measurements) -> String {
    let mut out = Export::text();
    measurements.export(&mut out).unwrap();
    out.finish()
}

#[test]
fn operations_have_their_latencies_and_statuses() {
    let seen = measurements("");
    let begin = Instant::now() + Duration::from_secs(1);
    for us in [100, 200, 300] {
        seen.operation(Name::Update, Status::Ok, span(begin, 0, us));
    }
    seen.operation(Name::Read, Status::Ok, span(begin, 0, 50));
    seen.operation(Name::Read, Status::NotFound, span(begin, 0, 70));
    seen.operation(Name::Cleanup, Status::Ok, span(begin, 0, 7));
    assert_eq!(
        export(&seen),
        "\
[READ], Operations, 1
[READ], AverageLatency(us), 50.0
[READ], MinLatency(us), 50
[READ], MaxLatency(us), 50
[READ], 50thPercentileLatency(us), 50
[READ], 95thPercentileLatency(us), 50
[READ], 99thPercentileLatency(us), 50
[READ], Return=OK, 1
[READ], Return=NOT_FOUND, 1
[CLEANUP], Operations, 1
[CLEANUP], AverageLatency(us), 7.0
[CLEANUP], MinLatency(us), 7
[CLEANUP], MaxLatency(us), 7
[CLEANUP], 50thPercentileLatency(us), 7
[CLEANUP], 95thPercentileLatency(us), 7
[CLEANUP], 99thPercentileLatency(us), 7
[UPDATE], Operations, 3
[UPDATE], AverageLatency(us), 200.0
[UPDATE], MinLatency(us), 100
[UPDATE], MaxLatency(us), 300
[UPDATE], 50thPercentileLatency(us), 200
[UPDATE], 95thPercentileLatency(us), 300
[UPDATE], 99thPercentileLatency(us), 300
[UPDATE], Return=OK, 3
[READ-FAILED], Operations, 1
[READ-FAILED], AverageLatency(us), 70.0
[READ-FAILED], MinLatency(us), 70
[READ-FAILED], MaxLatency(us), 70
[READ-FAILED], 50thPercentileLatency(us), 70
[READ-FAILED], 95thPercentileLatency(us), 70
[READ-FAILED], 99thPercentileLatency(us), 70
"
    );
}

#[test]
fn latency_counts_from_when_an_operation_was_due() {
    let begin = Instant::now() + Duration::from_secs(1);
    let lines = |text: &str| {
        let seen = measurements(text);
        seen.operation(Name::Read, Status::Ok, span(begin, 1000, 50));
        seen.took(Name::ReadModifyWrite, Span { intended: None, ..span(begin, 0, 30) });
        let all = export(&seen);
        all.lines().filter(|line| line.contains("MaxLatency")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        lines("measurement.interval=op"),
        ["[READ], MaxLatency(us), 50", "[READ-MODIFY-WRITE], MaxLatency(us), 30"]
    );
    assert_eq!(
        lines("measurement.interval=intended"),
        ["[READ], MaxLatency(us), 1050", "[READ-MODIFY-WRITE], MaxLatency(us), 30"]
    );
    assert_eq!(
        lines("measurement.interval=both"),
        [
            "[READ], MaxLatency(us), 50",
            "[READ-MODIFY-WRITE], MaxLatency(us), 30",
            "[Intended-READ], MaxLatency(us), 1050",
            "[Intended-READ-MODIFY-WRITE], MaxLatency(us), 30"
        ]
    );
}

#[test]
fn errors_may_be_told_apart() {
    let begin = Instant::now();
    for (text, want) in [
        ("", "READ-FAILED"),
        ("reportlatencyforeacherror=true", "READ-NOT_FOUND"),
        ("latencytrackederrors=ERROR,NOT_FOUND", "READ-NOT_FOUND"),
        ("latencytrackederrors=ERROR", "READ-FAILED"),
    ] {
        let seen = measurements(text);
        seen.operation(Name::Read, Status::NotFound, Span { intended: None, begin, end: begin });
        let out = export(&seen);
        assert!(out.contains(&format!("[{want}], Operations, 1")), "{text}: {out}");
        assert!(out.contains("[READ], Operations, 0\n") && out.contains("[READ], Return=NOT_FOUND, 1\n"), "{out}");
    }
}

#[test]
fn a_status_line_has_the_order_of_the_results() {
    let begin = Instant::now() + Duration::from_secs(1);
    let seen = measurements("");
    for name in [Name::Update, Name::Cleanup, Name::Read] {
        seen.operation(name, Status::Ok, span(begin, 0, 5));
    }
    let summary = seen.summary();
    let names: Vec<&str> = summary.split('[').filter_map(|part| Some(part.split_once(':')?.0)).collect();
    assert_eq!(names, ["READ", "CLEANUP", "UPDATE"], "as a map of Java's has them");
}

#[test]
fn every_type_has_its_lines() {
    let begin = Instant::now() + Duration::from_secs(1);
    let text = |text: &str| {
        let seen = measurements(text);
        for us in [1_500, 2_500, 2_700, 9_000_000] {
            seen.operation(Name::Scan, Status::Ok, span(begin, 0, us));
        }
        let summary = seen.summary();
        (summary, export(&seen))
    };
    let (summary, out) = text("measurementtype=histogram\nhistogram.buckets=3\nmeasurement.histogram.verbose=true");
    assert_eq!(summary, "[SCAN AverageLatency(us)=2251675] ");
    for line in [
        "[SCAN], LatencyVariance(us), ",
        "[SCAN], Return=OK, 4\n[SCAN], 0, 0\n[SCAN], 1, 1\n[SCAN], 2, 2\n[SCAN], >3, 1\n",
    ] {
        assert!(out.contains(line), "{out}");
    }
    let (_, out) = text("measurementtype=hdrhistogram+histogram");
    assert!(out.contains("[HdrSCAN], Return=OK, 4") && out.contains("[BucketSCAN], Operations, 4"), "{out}");
    assert!(!out.contains("[BucketSCAN], Return"), "{out}");
    let (_, out) = text("measurementtype=timeseries");
    assert!(out.ends_with("[SCAN], Return=OK, 4\n[SCAN], 0, 2251675.0\n"), "{out}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("raw");
    let (summary, out) = text(&format!("measurementtype=raw\nmeasurement.raw.output_file={}", file.display()));
    assert_eq!(summary, "SCAN count: 4, average latency(us): 2251675.00 ");
    assert!(out.contains("[SCAN], Total Operations, 4\n") && out.contains("[SCAN], p50, 2700\n"), "{out}");
    let raw = std::fs::read_to_string(file).unwrap();
    assert_eq!(raw.lines().count(), 5);
    assert!(raw.starts_with("SCAN latency raw data: op, timestamp(ms), latency(us)\nSCAN,"), "{raw}");
}

#[test]
fn what_is_not_known_is_refused_by_name() {
    for (name, value) in [
        ("measurementtype", "dice"),
        ("measurement.interval", "often"),
        ("hdrhistogram.percentiles", "200"),
        ("hdrhistogram.fileoutput", "true"),
        ("timeseries.granularity", "0"),
        ("histogram.buckets", "-1"),
    ] {
        let mut p = Properties::default();
        p.set(name, value);
        let told = Measurements::new(&p).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(told.contains(name), "{name}: {told}");
    }
}
