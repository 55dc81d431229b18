/** What the client said about a call, the ids it is known by, and the remarks on its record in words. */
import { Link } from '@tanstack/react-router';
import { ListFilter, ListX } from 'lucide-react';
import type { ReactNode } from 'react';
import { requestedAtOf } from '../../../../src/vocabulary/uuid.ts';
import type { LogDetail } from '../../api/logs.ts';
import { Badge } from '../../components/badges.tsx';
import { buttonClass, CopyButton } from '../../components/buttons.tsx';
import { type KeyValue, KeyValueList } from '../../components/key-value-list.tsx';
import { describeFlag } from '../../messages/flag-words.ts';
import { isRecord } from '../../messages/json-reading.ts';
import { filterByValue } from '../../search/filter-text.ts';
import { windowAround } from '../../search/linked-window.ts';
import type { WindowSearch } from '../../search/time-window.ts';
import { useKeyName } from './use-key-name.ts';

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h3 className="mb-2 font-medium">{title}</h3>
      {children}
    </section>
  );
}

/** Leads to the calls of one websocket. */
function ConnectionLink({ id, isOwn }: { readonly id: string; readonly isOwn: boolean }) {
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      {isOwn ? 'this one' : <Id text={id} what="connection’s id" />}
      <Link
        to="/logs"
        // Its id tells when it began; its calls may have come at any time since.
        search={{ from: requestedAtOf(id).toISOString(), f: [filterByValue('connection_id', id)] }}
        className="text-accent underline-offset-4 hover:underline"
      >
        its calls
      </Link>
    </span>
  );
}

function listMetadata(metadata: unknown): readonly (readonly [string, string])[] {
  if (!isRecord(metadata)) return [];
  return Object.entries(metadata).map(([key, value]) => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
}

/** Case does not tell keys apart. */
function isPromoted(key: string, indexed: unknown): boolean {
  return isRecord(indexed) && Object.keys(indexed).some((name) => name.toLowerCase() === key.toLowerCase());
}

function MetadataRow({
  name,
  value,
  promoted,
  window,
}: {
  readonly name: string;
  readonly value: string;
  readonly promoted: boolean;
  /** Of the calls that the links show. */
  readonly window: WindowSearch;
}) {
  const field = `metadata.${name}`;
  return (
    <li className="flex flex-wrap items-center gap-x-2 gap-y-1 border-b border-line/60 py-1.5 last:border-0">
      <span className="w-40 shrink-0 [overflow-wrap:anywhere] text-ink-soft">
        {name} {promoted && <Badge tone="accent">promoted</Badge>}
      </span>
      <span dir="auto" className="min-w-0 flex-1 [overflow-wrap:anywhere] whitespace-pre-wrap">
        {value === '' ? <span className="text-ink-faint">(empty)</span> : value.slice(0, 4_096)}
      </span>
      <span className="flex">
        <Link
          to="/logs"
          search={{ ...window, f: [filterByValue(field, value)] }}
          aria-label={`Show the calls with ${name} like this`}
          title="Filter by this value"
          className={buttonClass('quiet')}
        >
          <ListFilter size={15} aria-hidden />
        </Link>
        <Link
          to="/logs"
          search={{ ...window, f: [filterByValue(field, value, false)] }}
          aria-label={`Show the calls with another ${name}`}
          title="Filter this value out"
          className={buttonClass('quiet')}
        >
          <ListX size={15} aria-hidden />
        </Link>
        <CopyButton text={value} what={`value of ${name}`} />
      </span>
    </li>
  );
}

function Id({ text, what }: { readonly text: string | null; readonly what: string }) {
  if (text === null) return <span className="text-ink-faint">—</span>;
  return (
    <span className="inline-flex max-w-full items-center">
      <code className="min-w-0 font-mono text-xs [overflow-wrap:anywhere]">{text}</code>
      <CopyButton text={text} what={what} />
    </span>
  );
}

function listFlags(log: LogDetail): readonly KeyValue[] {
  return (log.flags ?? []).map((flag) => ({ name: flag, value: describeFlag(flag) }));
}

export function MetadataTab({ log }: { readonly log: LogDetail }) {
  const keyName = useKeyName(log.key_id);
  const metadata = listMetadata(log.raw_metadata);
  const flags = listFlags(log);
  const window = windowAround(requestedAtOf(log.id).toISOString(), '24h', Date.now());
  const text = (value: string | null) => value ?? '—';
  return (
    <div className="flex flex-col gap-6 p-4">
      <Section title="Metadata">
        {metadata.length === 0 ? (
          <p className="text-ink-soft">
            None was sent. Any header <code className="font-mono">X-Gateway-…</code> becomes metadata, e.g.{' '}
            <code className="font-mono">X-Gateway-Feature: checkout</code>.
          </p>
        ) : (
          <ul>
            {metadata.map(([name, value]) => (
              <MetadataRow
                key={name}
                name={name}
                value={value}
                promoted={isPromoted(name, log.indexed_metadata)}
                window={window}
              />
            ))}
          </ul>
        )}
      </Section>
      {flags.length > 0 && (
        <Section title="Remarks">
          <KeyValueList items={flags} />
        </Section>
      )}
      <Section title="Reserved headers">
        <KeyValueList
          items={[
            { name: 'Trace id', value: <Id text={log.trace_id} what="trace id" /> },
            { name: 'Span path', value: text(log.span_path) },
            { name: 'Span name', value: text(log.span_name) },
            { name: 'Client', value: text(log.client) },
            { name: 'Provider', value: text(log.provider) },
            { name: 'Provider alias', value: text(log.provider_alias) },
          ]}
        />
      </Section>
      <Section title="Ids and route">
        <KeyValueList
          items={[
            { name: 'Request id', value: <Id text={log.id} what="request id" /> },
            ...(log.connection_id === null
              ? []
              : [
                  {
                    name: 'Connection',
                    value: <ConnectionLink id={log.connection_id} isOwn={log.connection_id === log.id} />,
                  },
                ]),
            { name: 'Provider’s id', value: <Id text={log.provider_request_id} what="provider’s request id" /> },
            ...(log.answer_id === null
              ? []
              : [{ name: 'Answer’s id', value: <Id text={log.answer_id} what="answer’s id" /> }]),
            { name: 'Gateway key', value: keyName ?? '—' },
            {
              name: 'Route',
              value: (
                <code className="font-mono text-xs [overflow-wrap:anywhere]">
                  {[log.method, log.path].filter((part) => part !== null).join(' ')}
                </code>
              ),
            },
            { name: 'Endpoint', value: text(log.endpoint) },
            { name: 'Requested model', value: text(log.model_requested) },
            { name: 'Served model', value: text(log.model) },
            { name: 'Region', value: text(log.region) },
            { name: 'Session', value: <Id text={log.agent_session} what="session" /> },
            { name: 'Agent', value: text(log.agent_path) },
            { name: 'Turn', value: text(log.agent_turn) },
            { name: 'Run comes from', value: text(log.trace_source) },
            { name: 'Node', value: text(log.node) },
            { name: 'Client’s address', value: text(log.client_address) },
          ]}
        />
      </Section>
    </div>
  );
}
