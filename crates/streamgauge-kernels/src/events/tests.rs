use super::*;
use crate::randomness::{Draws, Purpose};
use crate::text::Dialect;

fn field(name: &str, names: Option<&[&str]>, role: FieldRole, missing: bool) -> Field {
    Field { name: name.into(), names: names.map(|names| names.iter().collect()), role, missing }
}

fn fields() -> Fields {
    Fields::new(vec![
        field("price", None, FieldRole::Attribute, false),
        field("day.name", Some(&["mo", "tu"]), FieldRole::Attribute, true),
        field("id", None, FieldRole::Key, false),
        field("class", Some(&["up", "1"]), FieldRole::Class, true),
    ])
}

fn decode(format: Box<dyn Format>, events: &[&[u8]]) -> Decoded {
    decode_as(fields(), format, events)
}

fn decode_as(fields: Fields, format: Box<dyn Format>, events: &[&[u8]]) -> Decoded {
    let ends: Vec<i64> = events
        .iter()
        .scan(0, |end, event| {
            *end += event.len() as i64;
            Some(*end)
        })
        .collect();
    Decoder::new(fields, format).decode(&events.concat(), &ends).unwrap()
}

#[test]
fn objects_become_rows_and_faults_are_reported() {
    let decoded = decode(
        Box::new(Json),
        &[
            br#"{"id": 9007199254740993, "price": 1.5, "day": {"name": "tu", "x": [1]}, "class": "up", "more": {}}"#,
            br#"{"id": "b", "price": "2", "class": 1}"#,
            br#"{"id": "c", "price": true}"#,
            br#"{"id": "d", "price": 1, "price": 2}"#,
            br#"{"id": "e", "price": {}}"#,
            br#"{"id": "f"}"#,
            br#"{"id": "g", "price": 1, "class": "down"}"#,
            br"[1]",
            b"",
            br#"{"id": "h", "price": 1} x"#,
            b"{\"id\": \"\xff\", \"price\": 1}",
            br#"{"id": "i", "price": 1e999}"#,
        ],
    );
    assert_eq!(decoded.event, [0, 1, 2]);
    assert_eq!(decoded.keys, b"9007199254740993bc");
    assert_eq!(decoded.key_ends, [16, 17, 18]);
    assert_eq!(decoded.y, [0, 1, -1]);
    assert_eq!((decoded.x[0], decoded.x[1], decoded.x[2], decoded.x[4]), (1.5, 1.0, 2.0, 1.0));
    assert!(decoded.x[3].is_nan() && decoded.x[5].is_nan());
    let reason: Vec<&str> = decoded.faults.iter().map(|fault| fault.reason.as_str()).collect();
    assert!(reason[0].starts_with("attribute 'price' occurs twice"), "{}", reason[0]);
    assert!(reason[1].starts_with("invalid type: map"), "{}", reason[1]);
    assert_eq!(reason[2], "attribute 'price' is missing");
    assert!(reason[3].starts_with("class 'class': 'down' is not one of its values (up, 1)"), "{}", reason[3]);
    assert_eq!(decoded.faults.iter().map(|fault| fault.event).collect::<Vec<_>>(), [3, 4, 5, 6, 7, 8, 9, 10, 11]);
}

#[test]
fn nested_values_are_found_or_reported() {
    let inner = ["a.0.b", "a.1.0", "c.d"].map(|name| field(name, None, FieldRole::Attribute, true));
    let decoded = decode_as(
        Fields::new(inner.into()),
        Box::new(Json),
        &[
            br#"{"a": [{"b": 1.5, "x": 0}, [2, 3], {"b": 4}], "c": {"d": 5}}"#,
            br#"{"a": [null, [6]], "c": null}"#,
            br#"{"a": null}"#,
            br"null",
            br#"{"c": 1}"#,
            br#"{"a": [1]}"#,
        ],
    );
    assert_eq!(decoded.event, [0, 1, 2]);
    assert_eq!(decoded.x[..3], [1.5, 2.0, 5.0]);
    assert_eq!(decoded.x[4], 6.0);
    assert!([3, 5, 6, 7, 8].iter().all(|&i| decoded.x[i].is_nan()));
    let reason: Vec<&str> = decoded.faults.iter().map(|fault| fault.reason.as_str()).collect();
    assert!(reason[0].starts_with("invalid type: null, expected an object"), "{}", reason[0]);
    assert!(reason[1].starts_with("invalid type: integer `1`, expected an object or a list, 'c'"), "{}", reason[1]);
    assert!(reason[2].starts_with("invalid type: integer `1`, expected an object or a list, 'a.0'"), "{}", reason[2]);
}

#[test]
fn lines_become_rows_and_faults_are_reported() {
    let columns = ["id", "price", "unknown", "class", "day.name"].map(String::from);
    let csv = || {
        let dialect = Dialect::new(b',', vec!["?".into(), String::new()]).unwrap();
        Box::new(Csv::new(dialect, &columns, &fields()))
    };
    let decoded = decode(
        csv(),
        &[
            b"007,1.5,x,up,tu\r\n",
            b"b,-2,,?,",
            b"c,1,x,up",
            b"d,1,x,up,tu,1",
            b"e,x,x,up,tu",
            b"f,?,x,up,tu",
            b"g\nh,1,x,up,tu",
        ],
    );
    assert_eq!((decoded.event, decoded.y), (vec![0, 1], vec![0, -1]));
    assert_eq!(decoded.keys, b"007b");
    let reason: Vec<&str> = decoded.faults.iter().map(|fault| fault.reason.as_str()).collect();
    assert_eq!(
        reason,
        [
            "it has only 4 of 5 values",
            "it has more than 5 values",
            "column 2: attribute 'price': 'x' is not a number",
            "attribute 'price' is missing",
            "it has more than one line",
        ]
    );
}

const SCHEMA: &str = r#"{"type": "record", "name": "Row", "fields": [
    {"name": "id", "type": "long"},
    {"name": "price", "type": ["null", "double"]},
    {"name": "day", "type": {"type": "record", "name": "Day", "fields": [{"name": "name", "type": "string"}]}},
    {"name": "spare", "type": {"type": "array", "items": {"type": "map", "values": "int"}}},
    {"name": "class", "type": {"type": "enum", "name": "Class", "symbols": ["up", "side"]}}
]}"#;

#[test]
fn records_become_rows_and_faults_are_reported() {
    let record = |class: u8| {
        let mut bytes = vec![0x02, 0x02];
        bytes.extend(1.5_f64.to_le_bytes());
        bytes.extend([4, b't', b'u', 2, 2, 2, b'a', 5, 0, 0, class]);
        bytes
    };
    let (good, side, broken) = (record(0), record(2), record(4));
    let decoded = decode(Box::new(Avro::new(SCHEMA).unwrap()), &[&good, &side, &broken, &good[..9], b""]);
    assert_eq!((decoded.event, decoded.x, decoded.y), (vec![0], vec![1.5, 1.0], vec![0]));
    assert_eq!(decoded.keys, b"1");
    let reason: Vec<&str> = decoded.faults.iter().map(|fault| fault.reason.as_str()).collect();
    assert!(reason[0].starts_with("class 'class': 'side' is not one of"), "{}", reason[0]);
    assert_eq!(
        &reason[1..],
        ["2 is not a symbol of the enum", "it ends in the middle of a value", "it ends in the middle of a value"]
    );
    assert!(Avro::new("\"int\"").is_err() && Avro::new("{").is_err() && Avro::new(r#"{"type": "record"}"#).is_err());
}

#[test]
fn decimals_are_the_nearest_numbers_and_dates_are_seconds() {
    let schema = |scale: &str| {
        let decimal = format!(r#""logicalType": "decimal", "precision": 38, "scale": {scale}"#);
        Avro::new(&format!(
            r#"{{"type": "record", "name": "R", "fields": [
                {{"name": "a", "type": {{"type": "bytes", {decimal}}}}},
                {{"name": "b", "type": {{"type": "fixed", "name": "F", "size": 17, {decimal}}}}},
                {{"name": "day", "type": {{"type": "int", "logicalType": "date"}}}},
                {{"name": "spare", "type": {{"type": "bytes", {decimal}}}}}]}}"#
        ))
    };
    let record = |a: &[u8], b: [u8; 17]| [&[a.len() as u8 * 2], a, &b, &[2, 40], &[1; 20]].concat();
    let fixed = |digits: i128| [&[if digits < 0 { 0xff } else { 0 }][..], &digits.to_be_bytes()].concat();
    let fields = ["a", "b", "day"].map(|name| field(name, None, FieldRole::Attribute, true));
    let large = 123_456_789_012_345_678_901_234_567_i128;
    let mut too_large = [0; 17];
    too_large[1] = 0x80; // above zero, and yet more than 128 bits hold
    let events = [
        record(&12594_i16.to_be_bytes(), fixed(-large).try_into().unwrap()),
        record(&[0xff], fixed(i128::MIN).try_into().unwrap()),
        record(b"1", too_large),
        record(b"", [0; 17]),
    ];
    let events: Vec<&[u8]> = events.iter().map(Vec::as_slice).collect();
    let decoded = decode_as(Fields::new(fields.into()), Box::new(schema("2").unwrap()), &events);
    assert_eq!(decoded.event, [0, 1]);
    assert_eq!(decoded.x[..3], [125.94, -1_234_567_890_123_456_789_012_345.67, 86_400.0]);
    assert_eq!(decoded.x[3..], [-0.01, -1_701_411_834_604_692_317_316_873_037_158_841_057.28, 86_400.0]);
    let reason: Vec<&str> = decoded.faults.iter().map(|fault| fault.reason.as_str()).collect();
    assert_eq!(reason, ["'b': a decimal of 17 bytes, but at most 16 are supported", "'a': a decimal has no bytes"]);
    assert!(schema("-1").is_err() && schema("\"2\"").is_err());
}

#[test]
fn no_bytes_make_a_decoder_fail() {
    let draws = Draws::new(1, Purpose::named("damage"), 0);
    let mut n_drawn = 0;
    let mut below = |n: usize| {
        n_drawn += 1;
        draws.below(n_drawn, n as u64) as usize
    };
    let seeds: [&[u8]; 3] = [
        br#"{"id": "b", "price": 2, "day": {"name": "mo"}, "class": "up"}"#,
        b"b,-2,x,up,mo",
        &[2, 0, 4, b't', b'u', 0, 0],
    ];
    let columns = ["id", "price", "unknown", "class", "day.name"].map(String::from);
    for _ in 0..3000 {
        let events: Vec<Vec<u8>> = seeds
            .iter()
            .map(|seed| {
                let mut bytes = seed.to_vec();
                for _ in 0..=below(4) {
                    let position = below(bytes.len());
                    bytes[position] = below(256) as u8;
                }
                bytes
            })
            .collect();
        let events: Vec<&[u8]> = events.iter().map(Vec::as_slice).collect();
        let formats: [Box<dyn Format>; 3] = [
            Box::new(Json),
            Box::new(Csv::new(Dialect::new(b',', vec![]).unwrap(), &columns, &fields())),
            Box::new(Avro::new(SCHEMA).unwrap()),
        ];
        for format in formats {
            let decoded = decode(format, &events);
            assert_eq!(decoded.event.len() + decoded.faults.len(), events.len());
            assert_eq!((decoded.x.len(), decoded.y.len()), (2 * decoded.event.len(), decoded.event.len()));
        }
    }
}

#[test]
fn ends_that_do_not_ascend_are_refused() {
    let decoder = Decoder::new(fields(), Box::new(Json));
    for ends in [&[1_i64][..], &[5, 2], &[-1], &[-1, 2]] {
        assert!(decoder.decode(b"{}", ends).is_err());
    }
}

#[test]
fn times_are_read_as_in_files_and_faults_state_what_to_set() {
    let fields = |format: Option<&str>| {
        let time = field("at", None, FieldRole::Time, false);
        Fields::new(vec![time]).with_time_format(TimeFormat::new(format).unwrap())
    };
    let csv = |format: Option<&str>, events: &[&[u8]]| {
        let fields = fields(format);
        let csv = Csv::new(Dialect::new(b',', vec!["?".into()]).unwrap(), &["at".into()], &fields);
        decode_as(fields, Box::new(csv), events)
    };
    let json: [&[u8]; 8] = [
        br#"{"at": "2024-01-31T12:30:15.25+01:00"}"#,
        br#"{"at": " 2024-01-31 "}"#,
        br#"{"at": 1706704215.5}"#,
        br#"{"at": "1706704215"}"#,
        br#"{"at": 1706704215000}"#,
        br#"{"at": "03/04/2024"}"#,
        br#"{"at": true}"#,
        br#"{"at": null}"#,
    ];
    let decoded = decode_as(fields(None), Box::new(Json), &json);
    assert_eq!(decoded.time, [1_706_700_615.25, 1_706_659_200.0, 1_706_704_215.5, 1_706_704_215.0]);
    let reasons: Vec<&str> = decoded.faults.iter().map(|fault| fault.reason.as_str()).collect();
    let parts = ["set time_format='ms'", "'%d/%m/%Y' or '%m/%d/%Y'", "true is not a time"];
    for (reason, part) in reasons.iter().zip(parts) {
        assert!(reason.starts_with("time 'at': ") && reason.contains(part), "{reason}");
    }
    assert_eq!(reasons[3], "time 'at' is missing");
    let decoded = decode_as(fields(Some("ms")), Box::new(Json), &[br#"{"at": 1706704215250}"#, br#"{"at": "250"}"#]);
    assert_eq!(decoded.time, [1_706_704_215.25, 0.25]);
    assert_eq!(csv(Some("%d%m%Y"), &[b"03042024", b"32012024"]).time, [1_712_102_400.0]);
    let recognised = csv(None, &[b"2024-04-03", b"\"2024-04-03T00:00Z\"", b"12"]).time;
    assert_eq!(recognised, [1_712_102_400.0, 1_712_102_400.0, 12.0]);
    assert_eq!(csv(None, &[b"?", b"20240131"]).faults.len(), 2);
    let schema = r#"{"type": "record", "name": "r", "fields": [{"name": "at", "type": {"type": "long",
        "logicalType": "timestamp-nanos"}}]}"#;
    let nanos = [b"\xaa\xcc\xc3\xf1\x9d\x9c\xb7\xaf/".as_slice()]; // typed as a time, so the format does not apply
    let decoded = decode_as(fields(Some("ms")), Box::new(Avro::new(schema).unwrap()), &nanos);
    assert_eq!(decoded.time, [1_706_704_215.123_456_7]);
}
