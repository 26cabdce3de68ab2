//! Server-sent events, as model servers send them.
//!
//! Own code, for three things that the libraries do not do: an event's size is limited, an event that the server
//! left open at its end is not lost (it often holds the error), and what is not an event (a JSON body, a web page)
//! is kept, so that the server's words can be told.

use bytes::{Buf, BytesMut};

/// One event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// Whether the server named it `error`.
    pub(crate) is_error: bool,
    /// Its data.
    pub(crate) data: String,
}

/// An event, or a line, is longer than allowed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Finds the events in pieces of a body. Takes any bytes, in linear time.
#[derive(Debug)]
pub(crate) struct EventDecoder {
    limit: usize,
    buffer: BytesMut,
    /// How far the buffer is known to hold no line end.
    scanned: usize,
    at_start: bool,
    /// The last line ended in CR: a LF that follows belongs to it.
    after_cr: bool,
    data: Option<Vec<u8>>,
    is_error: bool,
    seen_event: bool,
    noise: Vec<u8>,
}

impl EventDecoder {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            buffer: BytesMut::new(),
            scanned: 0,
            at_start: true,
            after_cr: false,
            data: None,
            is_error: false,
            seen_event: false,
            noise: Vec::new(),
        }
    }

    /// Takes the next piece of the body.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next event of what was pushed.
    pub(crate) fn next(&mut self) -> Result<Option<Event>, TooLong> {
        while let Some(line) = self.line()? {
            if line.is_empty() {
                if let Some(event) = self.dispatch() {
                    return Ok(Some(event));
                }
            } else {
                self.field(&line)?;
            }
        }
        Ok(None)
    }

    /// The body is at its end: the last event, also when the server did not close it.
    pub(crate) fn finish(&mut self) -> Result<Option<Event>, TooLong> {
        self.push(b"\n\n");
        self.next()
    }

    /// What came before the first event and was no part of one: the body, if it is not made of events.
    pub(crate) fn noise(&self) -> &[u8] {
        &self.noise
    }

    fn line(&mut self) -> Result<Option<BytesMut>, TooLong> {
        if self.at_start && !self.skip_bom() {
            return Ok(None);
        }
        if self.after_cr && !self.buffer.is_empty() {
            self.after_cr = false;
            if self.buffer[0] == b'\n' {
                self.buffer.advance(1);
            }
        }
        let end = self.buffer[self.scanned..].iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let Some(end) = end.map(|end| self.scanned + end) else {
            self.scanned = self.buffer.len();
            return if self.scanned > self.limit { Err(TooLong) } else { Ok(None) };
        };
        self.scanned = 0;
        let line = self.buffer.split_to(end);
        self.after_cr = self.buffer[0] == b'\r';
        self.buffer.advance(1);
        if line.len() > self.limit { Err(TooLong) } else { Ok(Some(line)) }
    }

    /// `false` while it cannot be told whether the body begins with a byte order mark.
    fn skip_bom(&mut self) -> bool {
        const BOM: &[u8] = "\u{feff}".as_bytes();
        if self.buffer.len() < BOM.len() && BOM.starts_with(&self.buffer) {
            return false;
        }
        if self.buffer.starts_with(BOM) {
            self.buffer.advance(BOM.len());
        }
        self.at_start = false;
        true
    }

    fn field(&mut self, line: &[u8]) -> Result<(), TooLong> {
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if self.data.as_ref().map_or(0, Vec::len) + value.len() > self.limit {
                    return Err(TooLong);
                }
                match &mut self.data {
                    Some(data) => {
                        data.push(b'\n');
                        data.extend_from_slice(value);
                    }
                    None => self.data = Some(value.to_vec()),
                }
            }
            b"event" => self.is_error = value == b"error",
            b"" | b"id" | b"retry" => {} // a comment has no name
            _ if self.seen_event => {}
            _ => {
                if self.noise.len() + line.len() > self.limit {
                    return Err(TooLong);
                }
                self.noise.extend_from_slice(line);
                self.noise.push(b'\n');
            }
        }
        Ok(())
    }

    fn dispatch(&mut self) -> Option<Event> {
        let is_error = std::mem::take(&mut self.is_error);
        let data = self.data.take()?;
        self.seen_event = true;
        // Invalid UTF-8 becomes U+FFFD, as the standard has it.
        let data = String::from_utf8(data)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Some(Event { is_error, data })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(pieces: &[&[u8]], limit: usize) -> Result<Vec<String>, TooLong> {
        let mut decoder = EventDecoder::new(limit);
        let mut events = Vec::new();
        for piece in pieces {
            decoder.push(piece);
            while let Some(event) = decoder.next()? {
                events.push(event.data);
            }
        }
        events.extend(decoder.finish()?.map(|event| event.data));
        Ok(events)
    }

    #[test]
    fn any_cut_gives_the_same_events() {
        let body = "\u{feff}: hi\r\ndata: größe\r\n\r\nid: 1\ndata:a\ndata: b\n\ndata\n\nretry: 5\rdata: 終\r\rdata: open";
        let expected = ["größe", "a\nb", "", "終", "open"];
        assert_eq!(decode(&[body.as_bytes()], 100).unwrap(), expected);
        for cut in 0..=body.len() {
            let (a, b) = body.as_bytes().split_at(cut);
            assert_eq!(decode(&[a, b], 100).unwrap(), expected, "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = body.as_bytes().chunks(1).collect();
        assert_eq!(decode(&bytes, 100).unwrap(), expected);
    }

    #[test]
    fn an_event_may_not_be_longer_than_the_limit() {
        let long = format!("data: {}\n\n", "x".repeat(50));
        assert_eq!(decode(&[long.as_bytes()], 60).unwrap().len(), 1);
        assert_eq!(decode(&[long.as_bytes()], 40), Err(TooLong));
        assert_eq!(decode(&["y".repeat(50).as_bytes()], 40), Err(TooLong));
        assert_eq!(decode(&["data: 12345\n".repeat(10).as_bytes()], 40), Err(TooLong));
        let many = "data: 12345\n\n".repeat(1000);
        assert_eq!(decode(&[many.as_bytes()], 40).unwrap().len(), 1000);
    }

    #[test]
    fn keeps_what_is_no_event() {
        let mut decoder = EventDecoder::new(100);
        decoder.push(b"{\"error\":\n {\"message\": \"no\"}}");
        assert_eq!(decoder.finish(), Ok(None));
        assert_eq!(decoder.noise(), b"{\"error\":\n {\"message\": \"no\"}}\n");
    }

    #[test]
    fn knows_error_events() {
        let mut decoder = EventDecoder::new(100);
        decoder.push(b"event: error\ndata: a\n\ndata: b\n\n");
        assert_eq!(decoder.next(), Ok(Some(Event { is_error: true, data: "a".into() })));
        assert_eq!(decoder.next(), Ok(Some(Event { is_error: false, data: "b".into() })));
    }

    proptest! {
        #[test]
        fn takes_any_bytes(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20)) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let whole = pieces.concat();
            prop_assert_eq!(decode(&pieces, 1000), decode(&[&whole], 1000));
        }
    }
}
