import type { AgentItem } from '../bindings/AgentItem';
import type { AgentName } from '../bindings/AgentName';
import type { AgentSave } from '../bindings/AgentSave';
import type { AgentTest } from '../bindings/AgentTest';
import type { AgentTrust } from '../bindings/AgentTrust';
import type { AppStatus } from '../bindings/AppStatus';
import type { BackupCreate } from '../bindings/BackupCreate';
import type { BackupItem } from '../bindings/BackupItem';
import type { BackupRestore } from '../bindings/BackupRestore';
import type { Decide } from '../bindings/Decide';
import type { DecideMany } from '../bindings/DecideMany';
import type { DecidedMany } from '../bindings/DecidedMany';
import type { Decision } from '../bindings/Decision';
import type { HistoryCharts } from '../bindings/HistoryCharts';
import type { HistoryChartsOf } from '../bindings/HistoryChartsOf';
import type { HistoryCounts } from '../bindings/HistoryCounts';
import type { HistoryDetail } from '../bindings/HistoryDetail';
import type { HistoryExport } from '../bindings/HistoryExport';
import type { HistoryFilter } from '../bindings/HistoryFilter';
import type { HistoryPage } from '../bindings/HistoryPage';
import type { InboxList } from '../bindings/InboxList';
import type { InboxOutline } from '../bindings/InboxOutline';
import type { InboxPage } from '../bindings/InboxPage';
import type { Job } from '../bindings/Job';
import type { JobRef } from '../bindings/JobRef';
import type { KeyItem } from '../bindings/KeyItem';
import type { KeyName } from '../bindings/KeyName';
import type { KeySet } from '../bindings/KeySet';
import type { LedgerHead } from '../bindings/LedgerHead';
import type { LiveText } from '../bindings/LiveText';
import type { Redact } from '../bindings/Redact';
import type { Redacted } from '../bindings/Redacted';
import type { RequestDetail } from '../bindings/RequestDetail';
import type { RequestItem } from '../bindings/RequestItem';
import type { RequestKeys } from '../bindings/RequestKeys';
import type { RequestRef } from '../bindings/RequestRef';
import type { Resent } from '../bindings/Resent';
import type { Restored } from '../bindings/Restored';
import type { RunDetail } from '../bindings/RunDetail';
import type { RunItem } from '../bindings/RunItem';
import type { RunRef } from '../bindings/RunRef';
import type { RunStart } from '../bindings/RunStart';
import type { RunStarted } from '../bindings/RunStarted';
import type { RunTell } from '../bindings/RunTell';
import type { SenderCallback } from '../bindings/SenderCallback';
import type { SenderItem } from '../bindings/SenderItem';
import type { SenderName } from '../bindings/SenderName';
import type { SenderSecret } from '../bindings/SenderSecret';
import type { SenderSetup } from '../bindings/SenderSetup';
import type { SenderToken } from '../bindings/SenderToken';
import type { Settings } from '../bindings/Settings';
import type { Snooze } from '../bindings/Snooze';
import type { StorageInfo } from '../bindings/StorageInfo';
import type { UiEvent } from '../bindings/UiEvent';
import type { Verification } from '../bindings/Verification';
import type { Verify } from '../bindings/Verify';
import type { Waiting } from '../bindings/Waiting';
import type { Problem } from './problem';

type Nothing = Record<string, never>;

/** Every command of the host with what it takes and gives. */
export interface Commands {
  status: [Nothing, AppStatus];
  'inbox.list': [InboxList, InboxPage];
  'inbox.items': [RequestKeys, RequestItem[]];
  'inbox.outline': [InboxOutline, Waiting[]];
  'inbox.show': [RequestRef, RequestDetail];
  'inbox.decide': [Decide, Decision];
  'inbox.decide_many': [DecideMany, DecidedMany];
  'inbox.snooze': [Snooze, RequestItem];
  'inbox.undo': [RequestRef, RequestItem];
  'runs.list': [Nothing, RunItem[]];
  'runs.show': [RunRef, RunDetail];
  'runs.live': [RunRef, LiveText | null];
  'runs.start': [RunStart, RunStarted];
  'runs.stop': [RunRef, RunItem];
  'runs.tell': [RunTell, RunItem];
  'agents.list': [Nothing, AgentItem[]];
  'agents.save': [AgentSave, AgentItem];
  'agents.remove': [AgentName, Nothing];
  'agents.test': [AgentName, AgentTest];
  'agents.trust': [AgentTrust, AgentItem];
  'senders.list': [Nothing, SenderItem[]];
  'senders.add': [SenderSetup, SenderToken];
  'senders.update': [SenderSetup, SenderItem];
  'senders.rotate': [SenderName, SenderToken];
  'senders.callback': [SenderCallback, SenderSecret];
  'senders.resend': [RequestRef, Resent];
  'senders.revoke': [SenderName, SenderItem];
  'demo.start': [Nothing, RunStarted];
  'history.list': [HistoryFilter, HistoryPage];
  'history.show': [RequestRef, HistoryDetail];
  'history.verify': [Verify, Verification];
  'history.counts': [HistoryFilter, HistoryCounts];
  'history.charts': [HistoryChartsOf, HistoryCharts];
  'history.verify_job': [Verify, Job];
  'history.head': [Nothing, LedgerHead];
  'history.export': [HistoryExport, Job];
  'history.redact': [Redact, Redacted];
  'jobs.list': [Nothing, Job[]];
  'jobs.show': [JobRef, Job];
  'jobs.cancel': [JobRef, Job];
  'backups.list': [Nothing, BackupItem[]];
  'backups.create': [BackupCreate, Job];
  'backups.restore': [BackupRestore, Restored];
  'storage.show': [Nothing, StorageInfo];
  'storage.compact': [Nothing, Job];
  'storage.prune': [Nothing, Job];
  'keys.list': [Nothing, KeyItem[]];
  'keys.set': [KeySet, KeyItem];
  'keys.remove': [KeyName, Nothing];
  'settings.get': [Nothing, Settings];
  'settings.set': [Partial<Settings>, Settings];
}

export type Command = keyof Commands;
export type Params<C extends Command> = Commands[C][0];
export type Result<C extends Command> = Commands[C][1];

/** What happens at the other end, told as it happens. */
export interface Listener {
  /** Something changed; null when anything may have: the connection stands anew. */
  changed: (event: UiEvent | null) => void;
  /** The connection is gone, and why where that is known; it is tried again until it stands. */
  lost: (problem: Problem) => void;
}

/** The one way to the host. */
export interface Transport {
  /** Which face this is: the app's own window, or a browser, which cannot set up agents. */
  readonly surface: 'window' | 'browser';
  /** Makes ready to call; a problem that keeps the host from starting comes back. Throws `no_session` in a browser without one. */
  start: () => Promise<Problem | null>;
  /** Starts the host again after a problem. */
  retry: () => Promise<Problem | null>;
  /** Calls a command. Throws a `CallError`. */
  call: (command: string, params: unknown) => Promise<unknown>;
  /** Listens until the page goes. */
  subscribe: (listener: Listener) => void;
  /** Opens the sign-in page of a request in the person's browser. */
  openUrl: (key: string, url: string) => Promise<void>;
  /** Opens the data folder in the person's file manager; in the app's own window alone. */
  openDataFolder: () => Promise<void>;
  /** Ends the app; in its own window alone. */
  quit: () => Promise<void>;
}
