/** The public account of all calls: how many were accepted, and what became of them. */
import { z } from '@hono/zod-openapi';
import type { LedgerSnapshot } from './admin-deps.ts';
import { Time } from './schemas.ts';

const Calls = z.number().int();

const SUMS = {
  accepted: Calls.describe('Calls that have a record to be kept: key and route were known'),
  stored: Calls.describe('Their row is in the log'),
  spooled: Calls.describe('Their ending lies in the spool and is not stored yet'),
  in_flight: Calls.describe('They have not ended'),
  set_aside: Calls.describe('The database refused their record in every form: see GET /api/v1/quarantine'),
  lost: Calls.describe('Their ending could not be kept, or is nowhere to be found'),
};

const LossBody = z.object({
  minute: Time.describe('In which they began'),
  account_id: z.number().int().nullable(),
  key_id: z.number().int().nullable(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  calls: Calls,
  usage: z.record(z.string(), Calls).describe('Tokens by class, of those that reported any'),
});

export const AccountsBody = z
  .object({
    ...SUMS,
    missing: Calls.describe('Of those that were lost: their process did not count them as lost'),
    difference: Calls.describe('Calls that have ended and are not found: 0, unless something is wrong'),
    ended: Calls.describe('Calls that have ended, as the processes said last, up to a second ago'),
    found: Calls.describe('Endings that were found, stored, waiting or set aside'),
    is_whole: z.boolean().describe('False: the spool is so full that not all of it was counted'),
    oldest_waiting_at: Time.nullable().describe('When the oldest call in the spool that is not stored began'),
    outcomes: z.record(z.string(), Calls).describe('Stored calls by how they ended'),
    processes: z
      .array(z.object({ name: z.string(), is_live: z.boolean(), ...SUMS }))
      .describe('Those whose files in the spool are still there'),
    unaccounted: z
      .array(z.object({ name: z.string(), reason: z.string() }))
      .describe('Process directories that cannot be counted: written by an older release, or their count is lost'),
    unaccounted_total: Calls,
    losses: z.array(LossBody).describe('The latest first; null stands for several, or for what is not known any more'),
  })
  .openapi('Accounts');
export type AccountsBody = z.infer<typeof AccountsBody>;

export function formatAccounts(reading: LedgerSnapshot): AccountsBody {
  return {
    ...formatSums(reading),
    missing: reading.missing,
    difference: reading.difference,
    ended: reading.ended,
    found: reading.found,
    is_whole: reading.isWhole,
    oldest_waiting_at: reading.oldestWaitingMs === null ? null : new Date(reading.oldestWaitingMs).toISOString(),
    outcomes: { ...reading.outcomes },
    processes: reading.processes.map((one) => ({ name: one.name, is_live: one.isLive, ...formatSums(one) })),
    unaccounted: reading.unaccounted.map((one) => ({ ...one })),
    unaccounted_total: reading.unaccountedTotal,
    losses: reading.losses.map(({ minuteMs, accountId, keyId, provider, model, calls, usage }) => ({
      minute: new Date(minuteMs).toISOString(),
      account_id: accountId,
      key_id: keyId,
      provider,
      model,
      calls,
      usage: { ...usage },
    })),
  };
}

function formatSums({
  accepted,
  stored,
  spooled,
  inFlight,
  setAside,
  lost,
}: LedgerSnapshot['processes'][number] | LedgerSnapshot) {
  return { accepted, stored, spooled, in_flight: inFlight, set_aside: setAside, lost };
}
