/** Settings, keys, backups and the data of a made-up host. */
import type { BackupItem } from '../bindings/BackupItem';
import type { KeyItem } from '../bindings/KeyItem';
import type { Settings } from '../bindings/Settings';
import { at } from './fake-data';
import type { FakeJobs } from './fake-history';
import { CallError } from './problem';

/** As they are for somebody who has changed nothing. */
export const DEFAULTS: Settings = {
  appearance: 'system',
  density: 'comfortable',
  text_size: 100,
  notifications: true,
  sound: true,
  private: false,
  reminder_minutes: 5,
  quiet_hours: null,
  paused_until: null,
  close_to_tray: true,
  autostart: false,
  undo_seconds: 3,
  global_shortcut: null,
  shortcuts: {},
  retention: { days: null, megabytes: null },
};

/** As somebody has them who lives with the app; one shortcut is taken twice. */
export const SETTINGS: Settings = {
  ...DEFAULTS,
  quiet_hours: { from: '22:00', to: '07:00' },
  global_shortcut: 'Ctrl+Alt+S',
  shortcuts: { snooze: 'd' },
  retention: { days: 365, megabytes: null },
};

const FOLDER = '~/.local/share/sayso/backups';

export function fakeSettings(has: (word: string) => boolean, jobs: FakeJobs): Record<string, (params: never) => unknown> {
  let keys: KeyItem[] = has('empty')
    ? []
    : [
        { name: 'anthropic', used_by: ['release-bot', 'mail-agent'] },
        { name: 'openrouter', used_by: [] },
      ];
  const backups: BackupItem[] = has('empty')
    ? []
    : [
        { path: `${FOLDER}/sayso-2026-11-30.db`, at: at(-90_000), bytes: 48_200_000 },
        { path: `${FOLDER}/sayso-2026-11-20.db`, at: at(-950_000), bytes: 41_900_000 },
      ];
  const refuse = (): void => {
    if (has('error')) throw new CallError('storage', 'The disk is full: nothing was changed. Make room and try again.');
  };
  return {
    ...(has('error') ? { 'settings.set': refuse } : {}),
    'keys.list': () => keys,
    'keys.set': ({ name }: { name: string }) => {
      refuse();
      const found = keys.find((one) => one.name === name) ?? { name, used_by: [] };
      keys = [...keys.filter((one) => one !== found), found].sort((a, b) => a.name.localeCompare(b.name));
      return found;
    },
    'keys.remove': ({ name }: { name: string }) => {
      refuse();
      keys = keys.filter((one) => one.name !== name);
      return {};
    },
    'storage.show': () => ({ bytes: 51_300_000, free_bytes: 3_400_000, decisions: has('empty') ? 0 : 1284, oldest: has('empty') ? null : at(-2_500_000), backups_bytes: 90_100_000 }),
    'storage.compact': () => (refuse(), jobs.start('compact', 12_500, { message: 'The data file has 47 MB now.' })),
    'storage.prune': () => (refuse(), jobs.start('prune', 30, { message: '2 days were removed.' })),
    'backups.list': () => backups,
    'backups.create': () => (refuse(), jobs.start('backup', 12_500, { path: `${FOLDER}/sayso-2026-12-01.db` })),
    'backups.restore': () => (refuse(), { restart: true }),
  };
}
