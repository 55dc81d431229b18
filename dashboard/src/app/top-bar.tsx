/** The bar above every page: go to, refresh, time zone, theme, help, sign out. */
import { Menu } from '@base-ui/react/menu';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Command, Keyboard, LogOut, MonitorCog, Moon, RotateCw, Sun } from 'lucide-react';
import { signOut } from '../api/session.ts';
import { tellSignedOut } from '../api/tab-session.ts';
import { buttonClass, IconButton } from '../components/buttons.tsx';
import { type Theme, usePreferences } from '../preferences.tsx';
import { useRefresh } from '../refresh.tsx';
import { AccountMenu } from './account-menu.tsx';
import { useSession } from './session-context.tsx';

const THEMES = [
  { theme: 'system', label: 'Match system', icon: MonitorCog },
  { theme: 'light', label: 'Light', icon: Sun },
  { theme: 'dark', label: 'Dark', icon: Moon },
] as const satisfies readonly { readonly theme: Theme; readonly label: string; readonly icon: typeof Sun }[];

const ITEM =
  'flex items-center gap-2 rounded px-2 py-1.5 outline-none data-[highlighted]:bg-raised aria-checked:text-accent cursor-default';

export function TopBar({ onGoTo, onHelp }: { readonly onGoTo: () => void; readonly onHelp: () => void }) {
  const { theme, setTheme, zone, setZone } = usePreferences();
  const { refresh } = useRefresh();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const ThemeIcon = THEMES.find((one) => one.theme === theme)?.icon ?? MonitorCog;
  const refreshAll = () => {
    refresh();
    void queries.invalidateQueries();
  };
  const session = useSession();
  const leave = async () => {
    if (session.sign_out_url !== null) {
      tellSignedOut();
      location.assign(session.sign_out_url);
      return;
    }
    await signOut();
    queries.clear();
    await navigate({ to: '/login' });
  };
  return (
    <div className="flex items-center gap-1 border-b border-line bg-panel px-3 py-1.5">
      <button type="button" className={`${buttonClass()} text-ink-soft`} onClick={onGoTo}>
        <Command size={14} aria-hidden /> Go to…
        <kbd className="ml-2 rounded border border-line px-1 font-sans text-xs max-sm:hidden">Ctrl K</kbd>
      </button>
      <div className="ml-auto flex items-center gap-0.5">
        <AccountMenu />
        <IconButton label="Refresh (r)" onClick={refreshAll} data-hotkey="r">
          <RotateCw size={16} aria-hidden />
        </IconButton>
        <button
          type="button"
          className={buttonClass('quiet')}
          title="Times are shown in this time zone; click to change"
          onClick={() => setZone(zone === 'utc' ? 'local' : 'utc')}
        >
          {zone === 'utc' ? 'UTC' : 'Local time'}
        </button>
        <Menu.Root>
          <Menu.Trigger
            aria-label="Theme"
            className="inline-flex size-8 items-center justify-center rounded-md text-ink-soft hover:bg-raised"
          >
            <ThemeIcon size={16} aria-hidden />
          </Menu.Trigger>
          <Menu.Portal>
            <Menu.Positioner sideOffset={6} align="end" className="z-40">
              <Menu.Popup className="min-w-40 rounded-lg border border-line bg-panel p-1 shadow-lg">
                <Menu.RadioGroup value={theme}>
                  {THEMES.map(({ theme: value, label, icon: Icon }) => (
                    <Menu.RadioItem key={value} value={value} className={ITEM} onClick={() => setTheme(value)}>
                      <Icon size={15} aria-hidden /> {label}
                    </Menu.RadioItem>
                  ))}
                </Menu.RadioGroup>
              </Menu.Popup>
            </Menu.Positioner>
          </Menu.Portal>
        </Menu.Root>
        <span className="contents max-sm:hidden">
          <IconButton label="Keyboard shortcuts (?)" onClick={onHelp}>
            <Keyboard size={16} aria-hidden />
          </IconButton>
        </span>
        <IconButton label="Sign out" onClick={() => void leave()}>
          <LogOut size={16} aria-hidden />
        </IconButton>
      </div>
    </div>
  );
}
