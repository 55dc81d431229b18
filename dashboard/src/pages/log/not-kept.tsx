/** Why a body is not there, in words. */
import type { LogDetail } from '../../api/logs.ts';

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
