//! A plain HTTP client beside the one that is tested.

/// Through no proxy. `reqwest` is built without a choice of cryptography, and would panic without
/// one even where none is needed.
pub fn http() -> reqwest::ClientBuilder {
    // Whoever came first has chosen the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy()
}
