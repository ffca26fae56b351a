import type { Appearance } from '../bindings/Appearance';

/** Puts the chosen theme on the page; `system` leaves it to the desktop. */
export function wear(appearance: Appearance): void {
  const root = document.documentElement;
  if (appearance === 'system') delete root.dataset.theme;
  else root.dataset.theme = appearance;
}
