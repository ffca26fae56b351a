use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sayso_domain::RequestKey;
use sayso_host::Host;
use sayso_host::dto::Health;
use tauri::webview::PageLoadEvent;
use tauri::{AppHandle, Builder, Manager as _, RunEvent, Runtime, WindowEvent, Wry};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::args::{Args, Asked};
use crate::attempt::attempt;
use crate::context::context;
use crate::notifier::Notifier;
use crate::pulse::{self, Pulse};
use crate::start::Start;
use crate::subscribers::Subscribers;
use crate::tray::{self, Tray};
use crate::window::{self, Page};
use crate::{commands, identity, tray_host};

/// No host runs here: no display, or the folder is in use.
const NO_HOST: u8 = 3;
/// How long the app waits at its end for its own tasks.
const FAREWELL: Duration = Duration::from_secs(2);

/// What the shell keeps.
struct Shell {
    tasks: TaskTracker,
    stop: CancellationToken,
    pulse: watch::Sender<Pulse>,
    /// Whether the desktop has a panel that shows trays.
    panel: AtomicBool,
}

/// Runs the app until the person ends it.
pub(crate) fn run(args: Args) -> ExitCode {
    let data_dir = sayso_host::data_dir(args.data_dir.clone());
    sayso_host::Logs::Folder(&data_dir).begin();
    let builder = builder(Builder::<Wry>::new(), Start::new(data_dir.clone()));
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
pub(crate) fn builder<R: Runtime>(builder: Builder<R>, start: Start) -> Builder<R> {
    builder
        .manage(start)
        .manage(Subscribers::default())
        .manage(Shell {
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            pulse: watch::Sender::new(Pulse::default()),
            panel: AtomicBool::new(false),
        })
        .invoke_handler(tauri::generate_handler![
            commands::rpc,
            commands::subscribe,
            commands::open_url,
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
    let shell = app.state::<Shell>();
    spawn(&shell, follow_pulse(app.clone(), shell.pulse.subscribe()));
    spawn(&shell, follow_panel(app.clone()));
    spawn(&shell, end_on_signal(app.clone()));
    let starting = app.clone();
    spawn(&shell, async move { begin(&starting).await });
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
    spawn(&shell, async move { forwarding.state::<Subscribers>().forward(events).await });
    spawn(&shell, pulse::follow(host.clone(), shell.pulse.clone()));
    spawn(&shell, start_anew(app.clone(), host.clone()));
    let opening = app.clone();
    let notifier = Notifier {
        host,
        pulse: shell.pulse.subscribe(),
        stop: shell.stop.clone(),
        session_dir: identity::session_dir(app.state::<Start>().data_dir()),
        open: Box::new(move |key: RequestKey| window::show(&opening, Page::Request(key))),
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

fn spawn(shell: &Shell, task: impl Future<Output = ()> + Send + 'static) {
    let stop = shell.stop.clone();
    let until_stopped = async move {
        stop.run_until_cancelled(task).await;
    };
    shell.tasks.spawn_on(until_stopped, tauri::async_runtime::handle().inner());
}

/// Shows on the tray how many requests wait.
async fn follow_pulse<R: Runtime>(app: AppHandle<R>, mut pulse: watch::Receiver<Pulse>) {
    while pulse.changed().await.is_ok() {
        let waiting = pulse.borrow_and_update().waiting;
        if let Some(tray) = app.try_state::<Tray<R>>() {
            tray.show(waiting);
        }
    }
}

/// Knows whether the tray can be seen.
async fn follow_panel<R: Runtime>(app: AppHandle<R>) {
    tray_host::watch(|panel| {
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
    } else if let RunEvent::WindowEvent { label, event: WindowEvent::Destroyed, .. } = &event
        && label == window::MAIN
    {
        app.state::<Subscribers>().clear();
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
