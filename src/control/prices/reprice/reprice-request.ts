/** Validates a request to re-price calls and creates its job. */
import pg from 'pg';
import { z } from 'zod';
import { insertJob, type NewJob } from '../../jobs/job-store.ts';
import { inTransaction } from '../../store/pool.ts';

export const REPRICE_KIND = 'reprice';

/** `unpriced`: without a total cost (`unpriced` and `partial`). `all`: every call whose cost depends on prices. */
export const REPRICE_SCOPES = ['unpriced', 'all'] as const;

/** A job's stored input, read again with each chunk. */
export const RepriceInput = z.object({
  /** Inclusive, in RFC 3339; null: no start. */
  from: z.string().nullable(),
  /** Exclusive; null: until now. */
  to: z.string().nullable(),
  filters: z.array(z.string()),
  /** Served, else requested; null: any. */
  model: z.string().nullable(),
  only: z.enum(REPRICE_SCOPES),
  reason: z.string(),
  /** The actor, as in the history of prices; null: the gateway, after an update. */
  asked_by: z.string().nullable(),
  dry_run: z.boolean(),
});
export type RepriceInput = Readonly<z.infer<typeof RepriceInput>>;

export type RepriceRequest = { readonly type: 'accepted'; readonly jobId: number } | { readonly type: 'busy' };

/** Dry runs may run beside others, and a correction must not wait for an update. */
function subjectOf(input: RepriceInput, isAutomatic: boolean): string {
  if (input.dry_run) return 'reprice:dry_run';
  return isAutomatic ? 'reprice:update' : 'reprice';
}

function titleOf({ only, dry_run: isDryRun }: RepriceInput): string {
  const what = `${only === 'all' ? 'all' : 'unpriced'} calls again`;
  return isDryRun ? `Dry run of pricing ${what}` : `Price ${what}`;
}

export function createRepriceJob(accountId: number, input: RepriceInput, isAutomatic: boolean): NewJob {
  return {
    accountId,
    kind: REPRICE_KIND,
    subject: subjectOf(input, isAutomatic),
    title: titleOf(input),
    // Filtered calls are read too.
    unit: 'calls read',
    input: { ...input, filters: [...input.filters] },
  };
}

const UNIQUE_VIOLATION = '23505';

/** An index of `jobs` allows one job of a subject at a time. */
export function isBusy(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION;
}

export async function requestRepricing(pool: pg.Pool, accountId: number, input: RepriceInput): Promise<RepriceRequest> {
  try {
    return {
      type: 'accepted',
      jobId: await inTransaction(pool, (client) => insertJob(client, createRepriceJob(accountId, input, false))),
    };
  } catch (error) {
    if (isBusy(error)) return { type: 'busy' };
    throw error;
  }
}
