// The colours of the page.

import { setting } from './history';
import type { Theme } from './map/palette';

/** Returns the colours that the page shows. */
export function theme(): Theme {
  return document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light';
}

/** Shows the colours that the user chose, or else those of the system, and returns them. */
export function applyTheme(): Theme {
  const chosen = setting('theme') ?? 'auto';
  const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  return theme();
}
