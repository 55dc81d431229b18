/** How a call's cost came about: a line for each class, adding up to the total; and why there is none, where there is none. */
import type { LogDetail } from '../../api/logs.ts';
import { Count } from '../../components/amounts.tsx';
import { KeyValueList } from '../../components/key-value-list.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import {
  COST_STATUS_WORDS,
  type CostTableLine,
  describeClass,
  readCostBreakdown,
} from '../../messages/cost-breakdown.ts';
import { isNothing } from '../../messages/json-reading.ts';
import { EstimateBlock } from './estimate-block.tsx';
import { JsonTree } from './json-tree.tsx';

const COLUMNS: readonly PlainColumn<CostTableLine>[] = [
  {
    header: 'Class',
    render: (line) => (
      <span title={line.class}>
        {describeClass(line.class)}
        {line.purpose !== null && (
          <span className="text-ink-faint">
            {' '}
            · {line.purpose.replaceAll('_', ' ')} by {line.model}
          </span>
        )}
        {line.ratedAs !== null && <span className="text-ink-faint"> at the rate of {describeClass(line.ratedAs)}</span>}
      </span>
    ),
  },
  { header: 'Quantity', align: 'right', render: (line) => <Exact value={line.quantity} /> },
  {
    header: 'Rate',
    align: 'right',
    render: (line) => (
      <span className="num">
        {line.rate === null ? '—' : `$${line.rate}`} /{' '}
        {line.per === 1_000_000 ? '1M' : (line.per?.toLocaleString('en-US') ?? '?')} {line.unit}s
      </span>
    ),
  },
  {
    header: 'Factor',
    align: 'right',
    render: (line) => <span className="num">{line.multiplier === '1' ? '' : `× ${line.multiplier ?? '?'}`}</span>,
  },
  {
    header: 'Amount',
    align: 'right',
    render: (line) => <span className="num">{line.amount === null ? '—' : `$${line.amount}`}</span>,
  },
  {
    header: 'Price from',
    render: (line) => (
      <span className="text-xs text-ink-soft [overflow-wrap:anywhere]">
        {[line.layer, line.row].filter((text) => text !== null).join(': ')}
      </span>
    ),
  },
];

/** Here the last digit counts: nothing is shortened. */
function Exact({ value }: { readonly value: number | null }) {
  return <span className="num">{value === null ? '—' : value.toLocaleString('en-US')}</span>;
}

export function CostTab({ log }: { readonly log: LogDetail }) {
  const { lines, unpriced, sum, addsUp } = readCostBreakdown(log);
  const status = log.cost_status ?? '';
  return (
    <div className="flex flex-col gap-4 p-4">
      <p>
        <strong className="num text-base">
          {log.total_cost === null ? (lines.length > 0 ? `≥ $${sum}` : '—') : `$${log.total_cost}`}
        </strong>{' '}
        <span className="text-ink-soft">
          {log.state === 'open'
            ? 'The call is still open; its cost is known when it has ended.'
            : (COST_STATUS_WORDS[status] ?? status)}
        </span>
      </p>
      {lines.length > 0 && (
        <>
          <PlainTable
            label="Cost by class"
            columns={COLUMNS}
            rows={lines}
            rowKey={(line) => String(lines.indexOf(line))}
          />
          <p className="text-ink-soft">
            Sum of the lines: <strong className="num text-ink">${sum}</strong>
            {addsUp === true && ', which is the cost in the record to the last digit.'}
            {addsUp === false && `; the record says $${log.known_cost ?? '?'}.`}
          </p>
        </>
      )}
      {unpriced.length > 0 && (
        <section aria-label="Without a price" className="rounded-md border border-warn/60 bg-warn-soft p-3">
          <h3 className="font-medium text-warn">Without a price</h3>
          <ul className="mt-1">
            {unpriced.map(({ class: name, quantity }) => (
              <li key={name}>
                {describeClass(name)}: <Exact value={quantity} />
              </li>
            ))}
          </ul>
          <p className="mt-1 text-ink-soft">
            The price book has no rate for {log.billing_model ?? log.model ?? log.model_requested ?? 'this model'} here.
            What is not known is never counted as zero.
          </p>
        </section>
      )}
      <EstimateBlock log={log} />
      <KeyValueList
        items={[
          { name: 'Priced as', value: log.billing_model ?? '—' },
          { name: 'Price version', value: log.price_version ?? '—' },
          { name: 'Priced at', value: <Timestamp at={log.priced_at} /> },
          { name: 'Usage', value: describeUsage(log.usage_source) },
          { name: 'Reasoning', value: <Count value={log.reasoning_tokens} unit="tokens, a part of the output" /> },
          ...(log.service_tier === null ? [] : [{ name: 'Service tier', value: log.service_tier }]),
        ]}
      />
      {!isNothing(log.native_usage) && (
        <details>
          <summary className="text-ink-soft">Usage as the provider reported it</summary>
          <div className="mt-2">
            <JsonTree label="Usage as the provider reported it" value={log.native_usage} />
          </div>
        </details>
      )}
    </div>
  );
}

function describeUsage(source: string | null): string {
  if (source === 'provider') return 'complete, as the provider reported it';
  if (source === 'partial') return 'what was reported before the answer was cut';
  if (source === 'request') return 'counted in the request, which is what the provider bills by';
  return source === 'none' ? 'not reported' : '—';
}
