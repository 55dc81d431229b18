/**
 * One step: the newest calls without usage are given an estimate, or the reason why there is none. Of several nodes
 * that share a database one does it. A call that fails by itself is marked and passed over; only the database's
 * failures are thrown.
 */
import type pg from 'pg';
import { type BillableRow, toStoredCall } from '../prices/stored-call.ts';
import type { BillableCall, PriceCall } from '../pricing/billable-call.ts';
import { decodeBody } from '../runs/decode-body.ts';
import { withConnection } from '../store/pool.ts';
import type { JsonObject } from '../token-usage.ts';
import { formatUsd } from '../usd.ts';
import { ESTIMABLE_ENDPOINTS } from './estimable-endpoints.ts';
import { listWaitingCalls, readCallBodies, type TypedBody, writeEstimate } from './estimate-store.ts';
import { type BodyShare, type Estimate, makeEstimate } from './make-estimate.ts';
import type { MeasuredBody } from './measure-bodies.ts';
import type { Measurer } from './measurer.ts';
import { priceEstimate } from './price-estimate.ts';

/** Any number, the same in every version: who holds it estimates. */
const ESTIMATES_LOCK = 7_461_007;
/** Of one step. */
export const STEP_CALLS = 20;

export interface EstimateOptions {
  /** One connection is enough. */
  readonly pool: pg.Pool;
  readonly priceCall: PriceCall;
  readonly measurer: Measurer;
  /** Older calls have no bodies any more. */
  readonly sinceMs: number;
  /** Ends the step after the call under way, without a word about that one. */
  readonly signal: AbortSignal;
}

/** How many calls were looked at; null when another node does it. */
export function estimateCalls(options: EstimateOptions): Promise<number | null> {
  // The lock belongs to the connection: one that failed is closed and not given back.
  return withConnection(options.pool, (client) => holdLock(client, () => estimateNext(client, options)));
}

async function holdLock(client: pg.ClientBase, work: () => Promise<number>): Promise<number | null> {
  const { rows } = await client.query<{ isOurs: boolean }>('select pg_try_advisory_lock($1) as "isOurs"', [
    ESTIMATES_LOCK,
  ]);
  if (rows[0]?.isOurs !== true) return null;
  const result = await work();
  await client.query('select pg_advisory_unlock($1)', [ESTIMATES_LOCK]);
  return result;
}

async function estimateNext(client: pg.ClientBase, options: EstimateOptions): Promise<number> {
  const calls = await listWaitingCalls(client, options.sinceMs, STEP_CALLS);
  for (const row of calls) {
    if (options.signal.aborted) break;
    const call = toStoredCall(row);
    const { billingModel } = options.priceCall(call);
    const estimate = await estimateCall(client, options.measurer, row, call, billingModel);
    if (options.signal.aborted) break;
    if (estimate.kind === 'unavailable') await writeEstimate(client, row, { unavailable: estimate.reason }, null);
    else await writeMade(client, options, row, call, estimate.estimatedTokens);
  }
  return calls.length;
}

async function writeMade(
  client: pg.ClientBase,
  { priceCall }: EstimateOptions,
  row: BillableRow,
  call: BillableCall,
  estimatedTokens: JsonObject,
): Promise<void> {
  const cost = priceEstimate(call, estimatedTokens, priceCall);
  await writeEstimate(client, row, estimatedTokens, cost === null ? null : formatUsd(cost));
}

interface ReadBody {
  readonly body: MeasuredBody;
  readonly share: BodyShare;
}

async function estimateCall(
  client: pg.ClientBase,
  measurer: Measurer,
  row: BillableRow,
  call: BillableCall,
  model: string | null,
): Promise<Estimate> {
  const endpoint = ESTIMABLE_ENDPOINTS.get(row.endpoint);
  if (endpoint === undefined) return { kind: 'unavailable', reason: 'endpoint' };
  const stored = await readCallBodies(client, row);
  if (stored.request === null && stored.response === null) return { kind: 'unavailable', reason: 'no_body' };
  const request = await readHead(stored.request);
  const response = await readHead(stored.response);
  const measured = await measurer.measure({ request: request?.body ?? null, response: response?.body ?? null });
  if (measured === null) return { kind: 'unavailable', reason: 'failed' };
  return makeEstimate({
    model: model ?? row.model_requested,
    reported: call.usage?.classes ?? {},
    hasAnswer: endpoint.hasAnswer,
    measured,
    request: request?.share ?? null,
    response: response?.share ?? null,
  });
}

/** Decoded. Of a body whose middle was not kept, the head: what follows a gap has no beginning. */
async function readHead(stored: TypedBody | null): Promise<ReadBody | null> {
  if (stored === null) return null;
  const { totalBytes, headBytes, contentType } = stored;
  const isWhole = stored.bytes.length >= totalBytes;
  const bytes = isWhole ? stored.bytes : stored.bytes.subarray(0, headBytes);
  const decoded = await decodeBody({ ...stored, bytes, headBytes: bytes.length, totalBytes: bytes.length });
  if (decoded.kind === 'undecodable') return null;
  return {
    body: { bytes: decoded.bytes, contentType },
    // How much there is beyond the bound nobody knows; that there is more is known.
    share: { seenBytes: bytes.length, totalBytes: Math.max(totalBytes, bytes.length + (decoded.isOverLimit ? 1 : 0)) },
  };
}
