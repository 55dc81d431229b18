/** Saves what is filtered as a file, all of it and not only what is loaded. */
import { Menu } from '@base-ui/react/menu';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { isLogColumn } from '../../../../src/control/store/log-columns.ts';
import { apiPath } from '../../api/client.ts';
import { type LogsQuestion, logsParameters } from '../../api/logs.ts';
import { buttonClass } from '../../components/buttons.tsx';
import { usePreferences } from '../../preferences.tsx';
import { resolveWindow, type WindowSearch } from '../../search/time-window.ts';
import { listFields } from './column-list.ts';

interface ExportMenuProps {
  readonly question: LogsQuestion;
  /** Its window is read anew when the menu opens: the page may have been open for hours. */
  readonly search: WindowSearch;
  readonly sort: string;
  readonly columns: readonly string[];
}

const ITEM = 'block rounded px-2 py-1.5 outline-none data-[highlighted]:bg-raised';

export function ExportMenu({ question, search, sort, columns }: ExportMenuProps) {
  const { timeZone } = usePreferences();
  const [openedAtMs, setOpenedAtMs] = useState(() => Date.now());
  const window = resolveWindow(search, openedAtMs, timeZone);
  const href = (format: 'csv' | 'ndjson', isShownOnly: boolean) =>
    apiPath('/export', {
      kind: 'logs',
      format,
      ...logsParameters({ ...question, ...window }),
      sort,
      columns: isShownOnly ? listFields(columns).filter(isLogColumn).join(',') : undefined,
    });
  const items = [
    { label: 'CSV, columns as shown', href: href('csv', true) },
    { label: 'CSV, all columns', href: href('csv', false) },
    { label: 'NDJSON, all columns', href: href('ndjson', false) },
  ];
  return (
    <Menu.Root
      onOpenChange={(isOpen) => {
        if (isOpen) setOpenedAtMs(Date.now());
      }}
    >
      <Menu.Trigger className={buttonClass()} data-hotkey="e">
        <Download size={15} aria-hidden /> Export
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={6} align="end" className="z-40">
          <Menu.Popup className="min-w-48 rounded-lg border border-line bg-panel p-1 shadow-lg outline-none">
            {items.map(({ label, href: address }) => (
              <Menu.LinkItem key={label} href={address} download className={ITEM}>
                {label}
              </Menu.LinkItem>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
