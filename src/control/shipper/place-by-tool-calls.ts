/**
 * Puts calls of agents that name no session into the run of their conversation's first tool call, before their rows are made.
 * Each call tells by itself which run it is in, so that order, process and node do not matter.
 */
import { setImmediate } from 'node:timers/promises';
import { readFirstToolCall } from '../../formats/texts/first-tool-call.ts';
import type { PositionedEntry } from '../../spool/spool-reader.ts';
import type { CallBody, SpoolEntry } from '../../vocabulary/call-record.ts';
import { TOOL_CALL_SOURCE } from '../../vocabulary/run-sources.ts';
import { MAX_READ_BYTES, readPlainBody } from '../texts/plain-body.ts';

/** So that it never meets another program's id. */
const PREFIX = 'tool_call:';

/** Never rejects: a call whose bodies make the reader fail is in no run. */
export async function placeByToolCalls(entries: readonly PositionedEntry[]): Promise<readonly PositionedEntry[]> {
  if (!entries.some(({ entry }) => isToPlace(entry))) return entries;
  const bodies = new Map<string, CallBody>();
  const placed: PositionedEntry[] = [];
  for (const positioned of entries) {
    const { entry } = positioned;
    if (entry.type === 'body') bodies.set(`${entry.body.direction} ${entry.body.id}`, entry.body);
    if (!isToPlace(entry)) placed.push(positioned);
    else {
      placed.push({ ...positioned, entry: await place(entry, bodies) });
      // Lets the process serve its API.
      await setImmediate();
    }
  }
  return placed;
}

type EndEntry = Extract<SpoolEntry, { readonly type: 'end' }>;

function isToPlace(entry: SpoolEntry): entry is EndEntry {
  return entry.type === 'end' && entry.begin.isPlacedByToolCalls === true;
}

async function place(entry: EndEntry, bodies: ReadonlyMap<string, CallBody>): Promise<EndEntry> {
  const { id } = entry.begin;
  const call = await readCall(bodies.get(`request ${id}`), bodies.get(`response ${id}`)).catch(() => null);
  if (call === null) return entry;
  return { ...entry, begin: { ...entry.begin, traceId: PREFIX + call, traceSource: TOOL_CALL_SOURCE } };
}

async function readCall(request: CallBody | undefined, response: CallBody | undefined): Promise<string | null> {
  const asked = request === undefined ? null : await readPlainBody(request);
  if (request === undefined || asked === null) return null;
  // The first call may stand in what was not kept, and then the answer's is not the first.
  const isWhole = request.bytes.length === request.totalBytes && asked.head.length < MAX_READ_BYTES;
  return readFirstToolCall(asked, isWhole && response !== undefined ? await readPlainBody(response) : null);
}
