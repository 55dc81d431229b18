/** The list of keys, and the switch that turns the single letters off. */
import { Dialog } from '../components/dialog.tsx';
import { Checkbox } from '../components/form-field.tsx';
import { usePreferences } from '../preferences.tsx';
import { navigationOf } from './navigation.ts';
import { useSession } from './session-context.tsx';

const EVERYWHERE = [
  ['Ctrl K', 'go to a page, a call or a run'],
  ['/', 'the text filter'],
  ['t', 'the time range'],
  ['r', 'refresh'],
  ['Esc', 'close what was opened last'],
  ['?', 'this list'],
] as const;

const LISTS = [
  ['j k ↓ ↑', 'next and previous row'],
  ['Home End PgUp PgDn', 'further'],
  ['Enter', 'open beside the list'],
  ['o', 'open as a page'],
  ['← →, .', 'choose a cell of the row, and its menu (Logs)'],
  ['i, Shift i', 'filter by the value, or without it (Logs)'],
] as const;

const RUN = [
  ['→ ←', 'open and close a step; to its child, to its parent'],
  ['1 … 9, *', 'open down to a level, or all'],
  ['n N', 'next and previous match'],
  ['e E', 'next and previous error'],
  ['$', 'the most expensive call below'],
] as const;

function KeyTable({ title, keys }: { readonly title: string; readonly keys: readonly (readonly [string, string])[] }) {
  return (
    <section className="mb-4">
      <h3 className="mb-1 text-xs font-medium text-ink-faint">{title}</h3>
      <dl className="grid grid-cols-[9rem_1fr] gap-y-1">
        {keys.map(([key, about]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="font-mono text-xs">{key}</kbd>
            </dt>
            <dd className="text-ink-soft">{about}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

export function HelpDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const { areKeysOn, setKeysOn } = usePreferences();
  const navigation = navigationOf(useSession());
  const pages = navigation.flatMap(({ items }) => items).map(({ key, label }) => [`g ${key}`, label] as const);
  return (
    <Dialog title="Keyboard shortcuts" isOpen={isOpen} onClose={onClose} size="large">
      <div className="grid gap-x-8 sm:grid-cols-2">
        <div>
          <KeyTable title="Everywhere" keys={EVERYWHERE} />
          <KeyTable title="Pages" keys={pages} />
        </div>
        <div>
          <KeyTable title="Lists" keys={LISTS} />
          <KeyTable title="A run" keys={RUN} />
        </div>
      </div>
      <Checkbox label="Single-letter shortcuts" isOn={areKeysOn} onChange={setKeysOn} />
    </Dialog>
  );
}
