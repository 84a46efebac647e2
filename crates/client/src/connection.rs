//! One connection to the authority, and what is known of it.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use identity::KeyPin;
use rustls::ProtocolVersion;
use socket2::SockRef;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// What one connection has shown. It goes with the connection, not with a request: whichever
/// request the pool puts on it finds what is true of it.
#[derive(Debug, Default)]
pub(crate) struct Link {
    /// Its full handshake asked for our certificate and received it.
    pub(crate) certified: bool,
    /// The server's public key.
    pub(crate) server_key: Option<KeyPin>,
    /// The server has judged our certificate: what it refuses from now on is no handshake.
    judged: AtomicBool,
    /// How TLS ended, where it ended with an error: the library of HTTP/2 keeps only that it did.
    broken: OnceLock<rustls::Error>,
}

impl Link {
    pub(crate) fn new(certified: bool, server_key: Option<KeyPin>) -> Self {
        Self { certified, server_key, ..Self::default() }
    }

    /// Whether a refusal of our certificate may come after a request was processed.
    pub(crate) fn judged(&self) -> bool {
        self.judged.load(Ordering::SeqCst)
    }

    pub(crate) fn answered(&self) {
        self.judged.store(true, Ordering::SeqCst);
    }

    pub(crate) fn broken(&self) -> Option<&rustls::Error> {
        self.broken.get()
    }
}

/// How often is read from a connection that takes no more: tickets, the end of an answer, an alert.
const LAST_READS: u32 = 16;

/// What has arrived and was not read, without waiting for more. It asks the socket itself: the
/// runtime may not have been told yet that there is something to read.
struct Waiting<'a>(&'a TcpStream);

impl io::Read for Waiting<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*SockRef::from(self.0)).read(buffer)
    }
}

/// The connection as HTTP uses it.
pub(crate) struct Secured {
    stream: TokioIo<TlsStream<TcpStream>>,
    link: Arc<Link>,
}

impl Secured {
    pub(crate) fn new(stream: TlsStream<TcpStream>, link: Arc<Link>) -> Self {
        let secured = Self { stream: TokioIo::new(stream), link };
        secured.observe();
        secured
    }

    /// TLS 1.2 ends the handshake when the server has judged; in TLS 1.3 it says nothing of its own
    /// before, and tickets are what most servers say first (RFC 8446, 4.6.1).
    fn observe(&self) {
        let session = self.stream.inner().get_ref().1;
        let old = session.protocol_version() != Some(ProtocolVersion::TLSv1_3);
        if old || session.tls13_tickets_received() > 0 {
            self.link.answered();
        }
    }

    /// A server may have said why before it reset the connection: that has arrived and waits to be
    /// read, and whoever hears that writing failed does not read any more. Nothing is taken from
    /// who reads all the same: an answer stays in the session.
    fn hear_out(&mut self) {
        let (tcp, session) = self.stream.inner_mut().get_mut();
        let mut waiting = Waiting(tcp);
        for _ in 0..LAST_READS {
            match session.read_tls(&mut waiting) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            if let Err(tls) = session.process_new_packets() {
                let _ = self.link.broken.set(tls);
                return;
            }
        }
    }

    fn written<T>(&mut self, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        self.note(&result);
        if matches!(result, Poll::Ready(Err(_))) && self.link.broken().is_none() {
            self.hear_out();
            self.observe();
            // Told with the error, as reading tells it: where there is no connection yet to ask,
            // the error is all that is left.
            if let Some(tls) = self.link.broken() {
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, tls.clone())));
            }
        }
        result
    }

    fn note<T>(&self, result: &Poll<io::Result<T>>) {
        let Poll::Ready(Err(error)) = result else { return };
        let carried = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        if let Some(tls) = carried {
            // Only the first says what happened.
            let _ = self.link.broken.set(tls.clone());
        }
    }
}

impl Read for Secured {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.note(&result);
        self.observe();
        result
    }
}

impl Write for Secured {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(result)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_flush(context);
        self.written(result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.written(result)
    }
}

impl Connection for Secured {
    fn connected(&self) -> Connected {
        let protocol = self.stream.inner().get_ref().1.alpn_protocol();
        let connected = Connected::new().extra(Arc::clone(&self.link));
        match protocol {
            Some(b"h2") => connected.negotiated_h2(),
            _ => connected,
        }
    }
}
