//! Whose certificates a server may show.
//!
//! What it does: join the system's authorities with those that the configuration adds, and say in words
//! what is wrong with a certificate. What it does not: leave a check out; there is no way to.
//! Invariant: the system's store, which takes a moment to read, is read
//! once, and once more for each server with a `ca_file`, and only for TLS.

use super::ClientError;
use crate::core::time::Span;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CertificateError, ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};
use rustls_platform_verifier::Verifier;
use std::error::Error;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The protocols that are offered, the wanted one first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];
/// In this many a certificate's names are told.
const MOST_NAMES: usize = 5;

/// Authorities that are trusted besides the system's.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Trust {
    added: Vec<CertificateDer<'static>>,
}

impl std::fmt::Debug for Trust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Trust(the system's and {})", self.added.len())
    }
}

impl Trust {
    /// With the certificates of a PEM file.
    ///
    /// # Errors
    /// Fits after the file's name and a colon.
    pub fn from_pem(pem: &[u8]) -> Result<Self, String> {
        let added: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let added = added.map_err(|why| format!("not a PEM file: {why}"))?;
        if added.is_empty() {
            return Err("it holds no certificate (-----BEGIN CERTIFICATE-----)".to_owned());
        }
        let mut store = RootCertStore::empty();
        for certificate in &added {
            let known = store.add(certificate.clone());
            known.map_err(|_| "it holds a certificate that cannot be read".to_owned())?;
        }
        Ok(Self { added })
    }

    /// What a client speaks TLS with.
    pub(super) fn config(&self) -> Result<ClientConfig, ClientError> {
        let provider = Arc::new(ring::default_provider());
        let verifier = self.verifier(&provider).map_err(unusable)?;
        // As dangerous as what is put in: the system's own check.
        let builder = builder(provider)?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = builder.with_no_client_auth();
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Ok(config)
    }

    /// For a server without TLS: nothing is trusted and nothing read.
    pub(super) fn nobody() -> Result<ClientConfig, ClientError> {
        let builder = builder(Arc::new(ring::default_provider()))?;
        let builder = builder.with_root_certificates(RootCertStore::empty());
        Ok(builder.with_no_client_auth())
    }

    fn verifier(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<dyn ServerCertVerifier>, rustls::Error> {
        static SYSTEMS: Mutex<Option<Arc<Verifier>>> = Mutex::new(None);
        if !self.added.is_empty() {
            let added = self.added.iter().cloned();
            let verifier = Verifier::new_with_extra_roots(added, Arc::clone(provider))?;
            return Ok(Arc::new(verifier));
        }
        let mut systems = SYSTEMS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*systems {
            return Ok(Arc::<Verifier>::clone(known));
        }
        let read = Arc::new(Verifier::new(Arc::clone(provider))?);
        Ok(systems.insert(read).clone())
    }
}

fn builder(
    provider: Arc<CryptoProvider>,
) -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, ClientError> {
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unusable)
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn unusable(why: rustls::Error) -> ClientError {
    ClientError::Certificate(format!("TLS cannot be used: {why}"))
}

/// What TLS did not like about the server, if it was TLS.
pub(super) fn trouble(error: &reqwest::Error) -> Option<String> {
    error.source().and_then(of_tls).map(words)
}

/// The source of an I/O error that only wraps another is that one's source: it is looked into.
fn of_tls<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    if let Some(found) = error.downcast_ref() {
        return Some(found);
    }
    let wrapped = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    match wrapped {
        Some(inner) => of_tls(inner),
        None => error.source().and_then(of_tls),
    }
}

fn words(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(why) => certificate(why),
        rustls::Error::InvalidMessage(_) => {
            "it does not speak TLS at that port: is it http:// instead?".to_owned()
        }
        other => format!("TLS: {other}"),
    }
}

fn certificate(error: &CertificateError) -> String {
    use CertificateError as E;
    match error {
        E::UnknownIssuer => "its certificate is of an authority that this system does not trust: \
             if you do, name that authority's certificate (PEM) with ca_file for this server in the configuration"
            .to_owned(),
        E::NotValidForNameContext {
            expected,
            presented,
        } => wrong_name(&expected.to_str(), presented),
        E::NotValidForName => "its certificate is for another name than the address has".to_owned(),
        E::ExpiredContext { time, not_after } => {
            let ago = time.as_secs().saturating_sub(not_after.as_secs());
            format!("its certificate expired {} ago: renew it on the server", long(ago))
        }
        E::Expired => "its certificate has expired: renew it on the server".to_owned(),
        E::NotValidYetContext { time, not_before } => {
            let ahead = not_before.as_secs().saturating_sub(time.as_secs());
            format!("its certificate is valid only in {}: is a clock wrong?", long(ahead))
        }
        E::Revoked => "its certificate was revoked".to_owned(),
        E::Other(why) if why.to_string().contains("CaUsedAsEndEntity") => {
            "its certificate is an authority's own (CA:TRUE), which no server may show: \
             have one signed for the server, and name the authority's with ca_file"
                .to_owned()
        }
        other => format!("its certificate is not accepted: {other}"),
    }
}

fn long(seconds: u64) -> String {
    Span::secs(i64::try_from(seconds).unwrap_or(i64::MAX)).words()
}

/// `presented` is as `DnsName("a.example")` or `IpAddress(127.0.0.1)`.
fn wrong_name(expected: &str, presented: &[String]) -> String {
    let bare = |it: &String| {
        let inside = it.split_once('(').map_or(it.as_str(), |it| it.1);
        inside.trim_end_matches(')').trim_matches('"').to_owned()
    };
    let names: Vec<String> = presented.iter().take(MOST_NAMES).map(bare).collect();
    match names.as_slice() {
        [] => format!("its certificate holds no name, so it is not for {expected}"),
        names => format!(
            "its certificate is for {}, not for {expected}: use a name that it has",
            names.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_authorities_is_read_or_refused_with_words() {
        let key = rcgen::generate_simple_self_signed(["a".to_owned()]).unwrap();
        let pem = key.cert.pem();
        let twice = format!("about it\n{pem}\n{pem}");
        assert_eq!(
            Trust::from_pem(twice.as_bytes()).map(|it| it.added.len()),
            Ok(2)
        );
        for (text, want) in [
            ("", "no certificate"),
            ("hello", "no certificate"),
            ("-----BEGIN CERTIFICATE-----\n", "not a PEM file"),
            (
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                "cannot be read",
            ),
        ] {
            let said = Trust::from_pem(text.as_bytes()).unwrap_err();
            assert!(said.contains(want), "{text:?}: {said}");
        }
    }

    #[test]
    fn a_wrong_name_is_told_with_those_that_it_has() {
        let names = ["DnsName(\"a.example\")", "IpAddress(10.0.0.1)"].map(str::to_owned);
        assert_eq!(
            wrong_name("nas", &names),
            "its certificate is for a.example, 10.0.0.1, not for nas: use a name that it has"
        );
        assert!(wrong_name("nas", &[]).contains("no name"));
    }
}
