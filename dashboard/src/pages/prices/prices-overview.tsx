/** How good the price book is now: which catalog, how old, what is declared on top, what has no price. */
import { useQuery } from '@tanstack/react-query';
import { type PricesStatus, pricesStatusQuery } from '../../api/prices.ts';
import { Count } from '../../components/amounts.tsx';
import { Badge, type Tone } from '../../components/badges.tsx';
import { ErrorState, StaleNote } from '../../components/states.tsx';
import { type SummaryFigure, SummaryStrip } from '../../components/summary-strip.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { WarningList } from '../../components/warning-list.tsx';

const ORIGINS = { bundled: 'bundled', file: 'imported', feed: 'from the feed' } as const;

const FEED_TONES: Readonly<Record<NonNullable<PricesStatus['feed']['result']>, Tone>> = {
  unchanged: 'good',
  activated: 'good',
  refused: 'warn',
  failed: 'bad',
};

function Feed({ feed: { setting, result, checked_at, detail } }: { readonly feed: PricesStatus['feed'] }) {
  if (setting === 'off')
    return (
      <span className="text-sm font-normal text-ink-soft" title="A setting of the gateway fetches newer catalogs">
        off
      </span>
    );
  return (
    <span className="inline-flex items-center gap-1.5 text-sm font-normal">
      {result !== null && (
        <Badge tone={FEED_TONES[result]} {...(detail === null ? {} : { title: detail })}>
          {result}
        </Badge>
      )}
      <span className="text-xs text-ink-faint">
        <Timestamp at={checked_at} form="relative" never="not looked at yet" />
      </span>
    </span>
  );
}

function countWords(count: number, word: string): string {
  return `${count.toLocaleString('en-US')} ${word}${count === 1 ? '' : 's'}`;
}

function listFigures(status: PricesStatus): readonly SummaryFigure[] {
  const { catalog, price_version, feed, unpriced } = status;
  const { overrides, mappings, multipliers } = status.declarations;
  return [
    {
      name: 'Catalog',
      value: <span className="[overflow-wrap:anywhere]">{catalog.name}</span>,
      detail: ORIGINS[catalog.origin],
    },
    {
      name: 'Prices of',
      value: <span className="num">{catalog.checked_on}</span>,
      detail: `${catalog.age_days} ${catalog.age_days === 1 ? 'day' : 'days'} old`,
    },
    { name: 'Price version', value: <code className="font-mono text-xs font-normal">{price_version}</code> },
    {
      name: 'Your own',
      value: <Count value={overrides + mappings + multipliers} />,
      detail: [
        countWords(overrides, 'price'),
        countWords(mappings, 'mapping'),
        countWords(multipliers, 'discount'),
      ].join(', '),
    },
    { name: 'Feed', value: <Feed feed={feed} /> },
    {
      name: 'Without a price',
      value: (
        <>
          <Count value={unpriced.models} /> {unpriced.models === 1 ? 'model' : 'models'}
        </>
      ),
      detail: (
        <span title="Of the last 30 days">
          <Count value={unpriced.calls} unit="calls" /> {unpriced.calls === 1 ? 'call' : 'calls'}
        </span>
      ),
    },
  ];
}

export function PricesOverview() {
  const { data, error, refetch } = useQuery(pricesStatusQuery);
  if (data === undefined)
    return error === null ? (
      <div className="h-14" />
    ) : (
      <ErrorState error={error} what="the state of the prices" onRetry={() => void refetch()} />
    );
  return (
    <>
      {error !== null && <StaleNote>The gateway does not answer; this is its last state.</StaleNote>}
      <SummaryStrip label="State of the prices" figures={listFigures(data)} />
      {data.warnings.length > 0 && (
        <div className="px-4 pb-3">
          <WarningList warnings={data.warnings} />
        </div>
      )}
    </>
  );
}
