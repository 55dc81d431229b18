/** What is not right with a stored body, one line each: what of it is missing, what could not be read. */
import { formatBytes } from '../../../../src/vocabulary/format-amounts.ts';
import type { LogDetail, StoredBody } from '../../api/logs.ts';
import { StaleNote } from '../../components/states.tsx';

interface BodyNotesProps {
  readonly body: StoredBody | undefined;
  readonly what: string;
  readonly problems: readonly string[];
}

function listNotes({ body, what, problems }: BodyNotesProps): readonly string[] {
  if (body === undefined) return problems;
  const { cutBytes, decodedLimit, isEncoded } = body;
  return [
    ...(cutBytes > 0
      ? [
          `${formatBytes(cutBytes)} of the ${what} were not kept: it is larger than what is stored of one body. What is here is the rest, without a sign where they are missing.`,
        ]
      : []),
    ...(decodedLimit === null ? [] : [`The ${what} goes on: it was decoded up to ${formatBytes(decodedLimit)}.`]),
    ...(isEncoded
      ? [`The ${what} is not encoded as its headers say, so its bytes are shown as they went over the wire.`]
      : []),
    ...problems,
  ];
}

export function BodyNotes(props: BodyNotesProps) {
  return listNotes(props).map((note) => <StaleNote key={note}>{note}</StaleNote>);
}

function reasonFor(log: LogDetail, direction: 'request' | 'response'): string {
  const bytes = direction === 'request' ? log.request_bytes : log.response_bytes;
  const what = direction === 'request' ? 'request' : 'answer';
  if (log.state === 'open') return 'The call is still open. Bodies can be read when it has ended.';
  if (bytes === 0) return `The ${what} had no body.`;
  if (log.flags?.includes('body_dropped') === true) return 'The body was not kept: the spool was short of space.';
  return `The body of the ${what} was not kept: the setting TOLLGATE_BODIES or the key says so, or it was older than bodies are kept.`;
}

export function NotKept({ log, direction }: { readonly log: LogDetail; readonly direction: 'request' | 'response' }) {
  return <p className="px-4 py-6 text-ink-soft">{reasonFor(log, direction)}</p>;
}
