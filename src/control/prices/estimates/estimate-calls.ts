/** Estimates the newest calls without usage, on one node at a time. Only database failures are thrown. */
import type pg from 'pg';
import type { BillableCall, PriceCall, PriceCallOf } from '../../../pricing/billable-call.ts';
import { EMBEDDING_ENDPOINTS, TEXT_ENDPOINTS } from '../../../pricing/text-endpoints.ts';
import { formatUsd } from '../../../vocabulary/usd.ts';
import { decodeBody } from '../../log/decode-body.ts';
import { withConnection } from '../../store/pool.ts';
import { type BillableRow, billableFromRow } from '../declared/billable-from-row.ts';
import { listWaitingCalls, readCallBodies, type TypedBody, writeEstimate } from './estimate-store.ts';
import { type BodyShare, type Estimate, makeEstimate } from './make-estimate.ts';
import type { MeasuredBody } from './measure-bodies.ts';
import type { Measurer } from './measurer.ts';
import { priceEstimate } from './price-estimate.ts';

/** An advisory lock, the same in every version. */
const ESTIMATES_LOCK = 7_461_007;
export const STEP_CALLS = 20;

export interface EstimateOptions {
  readonly pool: pg.Pool;
  readonly priceCall: PriceCallOf;
  readonly measurer: Measurer;
  readonly sinceMs: number;
  /** Ends the step after the current call, without marking it. */
  readonly signal: AbortSignal;
}

/** The number of calls handled; null when another node is working. */
export function estimateCalls(options: EstimateOptions): Promise<number | null> {
  // The lock belongs to the connection, so a failed one is closed.
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
    const call = billableFromRow(row);
    const priceCall: PriceCall = (asked) => options.priceCall(asked, row.account_id);
    const { billingModel } = priceCall(call);
    const estimate = await estimateCall(client, options.measurer, row, call, billingModel);
    if (options.signal.aborted) break;
    if (estimate.kind === 'unavailable') {
      await writeEstimate(client, row, { unavailable: estimate.reason }, null);
      continue;
    }
    const cost = priceEstimate(call, estimate.estimatedTokens, priceCall);
    await writeEstimate(client, row, estimate.estimatedTokens, cost === null ? null : formatUsd(cost));
  }
  return calls.length;
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
  const hasAnswer = TEXT_ENDPOINTS.includes(row.endpoint);
  if (!hasAnswer && !EMBEDDING_ENDPOINTS.includes(row.endpoint)) return { kind: 'unavailable', reason: 'endpoint' };
  const stored = await readCallBodies(client, row);
  if (stored.request === null && stored.response === null) return { kind: 'unavailable', reason: 'no_body' };
  const request = await readHead(stored.request);
  const response = await readHead(stored.response);
  const measured = await measurer.measure({ request: request?.body ?? null, response: response?.body ?? null });
  if (measured === null) return { kind: 'unavailable', reason: 'failed' };
  return makeEstimate({
    model: model ?? row.model_requested,
    reported: call.usage?.classes ?? {},
    hasAnswer,
    measured,
    request: request?.share ?? null,
    response: response?.share ?? null,
  });
}

/** Decodes the body; without its middle, only the head, since what follows a gap has no beginning. */
async function readHead(stored: TypedBody | null): Promise<ReadBody | null> {
  if (stored === null) return null;
  const { totalBytes, headBytes, contentType } = stored;
  const isWhole = stored.bytes.length >= totalBytes;
  const bytes = isWhole ? stored.bytes : stored.bytes.subarray(0, headBytes);
  const decoded = await decodeBody({ ...stored, bytes, headBytes: bytes.length, totalBytes: bytes.length });
  if (decoded.kind === 'undecodable') return null;
  return {
    body: { bytes: decoded.bytes, contentType },
    share: { seenBytes: bytes.length, totalBytes: Math.max(totalBytes, bytes.length + (decoded.isOverLimit ? 1 : 0)) },
  };
}
