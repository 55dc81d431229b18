/** Asks for usage in a streamed request by inserting `stream_options.include_usage`; every other byte stays. */
import { scanTopLevel, type TopLevelMember } from '../wire/json-top-level.ts';

export type NotAskedReason =
  | 'not_json'
  | 'not_streamed'
  /** The request says itself whether it wants usage. */
  | 'says_itself'
  /** Members are repeated or mistyped, and providers may read them differently. */
  | 'ambiguous'
  | 'no_room';

export interface AskedBody {
  readonly body: Buffer;
  readonly asked: boolean;
  readonly reason: NotAskedReason | null;
}

const MEMBER = Buffer.from('"stream_options":{"include_usage":true},');
const OBJECT = Buffer.from('{"include_usage":true}');
const INNER_ONLY = Buffer.from('"include_usage":true');
const INNER_FIRST = Buffer.from('"include_usage":true,');

/** `takeRoom` is asked only where the body has to be copied. */
export function askForUsage(body: Buffer, takeRoom: () => boolean = () => true): AskedBody {
  function unchanged(reason: NotAskedReason): AskedBody {
    return { body, asked: false, reason };
  }
  function replaced(from: number, to: number, bytes: Buffer): AskedBody {
    if (!takeRoom()) return unchanged('no_room');
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
