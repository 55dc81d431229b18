/** How a call's cost came about: a line for each class, adding up to the total; and why there is none, where there is none. */

import { useQueries } from '@tanstack/react-query';
import type { LogDetail } from '../../api/logs.ts';
import { type PriceRows, priceRowsQuery } from '../../api/prices.ts';
import { Count } from '../../components/amounts.tsx';
import { KeyValueList } from '../../components/key-value-list.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import {
  COST_STATUS_WORDS,
  type CostTableLine,
  describeClass,
  describeFactor,
  readCostBreakdown,
} from '../../messages/cost-breakdown.ts';
import { isNothing } from '../../messages/json-reading.ts';
import { CostLineSource } from './cost-line-source.tsx';
import { CostRevisions } from './cost-revisions.tsx';
import { EstimateBlock } from './estimate-block.tsx';
import { JsonTree } from './json-tree.tsx';
import { UnpricedClasses } from './unpriced-classes.tsx';

function Rate({ line: { rate, per, unit } }: { readonly line: CostTableLine }) {
  return (
    <span className="num">
      {rate === null ? '—' : `$${rate}`} / {per === 1_000_000 ? '1M' : (per?.toLocaleString('en-US') ?? '?')} {unit}s
    </span>
  );
}

function Factor({ line: { multiplier } }: { readonly line: CostTableLine }) {
  if (multiplier === '1') return null;
  return (
    <span className="num">
      × {multiplier ?? '?'}
      <span className="block text-xs text-ink-faint">{describeFactor(multiplier ?? '')}</span>
    </span>
  );
}

function ClassName({ line }: { readonly line: CostTableLine }) {
  return (
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
  );
}

function listColumns(
  lines: readonly CostTableLine[],
  pricesOf: (line: CostTableLine) => PriceRows | undefined,
): readonly PlainColumn<CostTableLine>[] {
  return [
    {
      header: 'Class and source',
      render: (line) => (
        <div className="flex min-w-32 flex-col gap-0.5">
          <ClassName line={line} />
          <CostLineSource line={line} found={pricesOf(line)} />
        </div>
      ),
    },
    {
      // Here the last digit counts: nothing is shortened.
      header: 'Quantity',
      align: 'right',
      render: ({ quantity }) => <span className="num">{quantity?.toLocaleString('en-US') ?? '—'}</span>,
    },
    { header: 'Rate', align: 'right', render: (line) => <Rate line={line} /> },
    ...(lines.every(({ multiplier }) => multiplier === '1')
      ? []
      : [
          {
            header: 'Factor',
            align: 'right' as const,
            render: (line: CostTableLine) => <Factor line={line} />,
          },
        ]),
    {
      header: 'Amount',
      align: 'right',
      render: ({ amount }) => <span className="num">{amount === null ? '—' : `$${amount}`}</span>,
    },
  ];
}

export function CostTab({ log }: { readonly log: LogDetail }) {
  const { lines, unpriced, sum, addsUp } = readCostBreakdown(log);
  const status = log.cost_status ?? '';
  const pricesOf = useLinePrices(log, lines);
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
            columns={listColumns(lines, pricesOf)}
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
      {unpriced.length > 0 && <UnpricedClasses log={log} unpriced={unpriced} />}
      <EstimateBlock log={log} />
      {log.state !== 'open' && <CostRevisions logId={log.id} />}
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

/** A call has one model, and sometimes a second within it; a record of any shape must not ask for hundreds. */
const MAX_MODELS = 4;

type LinePrices = (line: CostTableLine) => PriceRows | undefined;

function useLinePrices(log: LogDetail, lines: readonly CostTableLine[]): LinePrices {
  const { provider, provider_alias, billing_model, requested_at } = log;
  const modelOf = (line: CostTableLine) => line.model ?? billing_model;
  const models = [...new Set(lines.map(modelOf))]
    .filter((model): model is string => typeof model === 'string' && model !== '')
    .slice(0, MAX_MODELS);
  const answers = useQueries({
    queries: models.map((model) =>
      priceRowsQuery({ provider: provider ?? '', model, provider_alias: provider_alias ?? null, at: requested_at }),
    ),
  });
  return (line) => answers[models.indexOf(modelOf(line) ?? '')]?.data;
}
