/** The parts of Settings, in order. */
export const PARTS = [
  { id: 'looks', name: 'Appearance', windowOnly: false },
  { id: 'notifications', name: 'Notifications', windowOnly: false },
  { id: 'deciding', name: 'Deciding', windowOnly: false },
  { id: 'shortcuts', name: 'Shortcuts', windowOnly: false },
  { id: 'desktop', name: 'Tray and start', windowOnly: false },
  { id: 'keys', name: 'Model keys', windowOnly: true },
  { id: 'data', name: 'Data', windowOnly: true },
  { id: 'about', name: 'About', windowOnly: false },
] as const;

export type Part = (typeof PARTS)[number]['id'];

/** The parts that this face may show: a browser touches neither keys nor files. */
export function partsFor(surface: 'window' | 'browser'): (typeof PARTS)[number][] {
  return PARTS.filter((part) => surface === 'window' || !part.windowOnly);
}

/** The part that an address names; the first where it names none that is shown. */
export function partOf(id: string | null, surface: 'window' | 'browser'): Part {
  return partsFor(surface).find((part) => part.id === id)?.id ?? 'looks';
}
