/**
 * What goes upstream as the body: the client's bytes, or, where a stream's usage has to be asked for, the same bytes
 * with that one member added. Also reads the two facts that the log needs from it: model and `stream`.
 */
import type { Readable } from 'node:stream';
import { askForUsage } from '../shapes/ask-usage.ts';
import type { CallFlag } from '../token-usage.ts';
import { isIdentity } from '../wire/content-encoding.ts';
import { scanTopLevel } from '../wire/json-top-level.ts';
import type { AcceptedRequest } from './accept.ts';
import type { ReceivedBody } from './receive-body.ts';
import type { BodyFacts } from './record.ts';

export interface PreparedBody {
  readonly body: Buffer | Readable | null;
  /** True when usage was asked for here and the client's copy must not show it. */
  readonly isAsked: boolean;
  readonly facts: BodyFacts;
  readonly flags: readonly CallFlag[];
}

const NO_FACTS: BodyFacts = { model: null, streamed: null };

export function prepareBody(request: AcceptedRequest, received: ReceivedBody, mayAsk: boolean): PreparedBody {
  switch (received.kind) {
    case 'none':
    case 'client-gone':
      return { body: null, isAsked: false, facts: NO_FACTS, flags: [] };
    case 'streamed':
      // Its facts are read from the copy when the call has ended.
      return { body: received.stream, isAsked: false, facts: NO_FACTS, flags: mayAsk ? ['usage_not_asked'] : [] };
    case 'held': {
      const { bytes } = received;
      if (!isIdentity(request.header('content-encoding') ?? null)) {
        return { body: bytes, isAsked: false, facts: NO_FACTS, flags: mayAsk ? ['usage_not_asked'] : [] };
      }
      const facts = readBodyFacts(bytes);
      if (!mayAsk || facts.streamed !== true) return { body: bytes, isAsked: false, facts, flags: [] };
      const { body, asked } = askForUsage(bytes);
      return { body, isAsked: asked, facts, flags: asked ? ['usage_asked'] : [] };
    }
  }
}

/** `bytes` may be the head of a body only. */
export function readBodyFacts(bytes: Buffer): BodyFacts {
  const { members } = scanTopLevel(bytes, ['model', 'stream']);
  const model = members.get('model')?.scalar;
  const stream = members.get('stream')?.scalar;
  return {
    model: typeof model === 'string' && model !== '' ? model : null,
    streamed: typeof stream === 'boolean' ? stream : null,
  };
}

/** The client's headers with `accept-encoding: identity`, in its place, so that the asked-for stream can be edited. */
export function withoutCompression(headers: readonly string[]): string[] {
  const changed: string[] = [];
  let isFound = false;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? '';
    if (name.toLowerCase() !== 'accept-encoding') changed.push(name, headers[index + 1] ?? '');
    else if (!isFound) {
      isFound = true;
      changed.push(name, 'identity');
    }
  }
  if (!isFound) changed.push('accept-encoding', 'identity');
  return changed;
}
