/**
 * Asks for usage in a streamed chat or completions request, by inserting `stream_options.include_usage` into the
 * body's bytes. Every other byte stays; whatever is not plainly such a request is left alone.
 */
import { scanTopLevel, type TopLevelMember } from '../wire/json-top-level.ts';

/** Why a body was left as it was. */
export type NotAskedReason =
  /** It is not a JSON object, or not a well-formed one. */
  | 'not_json'
  | 'not_streamed'
  /** It says itself whether usage is wanted. */
  | 'says_itself'
  /** Repeated or mistyped members: nobody can say how the provider reads them. */
  | 'ambiguous';

export interface AskedBody {
  readonly body: Buffer;
  readonly asked: boolean;
  /** Null when it was asked. */
  readonly reason: NotAskedReason | null;
}

const MEMBER = Buffer.from('"stream_options":{"include_usage":true},');
const OBJECT = Buffer.from('{"include_usage":true}');
const INNER_ONLY = Buffer.from('"include_usage":true');
const INNER_FIRST = Buffer.from('"include_usage":true,');

export function askForUsage(body: Buffer): AskedBody {
  function unchanged(reason: NotAskedReason): AskedBody {
    return { body, asked: false, reason };
  }
  function replaced(from: number, to: number, bytes: Buffer): AskedBody {
    return { body: Buffer.concat([body.subarray(0, from), bytes, body.subarray(to)]), asked: true, reason: null };
  }

  const scan = scanTopLevel(body, ['stream', 'stream_options']);
  if (scan.state !== 'complete') return unchanged('not_json');
  if (scan.duplicates.length > 0) return unchanged('ambiguous');
  if (scan.members.get('stream')?.scalar !== true) return unchanged('not_streamed');
  const options = scan.members.get('stream_options');
  if (options === undefined) return replaced(scan.openBrace + 1, scan.openBrace + 1, MEMBER);
  if (options.valueEnd === null) return unchanged('not_json');
  if (options.scalar === null) return replaced(options.valueStart, options.valueEnd, OBJECT);
  return askInOptions(body, options.valueStart, options.valueEnd);

  function askInOptions(whole: Buffer, start: number, end: number): AskedBody {
    const inner = scanTopLevel(whole.subarray(start, end), ['include_usage']);
    if (inner.state !== 'complete') return unchanged('ambiguous');
    const said: TopLevelMember | undefined = inner.members.get('include_usage');
    if (said !== undefined) return unchanged(typeof said.scalar === 'boolean' ? 'says_itself' : 'ambiguous');
    const at = start + inner.openBrace + 1;
    return replaced(at, at, inner.memberCount === 0 ? INNER_ONLY : INNER_FIRST);
  }
}
