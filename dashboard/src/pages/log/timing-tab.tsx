/** Where the time of a call went: one bar of stages, and the same as a list. */
import type { LogDetail } from '../../api/logs.ts';
import { Bytes, Duration } from '../../components/amounts.tsx';
import { KeyValueList } from '../../components/key-value-list.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { readTiming, readTokensPerSecond, type TimingStage } from '../../messages/call-timing.ts';

const COLOURS: Readonly<Record<TimingStage['id'], string>> = {
  gateway: 'var(--series-8)',
  connect: 'var(--series-6)',
  headers: 'var(--bar-soft)',
  first_byte: 'var(--series-3)',
  first_token: 'var(--series-7)',
  rest: 'var(--bar)',
};

/** A stage that took no time has still a trace in the bar. */
const MIN_PERCENT = 0.4;

function StageBar({ stages, totalMs }: { readonly stages: readonly TimingStage[]; readonly totalMs: number }) {
  return (
    <div aria-hidden className="flex h-6 w-full gap-px overflow-hidden rounded">
      {stages.map(({ id, name, startMs, endMs }) => (
        <div
          key={id}
          title={name}
          style={{
            backgroundColor: COLOURS[id],
            flexGrow: totalMs === 0 ? 1 : (endMs - startMs) / totalMs,
            minWidth: `${MIN_PERCENT}%`,
          }}
        />
      ))}
    </div>
  );
}

function StageList({ stages, totalMs }: { readonly stages: readonly TimingStage[]; readonly totalMs: number }) {
  return (
    <ol className="flex flex-col gap-1">
      {stages.map(({ id, name, about, startMs, endMs }) => (
        <li key={id} className="flex items-baseline gap-2">
          <span
            aria-hidden
            className="size-3 shrink-0 translate-y-0.5 rounded-sm"
            style={{ backgroundColor: COLOURS[id] }}
          />
          <span className="w-36 shrink-0">{name}</span>
          <span className="w-20 shrink-0 text-right">
            {endMs - startMs > 0 && endMs - startMs < 1 ? (
              <span className="num">{Math.round((endMs - startMs) * 1_000)} µs</span>
            ) : (
              <Duration ms={Math.round(endMs - startMs)} />
            )}
          </span>
          <span className="num w-12 shrink-0 text-right text-ink-faint">
            {totalMs === 0 ? '' : `${Math.round(((endMs - startMs) / totalMs) * 100)}%`}
          </span>
          <span className="min-w-0 text-ink-soft max-sm:hidden">{about}</span>
        </li>
      ))}
    </ol>
  );
}

export function TimingTab({ log }: { readonly log: LogDetail }) {
  const stages = readTiming(log);
  const perSecond = readTokensPerSecond(log, log.output_tokens);
  return (
    <div className="flex flex-col gap-4 p-4">
      {stages.length === 0 ? (
        <p className="text-ink-soft">
          {log.state === 'open'
            ? 'The call is still open.'
            : 'The ending of this call was not seen, so its time was not measured.'}
        </p>
      ) : (
        <>
          <StageBar stages={stages} totalMs={log.duration_ms ?? 0} />
          <StageList stages={stages} totalMs={log.duration_ms ?? 0} />
        </>
      )}
      <KeyValueList
        items={[
          { name: 'Arrived', value: <Timestamp at={log.requested_at} /> },
          { name: 'Ended', value: <Timestamp at={log.responded_at} never="not seen" /> },
          { name: 'Duration', value: <Duration ms={log.duration_ms} /> },
          {
            name: 'Gateway’s own share',
            value:
              log.overhead_us === null ? (
                '—'
              ) : (
                <span className="num">{log.overhead_us.toLocaleString('en-US')} µs before forwarding</span>
              ),
          },
          {
            name: 'Connection',
            value: log.connect_ms === null ? 'an open one was used, or none was made' : 'a new one was made',
          },
          {
            name: 'Speed',
            value:
              perSecond === null ? (
                '—'
              ) : (
                <span className="num">{perSecond.toFixed(1)} output tokens a second from the first token</span>
              ),
          },
          { name: 'Client’s retries', value: log.attempt === null ? 'it does not say' : String(log.attempt) },
          {
            name: 'Size',
            value: (
              <span>
                <Bytes value={log.request_bytes} /> sent, <Bytes value={log.response_bytes} /> received
              </span>
            ),
          },
        ]}
      />
    </div>
  );
}
