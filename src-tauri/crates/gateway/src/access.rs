use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::secret::{Hashed, new_secret};

/// How long a one-time code can be exchanged.
const CODE_LIFE: Duration = Duration::from_secs(60);
/// How long a browser session lives after its page was last there.
const SESSION_IDLE: Duration = Duration::from_secs(12 * 60 * 60);
/// How many codes wait at most; the oldest goes.
const CODES: usize = 8;
/// How many sessions live at most; the one that was idle longest goes.
const SESSIONS: usize = 32;

/// Who may come in over loopback. Codes and sessions live as long as the process: a new one starts with none.
pub(crate) struct Access {
    owner: Hashed,
    passes: Mutex<Passes>,
}

#[derive(Default)]
struct Passes {
    codes: VecDeque<(Hashed, Instant)>,
    sessions: Vec<Session>,
}

struct Session {
    token: Hashed,
    used: Instant,
}

/// What a bearer token stands for.
#[derive(Clone, Copy)]
pub(crate) enum Bearer {
    /// The token in the file that only the owner can read.
    Owner,
    /// A browser that exchanged a code.
    Session(Hashed),
}

impl Access {
    /// With the owner's token.
    pub(crate) fn new(owner: &str) -> Self {
        Self { owner: Hashed::of(owner), passes: Mutex::default() }
    }

    /// A code that can be exchanged once, within a minute.
    pub(crate) fn new_code(&self, now: Instant) -> Result<String, getrandom::Error> {
        let code = new_secret::<16>()?;
        let mut passes = self.passes();
        passes.codes.retain(|(_, until)| now < *until);
        if passes.codes.len() == CODES {
            passes.codes.pop_front();
        }
        passes.codes.push_back((Hashed::of(&code), now + CODE_LIFE));
        Ok(code)
    }

    /// Exchanges a code for a session's token; none if the code is unknown, was used or is too old.
    pub(crate) fn redeem(&self, code: &str, now: Instant) -> Result<Option<String>, getrandom::Error> {
        let code = Hashed::of(code);
        let mut passes = self.passes();
        passes.codes.retain(|(_, until)| now < *until);
        let before = passes.codes.len();
        passes.codes.retain(|(known, _)| !known.is(&code));
        if passes.codes.len() == before {
            return Ok(None);
        }
        let token = new_secret::<32>()?;
        passes.forget_idle(now);
        if passes.sessions.len() == SESSIONS {
            let oldest = passes.sessions.iter().enumerate().min_by_key(|(_, session)| session.used);
            if let Some(at) = oldest.map(|(at, _)| at) {
                passes.sessions.remove(at);
            }
        }
        passes.sessions.push(Session { token: Hashed::of(&token), used: now });
        Ok(Some(token))
    }

    /// Whose token this is.
    pub(crate) fn bearer(&self, token: &str, now: Instant) -> Option<Bearer> {
        let token = Hashed::of(token);
        let session = Bearer::Session(token);
        if self.owner.is(&token) {
            Some(Bearer::Owner)
        } else if self.renew(&session, now) {
            Some(session)
        } else {
            None
        }
    }

    /// Whether a bearer still may come in. A session that is in use stays alive by it.
    pub(crate) fn renew(&self, bearer: &Bearer, now: Instant) -> bool {
        match bearer {
            Bearer::Owner => true,
            Bearer::Session(token) => {
                let mut passes = self.passes();
                passes.forget_idle(now);
                let mut found = false;
                // All are compared, so that the time taken does not tell which one it was.
                for session in passes.sessions.iter_mut().filter(|session| session.token.is(token)) {
                    session.used = now;
                    found = true;
                }
                found
            }
        }
    }

    fn passes(&self) -> MutexGuard<'_, Passes> {
        self.passes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Passes {
    fn forget_idle(&mut self, now: Instant) {
        self.sessions.retain(|session| now.saturating_duration_since(session.used) < SESSION_IDLE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const HOUR: Duration = Duration::from_secs(60 * 60);

    fn session(access: &Access, now: Instant) -> String {
        access.redeem(&access.new_code(now).unwrap(), now).unwrap().unwrap()
    }

    #[test]
    fn a_code_has_128_bits_and_works_once() {
        let (access, now) = (Access::new("owner"), Instant::now());
        let code = access.new_code(now).unwrap();
        assert_eq!(code.len(), 32);
        assert_ne!(code, access.new_code(now).unwrap());
        assert!(access.redeem(&code, now).unwrap().is_some());
        assert!(access.redeem(&code, now).unwrap().is_none());
    }

    #[test]
    fn a_code_lives_for_60_seconds() {
        let (access, now) = (Access::new("owner"), Instant::now());
        let (early, late) = (access.new_code(now).unwrap(), access.new_code(now).unwrap());
        assert!(access.redeem(&early, now + 59 * SECOND).unwrap().is_some());
        assert!(access.redeem(&late, now + 60 * SECOND).unwrap().is_none());
    }

    #[test]
    fn few_codes_wait_and_the_oldest_goes() {
        let (access, now) = (Access::new("owner"), Instant::now());
        let codes: Vec<_> = (0..=CODES).map(|_| access.new_code(now).unwrap()).collect();
        assert!(access.redeem(&codes[0], now).unwrap().is_none());
        assert!(access.redeem(&codes[1], now).unwrap().is_some());
    }

    #[test]
    fn a_session_ends_after_12_idle_hours_and_lives_on_by_use() {
        let (access, now) = (Access::new("owner"), Instant::now());
        let (used, idle) = (session(&access, now), session(&access, now));
        assert!(access.bearer(&used, now + 11 * HOUR).is_some());
        assert!(access.bearer(&idle, now + 12 * HOUR).is_none());
        assert!(access.bearer(&used, now + 22 * HOUR).is_some());
    }

    #[test]
    fn few_sessions_live_and_the_idlest_goes() {
        let (access, now) = (Access::new("owner"), Instant::now());
        let first = session(&access, now);
        let second = session(&access, now + SECOND);
        assert!(access.bearer(&first, now + 2 * SECOND).is_some());
        for _ in 2..=SESSIONS {
            session(&access, now + 3 * SECOND);
        }
        assert!(access.bearer(&first, now + 3 * SECOND).is_some());
        assert!(access.bearer(&second, now + 3 * SECOND).is_none());
    }

    #[test]
    fn nothing_but_the_owners_token_and_sessions_opens() {
        let (access, now) = (Access::new("owner"), Instant::now());
        let code = access.new_code(now).unwrap();
        assert!(matches!(access.bearer("owner", now), Some(Bearer::Owner)));
        for token in ["", "owne", "ownerx", "Owner", &code] {
            assert!(access.bearer(token, now).is_none(), "{token:?}");
        }
    }
}
