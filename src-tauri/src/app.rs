use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sayso_host::dto::{AppStatus, Empty, Health};
use sayso_host::{Host, Surface};
use tauri::webview::PageLoadEvent;
use tauri::{AppHandle, Builder, Manager as _, RunEvent, Runtime, WindowEvent, Wry};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::args::{Args, Asked};
use crate::attempt::attempt;
use crate::call::call;
use crate::context::context;
use crate::notifier::Notifier;
use crate::pulse::{self, Pulse};
use crate::quiet::{self, Held};
use crate::screen::{self, Locks};
use crate::start::Start;
use crate::subscribers::Subscribers;
use crate::tray::{self, Tray};
use crate::window::{self, Page};
use crate::{commands, habits, identity, place, shortcut};

/// No host runs here: no display, or the folder is in use.
const NO_HOST: u8 = 3;
/// How long the question whether to quit stands: quitting once more within it is the answer.
const QUESTION: Duration = Duration::from_secs(60);
/// How long the app waits at its end for its own tasks.
const FAREWELL: Duration = Duration::from_secs(2);

/// What the shell keeps.
struct Shell {
    tasks: TaskTracker,
    stop: CancellationToken,
    pulse: watch::Sender<Pulse>,
    /// Whether the desktop has a panel that shows trays.
    panel: AtomicBool,
    /// Who says that the screen is locked.
    locks: watch::Sender<Locks>,
    /// The data folder, where it is not the usual one.
    data_dir: Option<PathBuf>,
    /// When the person was asked whether to quit although runs are at work.
    asked_to_quit: Mutex<Option<Instant>>,
}

/// Runs the app until the person ends it.
pub(crate) fn run(args: Args) -> ExitCode {
    let data_dir = sayso_host::data_dir(args.data_dir.clone());
    sayso_host::Logs::Folder(&data_dir).begin();
    let is_usual = args.data_dir.is_none() && std::env::var_os("SAYSO_DATA_DIR").is_none();
    let elsewhere = (!is_usual).then(|| data_dir.clone());
    let builder = builder(Builder::<Wry>::new(), Start::new(data_dir.clone()), elsewhere);
    let single = tauri_plugin_single_instance::Builder::new()
        .dbus_id(identity::bus_name(&data_dir))
        .callback(|app, arguments, _| started_again(app, arguments))
        .build();
    let builder = builder.plugin(single).setup(move |app| {
        set_up(app.handle(), &args);
        Ok(())
    });
    // Without a display the toolkit panics; whoever started the app shall be told in words.
    let built = attempt(|| builder.build(context()));
    match built {
        Ok(Ok(app)) => {
            app.run_return(on_event).try_into().map_or(ExitCode::FAILURE, |code: u8| ExitCode::from(code))
        }
        Ok(Err(error)) => no_window(&error.to_string()),
        Err(said) => {
            tracing::debug!("the toolkit said: {said}");
            no_window("there is no display")
        }
    }
}

/// The commands and what they need: the same for the real app and for tests.
pub(crate) fn builder<R: Runtime>(
    builder: Builder<R>,
    start: Start,
    data_dir: Option<PathBuf>,
) -> Builder<R> {
    builder
        .manage(start)
        .manage(Subscribers::default())
        .manage(Shell {
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            pulse: watch::Sender::new(Pulse::default()),
            panel: AtomicBool::new(false),
            locks: watch::Sender::new(Locks::default()),
            data_dir,
            asked_to_quit: Mutex::new(None),
        })
        .invoke_handler(tauri::generate_handler![
            commands::rpc,
            commands::subscribe,
            commands::open_url,
            commands::open_data_folder,
            commands::quit,
            commands::startup_error,
            commands::retry_start,
        ])
        .on_page_load(|webview, page| {
            // A page that loads anew has forgotten what it subscribed to.
            if matches!(page.event(), PageLoadEvent::Started) {
                webview.state::<Subscribers>().clear();
            }
        })
}

fn set_up<R: Runtime>(app: &AppHandle<R>, args: &Args) {
    if let Some(tray) = Tray::new(app, app.state::<Start>().data_dir()) {
        app.manage(tray);
    }
    if !args.background {
        window::show(app, args.open.map_or(Page::AsItIs, Page::Request));
    }
    let opening = app.clone();
    shortcut::on_press(move || window::show(&opening, Page::Inbox));
    spawn(app, follow_panel(app.clone()));
    spawn(app, screen::watch(app.state::<Shell>().locks.clone()));
    spawn(app, end_on_signal(app.clone()));
    let starting = app.clone();
    spawn(app, async move { begin(&starting).await });
}

/// Starts the host, and what lives with it. Where it cannot start, the window says why.
pub(crate) async fn begin<R: Runtime>(app: &AppHandle<R>) {
    match app.state::<Start>().begin().await {
        Ok(host) => attend(app, host).await,
        Err(error) => {
            tracing::error!("{}", error.message);
            if !window::is_open(app) {
                window::show(app, Page::AsItIs);
            }
        }
    }
}

async fn attend<R: Runtime>(app: &AppHandle<R>, host: Host) {
    let shell = app.state::<Shell>();
    host.set_tray(tray_health(app));
    // Known before anything is raised: the person may want no notifications.
    shell.pulse.send_replace(pulse::read(&host).await);
    let (forwarding, events) = (app.clone(), host.events());
    spawn(app, async move { forwarding.state::<Subscribers>().forward(events).await });
    spawn(app, pulse::follow(host.clone(), shell.pulse.clone()));
    spawn(app, start_anew(app.clone(), host.clone()));
    let quiet = watch::Sender::<Option<Held>>::default();
    spawn(app, tray::follow(app.clone(), host.clone(), shell.pulse.subscribe(), quiet.subscribe()));
    spawn(app, quiet::follow(host.clone(), shell.pulse.subscribe(), quiet));
    spawn(app, habits::follow(host.clone(), shell.pulse.subscribe(), shell.data_dir.clone()));
    let opening = app.clone();
    let notifier = Notifier {
        host,
        pulse: shell.pulse.subscribe(),
        locks: shell.locks.subscribe(),
        stop: shell.stop.clone(),
        session_dir: identity::session_dir(app.state::<Start>().data_dir()),
        open: Box::new(move |page| window::show(&opening, page)),
    };
    if let Err(error) = notifier.start(shell.tasks.token()) {
        tracing::error!("no notifications are shown: their thread cannot be started: {error}");
    }
}

/// A backup is to be put in the place of the database, for which the host must end.
async fn start_anew<R: Runtime>(app: AppHandle<R>, host: Host) {
    host.restart_wanted().await;
    app.request_restart();
}

/// Does this for as long as the app runs.
pub(crate) fn spawn<R: Runtime>(app: &AppHandle<R>, task: impl Future<Output = ()> + Send + 'static) {
    let shell = app.state::<Shell>();
    let stop = shell.stop.clone();
    let until_stopped = async move {
        stop.run_until_cancelled(task).await;
    };
    shell.tasks.spawn_on(until_stopped, tauri::async_runtime::handle().inner());
}

/// Ends the app; where runs are at work, only once the person was asked and quits again.
pub(crate) fn quit_asking<R: Runtime>(app: &AppHandle<R>) {
    let Some(host) = app.state::<Start>().running() else { return app.exit(0) };
    let quitting = app.clone();
    spawn(app, async move {
        let status = call::<AppStatus>(&host, Surface::Tray, "status", Empty {}).await;
        let is_busy = status.is_ok_and(|status| status.active_runs > 0);
        let shell = quitting.state::<Shell>();
        let asked =
            shell.asked_to_quit.lock().unwrap_or_else(PoisonError::into_inner).replace(Instant::now());
        if is_busy && asked.is_none_or(|at| at.elapsed() > QUESTION) {
            window::show(&quitting, Page::Quit);
        } else {
            quitting.exit(0);
        }
    });
}

/// Knows whether the tray can be seen.
async fn follow_panel<R: Runtime>(app: AppHandle<R>) {
    tray::watch_panel(|panel| {
        app.state::<Shell>().panel.store(panel, Ordering::Relaxed);
        if let Some(host) = app.state::<Start>().running() {
            host.set_tray(tray_health(&app));
        }
    })
    .await;
}

fn tray_health<R: Runtime>(app: &AppHandle<R>) -> Health {
    let made = app.try_state::<Tray<R>>().is_some();
    tray::health(made, app.state::<Shell>().panel.load(Ordering::Relaxed))
}

/// Ends as from the menu when the session ends or somebody asks for it.
async fn end_on_signal<R: Runtime>(app: AppHandle<R>) {
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    app.exit(0);
}

/// Somebody started the app once more: this one comes to the front.
fn started_again<R: Runtime>(app: &AppHandle<R>, arguments: Vec<String>) {
    match Asked::read(arguments.into_iter().skip(1).map(Into::into)) {
        Ok(Asked::Run(Args { background: true, open: None, .. })) => {}
        Ok(Asked::Run(args)) => window::show(app, args.open.map_or(Page::AsItIs, Page::Request)),
        Ok(Asked::Help | Asked::Version) | Err(_) => {}
    }
}

fn on_event(app: &AppHandle, event: RunEvent) {
    if let RunEvent::ExitRequested { code: None, api, .. } = &event
        && stays_in_tray(app)
    {
        // The window is gone. In the tray the app goes on without it.
        api.prevent_exit();
    } else if let RunEvent::WindowEvent { label, event, .. } = &event
        && label == window::MAIN
    {
        if let WindowEvent::CloseRequested { .. } = event {
            place::keep(app);
        } else if let WindowEvent::Destroyed = event {
            app.state::<Subscribers>().clear();
        }
    } else if let RunEvent::ExitRequested { .. } = event {
        place::keep(app);
    } else if let RunEvent::Exit = event {
        end(app);
    }
}

/// Whether the app goes on when its window closes: it runs, the person wants it, and the tray leads back to it.
fn stays_in_tray(app: &AppHandle) -> bool {
    let shell = app.state::<Shell>();
    let wanted = shell.pulse.borrow().settings.close_to_tray;
    wanted && app.state::<Start>().running().is_some() && tray_health(app).ok
}

fn end(app: &AppHandle) {
    let shell = app.state::<Shell>();
    shell.stop.cancel();
    shell.tasks.close();
    tauri::async_runtime::block_on(async {
        if tokio::time::timeout(FAREWELL, shell.tasks.wait()).await.is_err() {
            tracing::warn!("the notifications did not end in time");
        }
        app.state::<Start>().end().await;
    });
}

fn no_window(error: &str) -> ExitCode {
    let _ = writeln!(
        std::io::stderr(),
        "The window cannot be opened: {error}. Nothing was changed. Start sayso-desktop within a desktop session, or use \
         `sayso serve` and `sayso open`."
    );
    ExitCode::from(NO_HOST)
}
