/** How a value of a call looks in the list. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { kindOf, type LogColumn } from '../../../../src/control/store/log-columns.ts';
import type { ListedLog } from '../../api/logs.ts';
import { useAllowed } from '../../app/session-context.tsx';
import { Bytes, CallCost, Count, Duration, Money, sumKnown } from '../../components/amounts.tsx';
import { ProviderMark, StatusBadge } from '../../components/badges.tsx';
import { type Match, MatchText } from '../../components/match-text.tsx';
import { RunningTime } from '../../components/running-time.tsx';
import { SnippetText } from '../../components/snippet-text.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { readTokensPerSecond } from '../../messages/call-timing.ts';
import type { KeyNames } from '../../search/dimensions.ts';
import { shortenTraceId } from '../log/shorten-trace-id.ts';
import { type FixedColumn, isFixedColumn, isPlainColumn, readMetadataKey, readMetadataValue } from './column-list.ts';

export interface CellContext {
  readonly keyNames: KeyNames;
  readonly needsDate: boolean;
}

const NOTHING = <span className="text-ink-faint">–</span>;

function Text({ text, title }: { readonly text: string | null | undefined; readonly title?: string }) {
  if (text === null || text === undefined) return NOTHING;
  return (
    <bdi className="truncate" title={title ?? text.slice(0, 500)}>
      {text.slice(0, 300)}
    </bdi>
  );
}

export function RunLink({ row }: { readonly row: ListedLog }) {
  const { trace_id: trace, id } = row;
  const mayOpen = useAllowed('viewer');
  if (trace === null || trace === undefined) return NOTHING;
  if (!mayOpen) return <span className="truncate font-mono text-xs">{shortenTraceId(trace)}</span>;
  return (
    <Link
      to="/run"
      search={{ trace, sel: id }}
      title={`Open the run ${trace.slice(0, 300)} at this call`}
      className="truncate font-mono text-xs text-accent underline-offset-4 hover:underline"
      onClick={(event) => event.stopPropagation()}
      onDoubleClick={(event) => event.stopPropagation()}
    >
      {shortenTraceId(trace)}
    </Link>
  );
}

function Speed({ row }: { readonly row: ListedLog }) {
  const moments = { overhead_us: null, connect_ms: null, headers_ms: null, first_byte_ms: null };
  const { duration_ms = null, first_token_ms = null, output_tokens = null } = row;
  const speed = readTokensPerSecond({ ...moments, duration_ms, first_token_ms }, output_tokens);
  return speed === null ? NOTHING : <span className="num">{speed.toFixed(1)}</span>;
}

function Took({ row }: { readonly row: ListedLog }) {
  return row.isOpen === true && row.requested_at !== undefined ? (
    <RunningTime since={row.requested_at} />
  ) : (
    <Duration ms={row.duration_ms ?? null} />
  );
}

function Cost({ row }: { readonly row: ListedLog }) {
  return <CallCost total={row.total_cost ?? null} known={row.known_cost ?? null} status={row.cost_status ?? null} />;
}

/** While one searches, where it was found tells more. A match in a text comes before one in a name. */
export function shownMatch({ matches = [] }: ListedLog): Match | undefined {
  return matches.find((match) => match.in === 'prompt' || match.in === 'answer') ?? matches[0];
}

function SnippetOrMatch({ row }: { readonly row: ListedLog }) {
  const match = shownMatch(row);
  return match === undefined ? <SnippetText snippet={row.snippet ?? null} /> : <MatchText match={match} />;
}

const RENDERERS: Readonly<Record<FixedColumn, (row: ListedLog, context: CellContext) => ReactNode>> = {
  time: (row, { needsDate }) => <Timestamp at={row.requested_at ?? null} form={needsDate ? 'datetime' : 'time'} />,
  status: (row) => (
    <StatusBadge outcome={row.outcome ?? 'open'} status={row.status ?? null} closedBefore={row.closed_before ?? null} />
  ),
  model: (row) => {
    const asked = row.model_requested ?? null;
    const served = row.model ?? null;
    return (
      <Text
        text={served ?? asked}
        title={
          asked === null || asked === served ? (served ?? '') : `asked for ${asked}, served by ${served ?? 'unknown'}`
        }
      />
    );
  },
  provider: (row) => <ProviderMark provider={row.provider ?? ''} />,
  span: (row) => (
    <Text
      text={row.span_name}
      title={[row.span_path, row.span_name]
        .filter((part) => part != null)
        .join(' / ')
        .slice(0, 500)}
    />
  ),
  snippet: (row) => <SnippetOrMatch row={row} />,
  run: (row) => <RunLink row={row} />,
  cost: (row) => <Cost row={row} />,
  tok_in: (row) => (
    <Count
      value={sumKnown([row.input_tokens, row.cache_read_input_tokens, row.cache_creation_input_tokens])}
      unit="tokens, cached ones included"
    />
  ),
  tok_out: (row) => <Count value={row.output_tokens ?? null} unit="tokens" />,
  cache: (row) => (
    <>
      <Count value={row.cache_read_input_tokens ?? null} /> / <Count value={row.cache_creation_input_tokens ?? null} />
    </>
  ),
  reasoning: (row) => <Count value={row.reasoning_tokens ?? null} unit="tokens" />,
  duration: (row) => <Took row={row} />,
  ttft: (row) => <Duration ms={row.first_token_ms ?? null} />,
  tps: (row) => <Speed row={row} />,
  key: (row, { keyNames }) => (
    <Text text={row.key_id == null ? null : (keyNames.get(String(row.key_id)) ?? `key ${row.key_id}`)} />
  ),
  endpoint: (row) => <Text text={row.endpoint} />,
  path: (row) => <Text text={[row.method, row.path].filter((part) => part != null).join(' ')} />,
  client: (row) => <Text text={row.client} />,
  connection: (row) => <Text text={row.connection_id} />,
  address: (row) => <Text text={row.client_address} />,
  http_status: (row) => (row.status == null ? NOTHING : <span className="num">{row.status}</span>),
  error: (row) => <Text text={[row.error_type, row.error_message].filter((part) => part != null).join(': ') || null} />,
  bytes: (row) => (
    <>
      <Bytes value={row.request_bytes ?? null} /> / <Bytes value={row.response_bytes ?? null} />
    </>
  ),
  overhead: (row) =>
    row.overhead_us == null ? NOTHING : <span className="num">{row.overhead_us.toLocaleString('en-US')} µs</span>,
  retry: (row) => (row.attempt == null || row.attempt === 0 ? NOTHING : <span className="num">{row.attempt}</span>),
  id: (row) => <code className="font-mono text-xs">{row.id}</code>,
};

function renderPlain(column: LogColumn, value: unknown): ReactNode {
  if (value === null || value === undefined) return NOTHING;
  switch (kindOf(column)) {
    case 'integer':
      return column.endsWith('_ms') ? <Duration ms={Number(value)} /> : <Count value={Number(value)} />;
    case 'money':
      return <Money value={String(value)} />;
    case 'time':
      return <Timestamp at={String(value)} />;
    case 'boolean':
      return value === true ? 'yes' : 'no';
    default:
      return <Text text={Array.isArray(value) ? value.join(', ') : String(value)} />;
  }
}

export function renderCell(row: ListedLog, id: string, context: CellContext): ReactNode {
  if (isFixedColumn(id)) return RENDERERS[id](row, context);
  if (isPlainColumn(id)) return renderPlain(id, row[id]);
  return <Text text={readMetadataValue(row.raw_metadata, readMetadataKey(id) ?? '')} />;
}

export function LogCard({ row }: { readonly row: ListedLog }) {
  const match = shownMatch(row);
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center gap-2">
        <StatusBadge
          outcome={row.outcome ?? 'open'}
          status={row.status ?? null}
          closedBefore={row.closed_before ?? null}
        />
        <bdi className="min-w-0 flex-1 truncate font-medium">
          {(row.model ?? row.model_requested ?? row.span_name ?? '').slice(0, 200)}
        </bdi>
        <Cost row={row} />
      </div>
      <div className="flex items-center gap-3 text-xs text-ink-soft">
        <Timestamp at={row.requested_at ?? null} />
        <Took row={row} />
        <span className="min-w-0 flex-1 truncate">
          <RunLink row={row} />
        </span>
      </div>
      {match !== undefined && <MatchText match={match} />}
    </div>
  );
}
