use std::path::PathBuf;

/// Why the doors cannot be opened. The message says what happened, what is safe and what to do.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The port that was asked for belongs to another program.
    #[error(
        "Port {0} is in use by another program. Nothing was lost. Choose another with --port, or leave it out to let \
         Sayso choose one."
    )]
    PortTaken(u16),
    /// No port could be opened on 127.0.0.1.
    #[error(
        "No port could be opened on 127.0.0.1: {0}. Nothing was lost. Check the loopback network, then start again."
    )]
    Loopback(std::io::Error),
    /// The Unix socket could not be made.
    #[error("The socket {} could not be made: {error}. Nothing was lost. Make the data folder writable, then start again.", path.display())]
    Socket {
        /// Where.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file beside the database could not be written.
    #[error("The file {} could not be written: {error}. Nothing was lost. Make room and make the data folder writable, then start again.", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The system gave no random numbers.
    #[error("The system gave no random numbers for tokens: {0}. Nothing was lost. Start again.")]
    Random(getrandom::Error),
}
