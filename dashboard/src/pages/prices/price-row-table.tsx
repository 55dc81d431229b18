/** Rates of a model as the price book has them: for what, how much, on which terms, since when, and who says so. */
import type { PriceRow, PriceRule } from '../../api/prices.ts';
import { LayerBadge } from '../../components/badges.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { describeClass } from '../../messages/cost-breakdown.ts';
import { Validity } from './declaration-cells.tsx';
import { describeHours, describePrompts } from './describe-terms.ts';
import { describePer } from './price-words.ts';

export function SourceText({ source, checked_on }: Pick<PriceRow, 'source' | 'checked_on'>) {
  return (
    <span className="inline-block max-w-96 min-w-44 text-xs [overflow-wrap:anywhere]">
      <span className="text-ink-soft">{source}</span>
      {checked_on !== null && <span className="block whitespace-nowrap text-ink-faint">checked on {checked_on}</span>}
    </span>
  );
}

const COLUMNS: readonly PlainColumn<PriceRow>[] = [
  {
    header: 'Class',
    render: (row) => (
      <span className={`inline-block min-w-32 ${row.in_force ? '' : 'text-ink-faint'}`} title={row.key}>
        {describeClass(row.unit)}
      </span>
    ),
  },
  {
    header: 'Rate',
    align: 'right',
    render: ({ rate, unit, per }) => (
      <span className="num">
        <span className="font-medium">${rate}</span> <span className="text-ink-faint">/ {describePer(unit, per)}</span>
      </span>
    ),
  },
  {
    header: 'Terms',
    render: (row) => {
      const [prompts, hours] = [describePrompts(row.prompt_tier), describeHours(row.calendar)];
      return (
        <span className="whitespace-nowrap">
          {row.service_tier === 'any' ? 'any tier' : row.service_tier}
          {prompts !== null && <span className="block text-xs text-ink-faint">{prompts}</span>}
          {row.places !== null && (
            <span className="block text-xs text-ink-faint">served at {row.places.join(', ')}</span>
          )}
          {hours !== null && <span className="block text-xs text-ink-faint">{hours}</span>}
        </span>
      );
    },
  },
  { header: 'Holds', render: (row) => <Validity {...row} /> },
  { header: 'Layer', render: ({ layer }) => <LayerBadge layer={layer} /> },
  { header: 'Source', render: (row) => <SourceText {...row} /> },
];

export function PriceRowTable({ label, rows }: { readonly label: string; readonly rows: readonly PriceRow[] }) {
  return <PlainTable label={label} columns={COLUMNS} rows={rows} rowKey={(row) => `${row.key} ${rows.indexOf(row)}`} />;
}

const RULE_WORDS: Readonly<Record<PriceRule['kind'], string>> = {
  multiplier: 'factor',
  derivation: 'derived rate',
  alias: 'other name',
  mapping: 'mapping',
  discount: 'discount',
};

const RULE_COLUMNS: readonly PlainColumn<PriceRule>[] = [
  { header: 'Kind', render: ({ kind }) => <span className="whitespace-nowrap">{RULE_WORDS[kind]}</span> },
  {
    header: 'Rule',
    render: ({ text, key }) => (
      <span className="line-clamp-2 min-w-56 [overflow-wrap:anywhere]" title={`${text}\n${key}`}>
        {text}
      </span>
    ),
  },
  { header: 'Source', render: (rule) => <SourceText {...rule} /> },
];

export function PriceRuleTable({ rules }: { readonly rules: readonly PriceRule[] }) {
  return (
    <PlainTable
      label="Rules"
      columns={RULE_COLUMNS}
      rows={rules}
      rowKey={(rule) => `${rule.key} ${rules.indexOf(rule)}`}
    />
  );
}
