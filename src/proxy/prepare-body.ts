/** Step: builds what goes upstream; asks for usage in streams that need it, and for no compression where edited. */
import type { Readable } from 'node:stream';
import { askForUsage } from '../formats/usage/ask-usage.ts';
import { isIdentity } from '../formats/wire/content-encoding.ts';
import type { CallFlag } from '../vocabulary/token-usage.ts';
import type { CallContext, RequestedModel } from './call-context.ts';
import type { Gateway } from './gateway.ts';
import { modelNamesOf, readModelOfBody, UNREAD_MODEL } from './read-requested-model.ts';
import { type ReceivedBody, takeForCopy } from './receive-body.ts';
import { mayComeUnder } from './reserve.ts';

export interface Outbound {
  readonly body: Buffer | Readable | null;
  readonly headers: readonly string[];
  /** The gateway asked for usage, which the client's copy must not show. */
  readonly isAsked: boolean;
  /** Null: read from the copy when the call has ended. */
  readonly requested: RequestedModel | null;
  readonly flags: readonly CallFlag[];
}

type PreparedBody = Omit<Outbound, 'headers'>;

const NO_FLAGS: readonly CallFlag[] = Object.freeze([]);
const NOT_ASKED: readonly CallFlag[] = Object.freeze(['usage_not_asked']);
const ASKED: readonly CallFlag[] = Object.freeze(['usage_asked']);

export function prepareBody(
  call: CallContext,
  received: ReceivedBody,
  gateway: Pick<Gateway, 'budgets' | 'heldBodies'>,
): Outbound {
  const { budgets } = gateway;
  const { forwarded } = call.headers;
  const { addresses, endpoint } = call.route;
  const { body, isAsked, requested, flags } = prepare(
    call,
    received,
    budgets !== null && mayComeUnder(budgets, call),
    gateway,
  );
  const isEdited = isAsked || (addresses !== null && endpoint.namesResults === true);
  return { body, headers: isEdited ? withoutCompression(forwarded) : forwarded, isAsked, requested, flags };
}

function prepare(
  { key, request, route, mayAskForUsage }: CallContext,
  received: ReceivedBody,
  isForBudgets: boolean,
  gateway: Pick<Gateway, 'heldBodies'>,
): PreparedBody {
  if (received.kind === 'none' || received.kind === 'client-gone')
    return { body: null, isAsked: false, requested: UNREAD_MODEL, flags: NO_FLAGS };
  const isReadable = received.kind === 'held' && isIdentity(request.header('content-encoding') ?? null);
  if (!isReadable) {
    const body = received.kind === 'held' ? received.bytes : received.stream;
    return { body, isAsked: false, requested: null, flags: mayAskForUsage ? NOT_ASKED : NO_FLAGS };
  }
  const { bytes } = received;
  const contentType = request.header('content-type') ?? null;
  const requested = readModelOfBody(contentType, bytes, bytes.length, {
    modelNames: modelNamesOf(route.endpoint),
    runsFrom: key.runsFrom,
    keepsScan: isForBudgets,
  });
  if (!mayAskForUsage || requested.streamed !== true)
    return { body: bytes, isAsked: false, requested, flags: NO_FLAGS };
  const { body, asked, reason } = askForUsage(bytes, () => takeForCopy(received, gateway));
  if (asked) return { body, isAsked: true, requested, flags: ASKED };
  return { body, isAsked: false, requested, flags: reason === 'no_room' ? NOT_ASKED : NO_FLAGS };
}

/** Replaces `accept-encoding` by `identity` in its place, so that the answer can be edited. */
function withoutCompression(headers: readonly string[]): string[] {
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
