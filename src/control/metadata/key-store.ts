/** The table of promoted keys, and requests to promote or demote a key. A job does the work. */
import type pg from 'pg';
import { cancelJob, insertJob, lockActiveJob, resumeJob } from '../jobs/job-store.ts';
import { inTransaction } from '../store/pool.ts';

export const PROMOTE_KIND = 'promote_metadata';
export const DEMOTE_KIND = 'demote_metadata';

/** A valid header name whose facet fits into an index. */
const METADATA_KEY = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;

export function isMetadataKey(text: string): boolean {
  return METADATA_KEY.test(text);
}

export type PromotionState = 'promoting' | 'promoted' | 'demoting';

export interface MetadataKeyRow {
  readonly keyLower: string;
  readonly displayKey: string;
  readonly state: PromotionState;
  readonly promotedAt: Date | null;
  readonly jobId: number | null;
}

export type KeyChange =
  | { readonly type: 'accepted'; readonly jobId: number }
  | { readonly type: 'refused'; readonly reason: 'already_promoted' | 'not_promoted' | 'other_spelling' | 'busy' };

const COLUMNS = `key_lower as "keyLower", display_key as "displayKey", state, promoted_at as "promotedAt", job_id as "jobId"`;

export async function readMetadataKey(
  client: pg.ClientBase,
  accountId: number,
  keyLower: string,
): Promise<MetadataKeyRow | null> {
  const { rows } = await client.query<MetadataKeyRow>(
    `select ${COLUMNS} from metadata_keys where account_id = $1 and key_lower = $2`,
    [accountId, keyLower],
  );
  return rows[0] ?? null;
}

/**
 * New calls get the key from now on, older ones by the job. A stopped promotion continues; an active one is returned;
 * an active demotion is cancelled.
 */
export function requestPromotion(
  pool: pg.Pool,
  accountId: number,
  key: string,
  wantedDisplayKey: string | null,
): Promise<KeyChange> {
  return changeKey(pool, accountId, key.toLowerCase(), async (client, found, active) => {
    const displayKey = wantedDisplayKey ?? found?.displayKey ?? key;
    if (found !== null && found.displayKey !== displayKey) return { type: 'refused', reason: 'other_spelling' };
    if (found?.state === 'promoted') return { type: 'refused', reason: 'already_promoted' };
    if (found?.state === 'promoting') {
      const jobId = active?.id ?? (await resumed(client, accountId, found));
      if (jobId !== null) return { type: 'accepted', jobId };
    }
    if (active !== null) await cancelJob(client, accountId, active.id);
    const keyLower = key.toLowerCase();
    const jobId = await insertJob(client, {
      accountId,
      kind: PROMOTE_KIND,
      subject: subjectOf(keyLower),
      title: `Promote ${displayKey}`,
      unit: 'calls',
      input: { key: keyLower },
    });
    await client.query(
      `insert into metadata_keys (account_id, key_lower, display_key, state, job_id) values ($1, $2, $3, 'promoting', $4)
       on conflict (account_id, key_lower) do update set state = 'promoting', promoted_at = null, job_id = excluded.job_id`,
      [accountId, keyLower, displayKey, jobId],
    );
    return { type: 'accepted', jobId };
  });
}

/** Questions read the raw metadata from now on; the job removes the key from the calls. */
export function requestDemotion(pool: pg.Pool, accountId: number, key: string): Promise<KeyChange> {
  return changeKey(pool, accountId, key.toLowerCase(), async (client, found, active) => {
    if (found === null) return { type: 'refused', reason: 'not_promoted' };
    if (found.state === 'demoting') {
      const jobId = active?.id ?? (await resumed(client, accountId, found));
      if (jobId !== null) return { type: 'accepted', jobId };
    }
    if (active !== null) return { type: 'refused', reason: 'busy' };
    const jobId = await insertJob(client, {
      accountId,
      kind: DEMOTE_KIND,
      subject: subjectOf(found.keyLower),
      title: `Demote ${found.displayKey}`,
      unit: 'calls',
      input: { key: found.keyLower, was_promoted: found.state === 'promoted' },
    });
    await client.query(
      `update metadata_keys set state = 'demoting', promoted_at = null, job_id = $3 where account_id = $1 and key_lower = $2`,
      [accountId, found.keyLower, jobId],
    );
    return { type: 'accepted', jobId };
  });
}

function subjectOf(keyLower: string): string {
  return `metadata:${keyLower}`;
}

type ActiveJob = Awaited<ReturnType<typeof lockActiveJob>>;

/** Serialises changes of a key and keeps its job from running meanwhile. */
function changeKey(
  pool: pg.Pool,
  accountId: number,
  keyLower: string,
  work: (client: pg.ClientBase, found: MetadataKeyRow | null, active: ActiveJob) => Promise<KeyChange>,
): Promise<KeyChange> {
  return inTransaction(pool, async (client) => {
    const subject = subjectOf(keyLower);
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, $2))', [subject, accountId]);
    const active = await lockActiveJob(client, accountId, subject);
    return work(client, await readMetadataKey(client, accountId, keyLower), active);
  });
}

/** Returns null when a new job is needed. */
async function resumed(client: pg.ClientBase, accountId: number, { jobId }: MetadataKeyRow): Promise<number | null> {
  if (jobId === null) return null;
  return (await resumeJob(client, accountId, jobId)) === 'resumed' ? jobId : null;
}
