/** Own prices, mappings and discounts, each as a small table. */
import type { Mapping, Multiplier, Override } from '../../api/prices.ts';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { describeClass, describeFactor } from '../../messages/cost-breakdown.ts';
import { type DeclarationAction, listCommonColumns, ModelId, ProviderCell } from './declaration-cells.tsx';
import { CLASS_CHOICES, RATE_UNITS } from './price-words.ts';

interface TableProps<T> {
  readonly rows: readonly T[];
  readonly onAction: (action: DeclarationAction) => void;
}

function RateList({ rates }: Pick<Override, 'rates'>) {
  return (
    <ul className="grid grid-cols-[auto_auto_1fr] gap-x-3 text-xs whitespace-nowrap">
      {CLASS_CHOICES.filter((name) => rates[name] !== undefined).map((name) => (
        <li key={name} className="contents">
          <span className="text-ink-soft">{describeClass(name)}</span>
          <span className="num text-right">${rates[name]}</span>
          <span className="text-ink-faint" title={RATE_UNITS[name]}>
            {RATE_UNITS[name].replace('USD per', '/').replace(' tokens', '')}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Terms({ service_tier, over_tokens, up_to_tokens }: Override) {
  const bounds = [
    over_tokens === null ? '' : `over ${over_tokens.toLocaleString('en-US')}`,
    up_to_tokens === null ? '' : `up to ${up_to_tokens.toLocaleString('en-US')}`,
  ].filter((text) => text !== '');
  return (
    <span>
      {service_tier}
      {bounds.length > 0 && <span className="block text-xs text-ink-faint">prompts {bounds.join(' and ')} tokens</span>}
    </span>
  );
}

export function OverrideTable({ rows, onAction }: TableProps<Override>) {
  const columns: readonly PlainColumn<Override>[] = [
    { header: 'Model', render: (row) => <ModelId {...row} /> },
    { header: 'Rates', render: (row) => <RateList rates={row.rates} /> },
    { header: 'Terms', render: (row) => <Terms {...row} /> },
    ...listCommonColumns<Override>(onAction, (row) => ({ kind: 'override', ...row })),
  ];
  return <PlainTable label="Own prices" columns={columns} rows={rows} rowKey={({ id }) => String(id)} />;
}

export function MappingTable({ rows, onAction }: TableProps<Mapping>) {
  const columns: readonly PlainColumn<Mapping>[] = [
    { header: 'Id in the call', render: (row) => <ModelId {...row} /> },
    {
      header: 'Billed as',
      render: ({ billing_model }) => (
        <span className="inline-block max-w-72 font-medium [overflow-wrap:anywhere]">{billing_model}</span>
      ),
    },
    ...listCommonColumns<Mapping>(onAction, (row) => ({ kind: 'mapping', ...row })),
  ];
  return <PlainTable label="Mappings" columns={columns} rows={rows} rowKey={({ id }) => String(id)} />;
}

export function DiscountTable({ rows, onAction }: TableProps<Multiplier>) {
  const columns: readonly PlainColumn<Multiplier>[] = [
    { header: 'Provider', render: (row) => <ProviderCell {...row} /> },
    {
      header: 'List prices',
      render: ({ factor }) => (
        <span className="whitespace-nowrap">
          <span className="num font-medium">× {factor}</span>{' '}
          <span className="text-xs text-ink-faint">{describeFactor(factor)}</span>
        </span>
      ),
    },
    ...listCommonColumns<Multiplier>(onAction, (row) => ({ kind: 'multiplier', ...row })),
  ];
  return <PlainTable label="Discounts" columns={columns} rows={rows} rowKey={({ id }) => String(id)} />;
}
