use super::super::super::RiskLevel::{High, Low, Medium};
use super::super::super::note::RiskCode::{
    ChangesPermissions, ChangesSystem, EndsProcesses, HidesWhatItDoes, Persists, ReadsSecrets, RunsAsRoot,
};
use super::super::judge::{Call, Does, Judge};

/// What a wrapper adds to what it runs.
pub(in crate::risk::shell) fn judge_wrapper(judge: &mut Judge<'_>, call: &Call<'_>) {
    let part = &call.part;
    match call.program {
        "sudo" | "doas" | "su" | "pkexec" | "runuser" | "gosu" | "su-exec" | "sg" => {
            let flags = call.flags();
            let only_asks = call.program == "sudo"
                && (flags.short('l') || flags.short('k') || flags.short('v'))
                && call.words.len() == 1;
            if !only_asks {
                judge.note(RunsAsRoot, High, "Runs as the superuser or another user.", part);
            }
        }
        "chroot" | "nsenter" | "unshare" => {
            judge.note(RunsAsRoot, High, "Runs with power over the whole machine.", part)
        }
        "nohup" | "setsid" | "systemd-run" => judge.note(Persists, Low, "Goes on in the background.", part),
        "env" if call.flags().value('S', "--split-string").is_some() => {
            judge.note(HidesWhatItDoes, Medium, "Runs a text as a command.", part);
        }
        _ => {}
    }
    for word in call.words.iter().take_while(|word| word.text.contains('=') || word.text.starts_with('-')) {
        if let Some((name, value)) = word.text.split_once('=').filter(|(name, _)| !name.starts_with('-')) {
            super::environment::judge(judge, name, value, part);
        }
    }
}

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) -> bool {
    let flags = call.flags();
    let part = &call.part;
    let asks = |words: &[&str]| call.words.iter().any(|word| words.contains(&word.text.as_str()));
    let system = "Changes the system: its users, services, network or power.";
    match call.program {
        // Without a command of their own.
        "sudo" | "doas" | "su" | "pkexec" => {
            judge.note(RunsAsRoot, High, "Runs as the superuser or another user.", part)
        }
        "shutdown" | "reboot" | "halt" | "poweroff" | "init" | "telinit" | "visudo" | "useradd"
        | "adduser" | "usermod" | "userdel" | "deluser" | "groupadd" | "groupmod" | "gpasswd" | "passwd"
        | "chpasswd" | "chsh" | "mount" | "umount" | "iptables" | "ip6tables" | "nft" | "ufw"
        | "firewall-cmd" | "modprobe" | "insmod" | "rmmod" | "kexec" | "grub-install" | "update-grub"
        | "efibootmgr" | "swapoff" | "setenforce" | "bcdedit" | "csrutil" | "spctl" | "tccutil" | "dscl" => {
            let looks =
                call.words.is_empty() && call.program == "mount" || asks(&["status", "list", "-L", "--list"]);
            judge.note(ChangesSystem, if looks { Low } else { High }, system, part);
        }
        "systemctl" | "service" | "rc-service" | "launchctl" | "loginctl" | "update-rc.d" | "chkconfig"
        | "sc" | "brew-services" => {
            let looks = asks(&[
                "status",
                "list-units",
                "list-unit-files",
                "is-active",
                "is-enabled",
                "show",
                "cat",
                "list",
                "list-timers",
                "print",
                "--failed",
                "--status-all",
            ]);
            if asks(&["enable", "load", "bootstrap", "enable-linger", "edit", "link", "defaults"]) {
                judge.note(Persists, High, "Makes something start by itself later.", part);
            } else if !looks {
                judge.note(ChangesSystem, Medium, system, part);
            }
        }
        "sysctl" | "hostnamectl" | "timedatectl" | "localectl" | "nmcli" | "ip" | "ifconfig" | "route"
        | "date" | "hwclock" | "defaults" | "gsettings" | "dconf" | "xdg-settings" | "scutil"
        | "networksetup" => {
            let changes = flags.short('w') && call.program == "sysctl"
                || asks(&[
                    "set-hostname",
                    "set-time",
                    "set-timezone",
                    "set-locale",
                    "add",
                    "del",
                    "delete",
                    "up",
                    "down",
                    "modify",
                    "set",
                    "write",
                    "reset",
                    "load",
                ])
                || (call.program == "date" && flags.long("--set"));
            if changes {
                judge.note(ChangesSystem, Medium, system, part);
            }
        }
        "apt"
        | "apt-get"
        | "aptitude"
        | "dnf"
        | "yum"
        | "zypper"
        | "pacman"
        | "apk"
        | "brew"
        | "port"
        | "snap"
        | "flatpak"
        | "dpkg"
        | "rpm"
        | "emerge"
        | "nix-env"
        | "choco"
        | "winget"
        | "scoop"
        | "update-alternatives"
        | "rustup"
        | "nvm" => packages(judge, call),
        "crontab" => {
            if flags.short('r') {
                judge.note(Persists, High, "Deletes what was set to run later.", part);
            } else if !flags.short('l') {
                judge.note(Persists, High, "Makes something start by itself later.", part);
            }
        }
        "at" | "batch" => {
            judge.note(Persists, Medium, "Makes something start by itself later.", part);
            for text in call.input {
                judge.inner(text, part);
            }
            does.runs_input = true;
        }
        "kill" | "pkill" | "killall" | "xkill" | "skill" | "fuser" | "taskkill" => {
            let all = call.words.iter().any(|word| word.text == "-1") && call.words.len() > 1
                || (call.program == "pkill" && flags.short('u'));
            let looks =
                flags.short('l') && call.program == "kill" || (call.program == "fuser" && !flags.short('k'));
            if !looks {
                judge.note(EndsProcesses, if all { High } else { Medium }, "Ends processes.", part);
            }
        }
        "history" | "unset" | "set" | "shopt" => {
            let hides = (call.program == "history" && (flags.short('c') || flags.short('d')))
                || asks(&["HISTFILE", "history"]) && call.program != "shopt";
            if hides {
                judge.note(HidesWhatItDoes, Medium, "Keeps what was done out of the shell's history.", part);
            }
            if call.program == "set" && call.words.is_empty() {
                environment(judge, call, does);
            }
        }
        "env" | "printenv" => environment(judge, call, does),
        "strings" | "gcore" => {
            judge.look_at_words(call, does);
        }
        "umask" => judge.note(ChangesPermissions, Low, "Changes who may do what with files.", part),
        "disown" | "bg" => judge.note(Persists, Low, "Goes on in the background.", part),
        _ => return false,
    }
    true
}

fn environment(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) {
    does.secret = call.words.is_empty();
    judge.note(ReadsSecrets, Low, "Shows variables, which may hold secrets.", &call.part);
}

fn packages(judge: &mut Judge<'_>, call: &Call<'_>) {
    let word = |words: &[&str]| call.words.iter().any(|word| words.contains(&word.text.as_str()));
    let short = |start: &str| {
        call.words.iter().any(|word| word.text.starts_with(start) && !word.text.starts_with("--"))
    };
    let removes = word(&["remove", "purge", "autoremove", "uninstall", "erase", "del", "zap"])
        || (call.program == "pacman" && short("-R"))
        || (matches!(call.program, "dpkg" | "rpm") && (short("-r") || short("-P") || short("-e")));
    let installs = word(&[
        "install",
        "upgrade",
        "dist-upgrade",
        "full-upgrade",
        "add",
        "reinstall",
        "in",
        "up",
        "default",
        "tap",
        "--set",
        "--install",
    ]) || (call.program == "pacman" && (short("-S") && !short("-Ss") && !short("-Si"))
        || call.program == "pacman" && short("-U"))
        || (matches!(call.program, "dpkg" | "rpm") && (short("-i") || short("-U")))
        || (call.program == "emerge" && !word(&["--search"]))
        || (call.program == "nix-env" && short("-i"));
    if removes {
        judge.note(ChangesSystem, Medium, "Removes software from the system.", &call.part);
    } else if installs {
        judge.note(ChangesSystem, Medium, "Installs software on the system.", &call.part);
    }
}
