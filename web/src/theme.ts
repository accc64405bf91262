// The colours of the page.

import { announce } from './dom';
import { setSetting, setting } from './history';
import type { Theme } from './map/palette';
import { t } from './text/lookup';

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

/** Shows the colours, and follows the system. `shown` gets them each time. Returns what chooses the other ones of light and dark. */
export function followTheme(shown: (theme: Theme) => void): () => void {
  const apply = () => shown(applyTheme());
  apply();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
  return () => {
    setSetting('theme', theme() === 'dark' ? 'light' : 'dark');
    apply();
    announce(t(theme() === 'dark' ? 'darkColours' : 'lightColours'));
  };
}
