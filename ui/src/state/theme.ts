import type { Settings } from '../bindings/Settings';

/** Puts the person's habits of looking on the page; the theme `system` leaves it to the desktop. */
export function wear({ appearance, density, text_size }: Pick<Settings, 'appearance' | 'density' | 'text_size'>): void {
  const root = document.documentElement;
  if (appearance === 'system') delete root.dataset.theme;
  else root.dataset.theme = appearance;
  root.dataset.density = density;
  // Everything is measured in `rem`, so this scales all of it.
  root.style.fontSize = `${text_size}%`;
}
