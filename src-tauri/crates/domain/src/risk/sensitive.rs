//! Names of files that hold secrets, or that make something run later.

use super::RiskLevel;
use super::note::{Notes, RiskCode};

/// Whether a path's name says that it holds keys, passwords or tokens.
pub(super) fn is_secret(path: &str) -> bool {
    let path = path.trim_end_matches('/').to_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    let within = |folder: &str| path.starts_with(&folder[1..]) || path.contains(folder);
    if name.ends_with(".pub") || matches!(name, "known_hosts" | "authorized_keys") {
        return false;
    }
    let example = ["example", "sample", "template", "dist", "defaults"].iter().any(|end| name.ends_with(end));
    if name == ".env"
        || name == ".envrc"
        || (name.starts_with(".env.") && !example)
        || (name.ends_with(".env") && !example)
    {
        return true;
    }
    let folders = [
        "/.ssh/",
        "/.gnupg/",
        "/.aws/",
        "/.azure/",
        "/.config/gcloud/",
        "/.kube/",
        "/.docker/config",
        "/.password-store/",
        "/keyrings/",
        "/.config/gh/",
        "/.mozilla/",
        "/.config/google-chrome/",
        "/.config/chromium/",
        "/library/keychains/",
        "/run/secrets/",
        "/etc/ssl/private/",
        "/.config/op/",
        "/.local/share/kwalletd/",
    ];
    let whole =
        folders.iter().any(|folder| path.ends_with(folder.trim_end_matches('/')) && folder.ends_with('/'));
    if (whole || folders.iter().any(|folder| within(folder))) && name != "config.d" {
        return true;
    }
    let names = [
        ".netrc",
        "_netrc",
        ".npmrc",
        ".pypirc",
        ".git-credentials",
        ".pgpass",
        ".my.cnf",
        ".vault-token",
        ".htpasswd",
        "credentials",
        "credentials.json",
        "credentials.toml",
        "secrets.yml",
        "secrets.yaml",
        "secrets.json",
        "secrets.toml",
        "service-account.json",
        "wallet.dat",
        "shadow",
        "gshadow",
        "login data",
        "cookies.sqlite",
        "key4.db",
        "logins.json",
        ".bash_history",
        ".zsh_history",
        "master.key",
        "terraform.tfstate",
        "owner-token",
        "sayso.db",
        "environ",
    ];
    let ends = [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ovpn", ".asc", ".gpg"];
    names.contains(&name) && (name != "environ" || path.contains("/proc/"))
        || ends.iter().any(|end| name.ends_with(end) && name.len() > end.len())
        || name.starts_with("id_rsa")
        || name.starts_with("id_ed25519")
        || name.starts_with("id_ecdsa")
        || name.starts_with("id_dsa")
}

/// Whether a name, such as a variable's, says that it holds a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let words = super::named::words(name);
    let has = |word: &str| words.iter().any(|own| own == word);
    let pair = |first: &str, second: &str| words.windows(2).any(|pair| pair[0] == first && pair[1] == second);
    [
        "password",
        "passwd",
        "passphrase",
        "secret",
        "secrets",
        "token",
        "apikey",
        "credential",
        "credentials",
        "pat",
    ]
    .iter()
    .any(|word| has(word))
        || pair("api", "key")
        || pair("access", "key")
        || pair("private", "key")
        || pair("secret", "key")
}

/// What is known of a file that is written.
pub(super) fn note_written(path: &str, notes: &mut Notes, part: Option<std::ops::Range<usize>>) {
    let path = path.trim_end_matches('/').to_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    let within = |folder: &str| path.starts_with(&folder[1..]) || path.contains(folder);
    let startup = [
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".profile",
        ".zshrc",
        ".zprofile",
        ".zshenv",
        ".zlogin",
        ".xprofile",
        ".xinitrc",
        ".xsessionrc",
        "config.fish",
        ".inputrc",
        ".pam_environment",
        ".vimrc",
        ".gdbinit",
        "authorized_keys",
        "crontab",
        "rc.local",
        "ld.so.preload",
        "sitecustomize.py",
        "usercustomize.py",
    ];
    let places = [
        "/.config/autostart/",
        "/etc/cron",
        "/var/spool/cron",
        "/etc/systemd/",
        "/.config/systemd/",
        "/lib/systemd/",
        "/etc/init.d/",
        "/etc/profile.d/",
        "/launchagents/",
        "/launchdaemons/",
        "/etc/xdg/autostart/",
        "/etc/udev/",
    ];
    if startup.contains(&name) || places.iter().any(|place| within(place)) || within("/.ssh/") {
        notes.add(
            RiskCode::Persists,
            RiskLevel::High,
            "Changes a file that runs or lets somebody in later, without asking again.",
            part,
        );
    } else if within("/.git/hooks/")
        || within("/.husky/")
        || path.ends_with(".git/config")
        || name == ".gitconfig"
    {
        notes.add(
            RiskCode::Persists,
            RiskLevel::High,
            "Changes what git runs by itself later, without asking again.",
            part,
        );
    } else if is_pipeline(&path, name) {
        notes.add(
            RiskCode::Persists,
            RiskLevel::Medium,
            "Changes what a build server or an editor runs later.",
            part,
        );
    } else if within("/.sayso/") || within("/sayso/agents/") || name == "sayso.db" || name == "owner-token" {
        notes.add(
            RiskCode::ActsOnSayso,
            RiskLevel::High,
            "Changes Sayso's own files, which decide what an agent may do.",
            part,
        );
    } else if is_secret(&path) {
        notes.add(
            RiskCode::ReadsSecrets,
            RiskLevel::Medium,
            "Writes to a file that usually holds secrets.",
            part,
        );
    }
}

fn is_pipeline(path: &str, name: &str) -> bool {
    let within = |folder: &str| path.starts_with(&folder[1..]) || path.contains(folder);
    within("/.github/workflows/")
        || within("/.github/actions/")
        || within("/.circleci/")
        || within("/.buildkite/")
        || within("/.vscode/")
        || matches!(
            name,
            ".gitlab-ci.yml"
                | ".travis.yml"
                | "jenkinsfile"
                | "azure-pipelines.yml"
                | "bitbucket-pipelines.yml"
                | ".pre-commit-config.yaml"
                | ".drone.yml"
        )
}
