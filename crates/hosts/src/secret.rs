//! What all processes of a run know, and nobody else.

use std::fmt;
use std::path::Path;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::{Error, hex};

/// A text that all processes know. It is never sent, and never printed.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

/// Bytes that are used once.
pub(crate) type Nonce = [u8; 32];

/// What only somebody can say who knows the secret.
pub(crate) type Proof = [u8; 32];

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// A shorter one can be guessed.
    const SHORTEST: usize = 16;

    /// This text, without the space around it.
    ///
    /// # Errors
    /// It is too short.
    pub fn new(text: &str) -> Result<Secret, Error> {
        let text = text.trim();
        if text.len() < Secret::SHORTEST {
            let least = Secret::SHORTEST;
            let message = format!("the secret is too short: it needs at least {least} characters");
            return Err(Error::Wrong(message));
        }
        Ok(Secret(text.into()))
    }

    /// The text of a file.
    ///
    /// # Errors
    /// The file cannot be read, or its text is too short.
    pub fn of_file(path: &Path) -> Result<Secret, Error> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Error::Wrong(format!("cannot read the secret in `{}`: {error}", path.display()))
        })?;
        Secret::new(&text)
    }

    /// A new one, as a text.
    ///
    /// # Errors
    /// The system has no random numbers to give.
    pub fn random_text() -> Result<String, Error> {
        Ok(hex(&nonce()?))
    }

    /// The proof of somebody in a role, for the nonces of both.
    pub(crate) fn proof(&self, role: &str, nonces: [&Nonce; 2]) -> Proof {
        self.mac(role, nonces).finalize().into_bytes().into()
    }

    /// Whether a proof is right; how long that takes says nothing.
    pub(crate) fn accepts(&self, proof: &Proof, role: &str, nonces: [&Nonce; 2]) -> bool {
        self.mac(role, nonces).verify_slice(proof).is_ok()
    }

    fn mac(&self, role: &str, nonces: [&Nonce; 2]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("keys may have any length");
        mac.update(role.as_bytes());
        nonces.iter().for_each(|nonce| mac.update(&nonce[..]));
        mac
    }
}

/// Bytes that nobody has used before.
pub(crate) fn nonce() -> Result<Nonce, Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::Wrong(format!("the system has no random numbers: {error}")))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_for_one_secret_one_role_and_these_nonces() {
        let secret = Secret::new(" correct horse battery \n").unwrap();
        let other = Secret::new("correct horse cattery").unwrap();
        let (one, two) = ([1; 32], [2; 32]);
        let proof = secret.proof("client", [&one, &two]);
        assert!(secret.accepts(&proof, "client", [&one, &two]));
        assert!(!other.accepts(&proof, "client", [&one, &two]));
        assert!(!secret.accepts(&proof, "server", [&one, &two]));
        assert!(!secret.accepts(&proof, "client", [&two, &one]));
        assert!(Secret::new("short").is_err());
        assert_eq!(format!("{secret:?}"), "Secret");
        assert_ne!(Secret::random_text().unwrap(), Secret::random_text().unwrap());
    }
}
