/** A body as it was sent, as a tree, or (of a stream) put together; its size and type, its headers, and a way to save it. */
import { Download } from 'lucide-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import { apiPath } from '../../api/client.ts';
import type { HeaderList, LogDetail, StoredBody } from '../../api/logs.ts';
import { Bytes } from '../../components/amounts.tsx';
import { buttonClass, CopyButton } from '../../components/buttons.tsx';
import { KeyValueList } from '../../components/key-value-list.tsx';
import { ErrorState, Skeleton } from '../../components/states.tsx';
import type { AssembledResponse } from '../../messages/assemble-response.ts';
import { decodeBody, formatHex } from '../../messages/body-text.ts';
import { formatJson, isNothing, parseJson } from '../../messages/json-reading.ts';
import { BodyNotes, NotKept } from './body-notes.tsx';
import { JsonTree } from './json-tree.tsx';
import { useAssembled, useBody } from './use-bodies.ts';

const CodeView = lazy(async () => ({ default: (await import('./code-view.tsx')).CodeView }));

/** Above it a tree is slower than the text. */
const MAX_TREE_BYTES = 1_000_000;
const MAX_HEX_BYTES = 64 * 1024;

const VIEWS = { assembled: 'Assembled', tree: 'Tree', raw: 'As sent', headers: 'Headers' } as const;
type View = keyof typeof VIEWS;

function useText(body: StoredBody | undefined, isBinary: boolean): string {
  return useMemo(() => {
    if (body === undefined) return '';
    return isBinary ? formatHex(body.bytes, MAX_HEX_BYTES) : decodeBody(body.bytes).text;
  }, [body, isBinary]);
}

function Code({ label, text, isJson }: { readonly label: string; readonly text: string; readonly isJson: boolean }) {
  return (
    <Suspense fallback={<Skeleton label="Loading the text" />}>
      <CodeView label={label} text={text} isJson={isJson} />
    </Suspense>
  );
}

function listViews(assembled: AssembledResponse | null, value: unknown, body: StoredBody | undefined): readonly View[] {
  if (body === undefined) return ['headers'];
  const isStream = (assembled?.events ?? 0) > 0;
  const hasTree = !isNothing(value) && body.bytes.length <= MAX_TREE_BYTES;
  return [...(isStream ? ['assembled' as const] : []), ...(hasTree ? ['tree' as const] : []), 'raw', 'headers'];
}

function joinHeaders(headers: HeaderList): HeaderList {
  const joined = new Map<string, string>();
  for (const [name, text] of headers) {
    const before = joined.get(name);
    joined.set(name, before === undefined ? text : `${before}\n${text}`);
  }
  return [...joined];
}

export function BodyTab({ log, direction }: { readonly log: LogDetail; readonly direction: 'request' | 'response' }) {
  const { body, error, isLoading, retry } = useBody(log, direction);
  const answer = useAssembled(log, direction === 'response' ? body : undefined);
  const facts = log.bodies?.[direction] ?? null;
  const isBinary = body?.isEncoded === true || answer?.framing === 'binary' || answer?.framing === 'aws-event-stream';
  const text = useText(body, isBinary);
  const value = useMemo(() => (direction === 'request' ? parseJson(text) : answer?.value), [direction, text, answer]);
  const [chosen, setChosen] = useState<View | null>(null);
  const views = listViews(answer, value, body);
  const view = chosen !== null && views.includes(chosen) ? chosen : (views[0] ?? 'headers');
  const headers = log.headers?.[direction] ?? [];
  if (isLoading) return <Skeleton label="Loading the body" />;
  if (error !== null) return <ErrorState error={error} what="the body" onRetry={retry} />;
  const name = direction === 'request' ? 'Body of the request' : 'Body of the answer';
  return (
    <div className="flex flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
        <fieldset className="flex gap-1">
          <legend className="sr-only">Display as</legend>
          {views.map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === view}
              className="rounded-md px-2 py-1 text-ink-soft hover:bg-raised aria-pressed:bg-accent-soft aria-pressed:text-accent"
              onClick={() => setChosen(one)}
            >
              {VIEWS[one]}
            </button>
          ))}
        </fieldset>
        {facts !== null && (
          <span className="text-xs text-ink-soft">
            <Bytes value={facts.total_bytes} />
            {facts.content_type !== null && ` · ${facts.content_type.slice(0, 100)}`}
            {facts.content_encoding !== null && ` · ${facts.content_encoding.slice(0, 40)}`}
            {answer !== null && answer.events > 0 && ` · ${answer.events.toLocaleString('en-US')} events`}
          </span>
        )}
        {body !== undefined && (
          <span className="ml-auto flex gap-1">
            {!isBinary && <CopyButton text={text} what={name.toLowerCase()} />}
            <a
              href={apiPath(`/logs/${log.id}/${direction}`)}
              download={`${log.id}-${direction}`}
              className={buttonClass('quiet')}
              title="The bytes as they went over the wire"
            >
              <Download size={15} aria-hidden /> Save
            </a>
          </span>
        )}
      </div>
      <BodyNotes body={body} what={direction === 'request' ? 'request' : 'answer'} problems={answer?.problems ?? []} />
      {body === undefined && <NotKept log={log} direction={direction} />}
      <div className="p-4">
        {view === 'assembled' && <Code label={`${name}, assembled`} text={formatJson(answer?.value)} isJson />}
        {view === 'tree' && <JsonTree label={name} value={value} />}
        {view === 'raw' && body !== undefined && (
          <Code label={name} text={text} isJson={value !== undefined && !isBinary} />
        )}
        {view === 'raw' && isBinary && body !== undefined && body.bytes.length > MAX_HEX_BYTES && (
          <p className="mt-2 text-ink-soft">
            The first <Bytes value={MAX_HEX_BYTES} /> of <Bytes value={body.bytes.length} />; Save has all.
          </p>
        )}
        {view === 'headers' &&
          (headers.length === 0 ? (
            <p className="text-ink-soft">No headers were kept.</p>
          ) : (
            <KeyValueList
              items={joinHeaders(headers).map(([header, text]) => ({
                name: header,
                value: <code className="font-mono text-xs [overflow-wrap:anywhere] whitespace-pre-wrap">{text}</code>,
              }))}
            />
          ))}
        {view === 'headers' && headers.length > 0 && (
          <p className="mt-3 text-xs text-ink-faint">Only headers of an allow-list are kept; credentials never are.</p>
        )}
      </div>
    </div>
  );
}
