/** Saves what is filtered as a file, all of it and not only what is loaded. */
import { Menu } from '@base-ui/react/menu';
import { Download } from 'lucide-react';
import { isLogColumn } from '../../../../src/control/store/log-columns.ts';
import { apiPath } from '../../api/client.ts';
import { type LogsQuestion, logsParameters } from '../../api/logs.ts';
import { buttonClass } from '../../components/buttons.tsx';
import { listFields } from './column-list.ts';

interface ExportMenuProps {
  readonly question: LogsQuestion;
  readonly sort: string;
  readonly columns: readonly string[];
}

const ITEM = 'block rounded px-2 py-1.5 outline-none data-[highlighted]:bg-raised';

export function ExportMenu({ question, sort, columns }: ExportMenuProps) {
  const href = (format: 'csv' | 'ndjson', isShownOnly: boolean) =>
    apiPath('/export', {
      kind: 'logs',
      format,
      ...logsParameters(question),
      sort,
      columns: isShownOnly ? listFields(columns).filter(isLogColumn).join(',') : undefined,
    });
  const items = [
    { label: 'CSV, columns as shown', href: href('csv', true) },
    { label: 'CSV, all columns', href: href('csv', false) },
    { label: 'NDJSON, all columns', href: href('ndjson', false) },
  ];
  return (
    <Menu.Root>
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
