/** What a person chose for this browser: theme, time zone, single-letter keys. Kept in local storage, never on the server. */
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';

export type Theme = 'system' | 'light' | 'dark';
export type Zone = 'local' | 'utc';

interface Preferences {
  readonly theme: Theme;
  readonly zone: Zone;
  /** IANA name that `zone` means. */
  readonly timeZone: string;
  readonly areKeysOn: boolean;
  readonly setTheme: (theme: Theme) => void;
  readonly setZone: (zone: Zone) => void;
  readonly setKeysOn: (areOn: boolean) => void;
}

function readStored(name: string): string | null {
  try {
    return localStorage.getItem(`tollgate.${name}`);
  } catch {
    return null;
  }
}

function store(name: string, value: string): void {
  try {
    localStorage.setItem(`tollgate.${name}`, value);
  } catch {
    // Storage may be forbidden: the choice then lasts as long as the page.
  }
}

function readTheme(): Theme {
  const stored = readStored('theme');
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

const PreferencesContext = createContext<Preferences | null>(null);

export function usePreferences(): Preferences {
  const preferences = useContext(PreferencesContext);
  if (preferences === null) throw new Error('usePreferences is used outside of PreferencesProvider');
  return preferences;
}

function useAppliedTheme(theme: Theme): void {
  useEffect(() => {
    const system = matchMedia('(prefers-color-scheme: dark)');
    const apply = () => {
      const isDark = theme === 'dark' || (theme === 'system' && system.matches);
      document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
    };
    apply();
    system.addEventListener('change', apply);
    return () => system.removeEventListener('change', apply);
  }, [theme]);
}

export function PreferencesProvider({ children }: { readonly children: ReactNode }) {
  const [theme, setTheme] = useState(readTheme);
  const [zone, setZone] = useState<Zone>(() => (readStored('zone') === 'utc' ? 'utc' : 'local'));
  const [areKeysOn, setKeysOn] = useState(() => readStored('keys') !== 'off');
  useAppliedTheme(theme);
  const value = useMemo<Preferences>(
    () => ({
      theme,
      zone,
      timeZone: zone === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone,
      areKeysOn,
      setTheme: (chosen) => {
        store('theme', chosen);
        setTheme(chosen);
      },
      setZone: (chosen) => {
        store('zone', chosen);
        setZone(chosen);
      },
      setKeysOn: (areOn) => {
        store('keys', areOn ? 'on' : 'off');
        setKeysOn(areOn);
      },
    }),
    [theme, zone, areKeysOn],
  );
  return <PreferencesContext value={value}>{children}</PreferencesContext>;
}
