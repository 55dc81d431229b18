/** JSON as a tree to open and close. Large parts are cut, with their size said; the raw text beside it is whole. */
import { useMemo } from 'react';
import { JsonView } from 'react-json-view-lite';
import { isRecord } from '../../messages/json-reading.ts';
import { trimJson } from '../../messages/trim-json.ts';
import { useHasSought } from './sought-text.tsx';

const STYLE = {
  container: 'font-mono text-xs leading-5',
  basicChildStyle: 'pl-4 [overflow-wrap:anywhere]',
  childFieldsContainer: 'm-0 list-none p-0',
  label: 'mr-1.5 text-ink-soft',
  clickableLabel: 'mr-1.5 cursor-pointer text-ink-soft',
  nullValue: 'text-ink-faint',
  undefinedValue: 'text-ink-faint',
  numberValue: 'text-accent',
  stringValue: 'whitespace-pre-wrap text-good',
  booleanValue: 'text-warn',
  otherValue: 'text-ink',
  punctuation: 'mr-1 text-ink-faint',
  expandIcon: "mr-1 inline-block w-3 cursor-pointer select-none text-ink-soft after:content-['▸']",
  collapseIcon: "mr-1 inline-block w-3 cursor-pointer select-none text-ink-soft after:content-['▾']",
  collapsedContent: "mr-1 cursor-pointer text-ink-faint after:content-['…']",
  noQuotesForStringValues: false,
  quotesForFieldNames: false,
  ariaLables: { collapseJson: 'close', expandJson: 'open' },
} as const;

interface JsonTreeProps {
  readonly label: string;
  readonly value: unknown;
  readonly openLevels?: number;
}

export function JsonTree({ label, value, openLevels = 2 }: JsonTreeProps) {
  const hasSought = useHasSought();
  const trimmed = useMemo(() => trimJson(value), [value]);
  if (!isRecord(trimmed) && !Array.isArray(trimmed))
    return <code className="font-mono text-xs [overflow-wrap:anywhere] whitespace-pre-wrap">{String(trimmed)}</code>;
  return (
    <div dir="ltr" className="min-w-0">
      <JsonView
        data={trimmed}
        style={STYLE}
        shouldExpandNode={(level, part) => level < openLevels || hasSought(part)}
        aria-label={label}
      />
    </div>
  );
}
