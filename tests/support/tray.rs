//! The tray's other side: a `StatusNotifierWatcher` of the test's own, which reads and presses menus.

use crate::bus::PrivateBus;
use crate::{wait, wait_value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zbus::zvariant::{OwnedObjectPath, OwnedValue, Structure, Value};

const NAME: &str = "org.kde.StatusNotifierWatcher";
const PATH: &str = "/StatusNotifierWatcher";
const ITEM: &str = "org.kde.StatusNotifierItem";
const MENU: &str = "com.canonical.dbusmenu";

/// The running watcher.
#[derive(Debug)]
pub struct TrayWatcher {
    connection: zbus::Connection,
    registered: Registered,
}

/// Where the registered items live: bus name and object path.
type Registered = Arc<Mutex<Vec<(String, String)>>>;

impl TrayWatcher {
    /// Takes the watcher's name on `bus`, as a panel does.
    pub async fn start(bus: &PrivateBus) -> Self {
        let registered = Registered::default();
        let connection = bus.connect().await;
        let watcher = Watcher { registered: Arc::clone(&registered) };
        connection.object_server().at(PATH, watcher).await.expect("the watcher can be served");
        connection.request_name(NAME).await.expect("no other panel is on a private bus");
        Self { connection, registered }
    }

    /// Waits for the first item to register.
    pub async fn item(&self) -> TrayItem {
        let (service, path) =
            wait_value("a tray item registers", wait::SOON, async || lock(&self.registered).first().cloned())
                .await;
        TrayItem { connection: self.connection.clone(), service, path }
    }

    /// How many items have registered so far.
    pub fn count(&self) -> usize {
        lock(&self.registered).len()
    }
}

/// One app's item in the tray.
#[derive(Debug)]
pub struct TrayItem {
    connection: zbus::Connection,
    service: String,
    path: String,
}

/// One line of the item's menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuEntry {
    /// What `Event` calls it.
    pub id: i32,
    /// Its text; empty for a separator.
    pub label: String,
    /// Whether it can be pressed.
    pub enabled: bool,
    /// Its submenu.
    pub children: Vec<MenuEntry>,
}

impl TrayItem {
    /// The text beside the icon (the count), empty when there is none.
    pub async fn label(&self) -> String {
        self.property("XAyatanaLabel").await
    }

    /// The icon's name or path.
    pub async fn icon(&self) -> String {
        self.property("IconName").await
    }

    /// The menu as the app has it now.
    pub async fn menu(&self) -> Vec<MenuEntry> {
        let menu = self.menu_proxy().await;
        let asked = (0_i32, -1_i32, Vec::<&str>::new());
        let (_, (_, _, children)): (u32, Layout) =
            menu.call("GetLayout", &asked).await.expect("the menu can be read");
        children.iter().filter_map(|child| entry(child)).collect()
    }

    /// The labels of the menu's first level, separators left out.
    pub async fn labels(&self) -> Vec<String> {
        let labels = self.menu().await.into_iter().map(|entry| entry.label);
        labels.filter(|label| !label.is_empty()).collect()
    }

    /// Presses the entry whose label starts with `label`, at any level.
    ///
    /// # Panics
    /// When there is none; the message holds the menu.
    pub async fn press(&self, label: &str) {
        let menu = self.menu().await;
        let found = find(&menu, label).unwrap_or_else(|| panic!("no entry {label:?} in {menu:#?}"));
        assert!(self.press_id(found).await, "the entry {label:?} can be pressed");
    }

    /// Presses the entry that the app calls so. False where the app has it no longer.
    pub async fn press_id(&self, id: i32) -> bool {
        let event = (id, "clicked", Value::from(0_i32), 0_u32);
        self.menu_proxy().await.call::<_, _, ()>("Event", &event).await.is_ok()
    }

    async fn property(&self, name: &str) -> String {
        let item = self.proxy(&self.path, ITEM).await;
        item.get_property::<String>(name).await.unwrap_or_default()
    }

    async fn menu_proxy(&self) -> zbus::Proxy<'_> {
        let item = self.proxy(&self.path, ITEM).await;
        let path = item.get_property::<OwnedObjectPath>("Menu").await.expect("the item has a menu");
        self.proxy(path.as_str(), MENU).await
    }

    async fn proxy(&self, path: &str, interface: &'static str) -> zbus::Proxy<'static> {
        let builder = zbus::proxy::Builder::<zbus::Proxy<'static>>::new(&self.connection);
        let builder = builder.destination(self.service.clone()).expect("a bus name");
        let builder = builder.path(path.to_owned()).expect("an object path");
        let builder = builder.interface(interface).expect("an interface name");
        // The app's tray library does not say when a property changes, so nothing is cached.
        builder.cache_properties(zbus::proxy::CacheProperties::No).build().await.expect("the item is there")
    }
}

impl MenuEntry {
    /// What the app calls the entry below this one whose label is `label`.
    pub fn child(&self, label: &str) -> Option<i32> {
        self.children.iter().find(|child| child.label == label).map(|child| child.id)
    }

    /// The labels of the entries below, separators left out.
    pub fn labels(&self) -> Vec<&str> {
        self.children.iter().map(|child| child.label.as_str()).filter(|label| !label.is_empty()).collect()
    }
}

/// Id, properties and children, as `GetLayout` gives them.
type Layout = (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>);

fn find(entries: &[MenuEntry], label: &str) -> Option<i32> {
    entries.iter().find_map(|entry| {
        if entry.label.starts_with(label) { Some(entry.id) } else { find(&entry.children, label) }
    })
}

/// Reads one `(ia{sv}av)`, which the menu wraps in a variant.
fn entry(value: &Value<'_>) -> Option<MenuEntry> {
    if let Value::Value(inner) = value {
        return entry(inner);
    }
    let Value::Structure(structure) = value else { return None };
    let [Value::I32(id), Value::Dict(properties), Value::Array(children)] = fields(structure)? else {
        return None;
    };
    let label: Option<String> = properties.get(&"label").ok().flatten();
    let enabled: Option<bool> = properties.get(&"enabled").ok().flatten();
    Some(MenuEntry {
        id: *id,
        // An underscore marks the letter that Alt reaches; two are one.
        label: label.unwrap_or_default().replace("__", "\0").replace('_', "").replace('\0', "_"),
        enabled: enabled.unwrap_or(true),
        children: children.iter().filter_map(entry).collect(),
    })
}

fn fields<'a, 'v>(structure: &'a Structure<'v>) -> Option<&'a [Value<'v>; 3]> {
    structure.fields().try_into().ok()
}

struct Watcher {
    registered: Registered,
}

#[zbus::interface(name = "org.kde.StatusNotifierWatcher")]
impl Watcher {
    async fn register_status_notifier_item(
        &self,
        service: String,
        #[zbus(header)] header: zbus::message::Header<'_>,
        #[zbus(signal_emitter)] emitter: zbus::object_server::SignalEmitter<'_>,
    ) {
        // Some say a bus name and mean the usual path, some say a path and mean themselves.
        let sender = header.sender().map(ToString::to_string).unwrap_or_default();
        let item = if service.starts_with('/') {
            (sender, service)
        } else {
            (service, "/StatusNotifierItem".to_owned())
        };
        let address = format!("{}{}", item.0, item.1);
        lock(&self.registered).push(item);
        let _ = emitter.emit(NAME, "StatusNotifierItemRegistered", &address).await;
    }

    async fn register_status_notifier_host(&self, _service: String) {}

    #[zbus(property)]
    async fn registered_status_notifier_items(&self) -> Vec<String> {
        lock(&self.registered).iter().map(|(service, path)| format!("{service}{path}")).collect()
    }

    #[zbus(property)]
    async fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    async fn protocol_version(&self) -> i32 {
        0
    }
}

fn lock(registered: &Mutex<Vec<(String, String)>>) -> MutexGuard<'_, Vec<(String, String)>> {
    registered.lock().unwrap_or_else(PoisonError::into_inner)
}
