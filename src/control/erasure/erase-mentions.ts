/**
 * Takes a run's id or a user's name out of what is kept beside the calls: sums of budgets by that value, what alerts have told,
 * the words of pauses, share links of a view by it, and run tokens that have ended.
 */
import type pg from 'pg';
import { countedValue } from '../../budgets/claims.ts';
import { BUDGET_SUBJECT, budgetSubject } from '../store/budget-subject.ts';
import { raiseKeyVersion } from '../store/key-version.ts';
import { ERASED, pseudonymOf } from '../store/pseudonym.ts';
import type { Erasure } from './erasure-store.ts';

/**
 * The sum stays, under the pseudonym. A trace id stays in the list of runs, and so it does here. Compared by hash, since of an
 * erasure that has ended no more is known; `countedValue` writes the hash of a long value behind its beginning.
 */
const RENAME_SPEND = `
  with renamed as (
    delete from budget_spend s using erasures e, budgets b
    where e.account_id = $1 and e.id = $2 and e.kind = 'metadata' and b.account_id = s.account_id and b.id = s.budget_id
      and b.scope = 'metadata' and lower(b.metadata_key) = e.key and s.account_id = e.account_id
      and (sha256(convert_to(s.value, 'UTF8')) = e.target_hash
        or s.value like '%… (SHA-256 ' || encode(e.target_hash, 'hex') || ')')
    returning s.*, ${pseudonymOf('s.value')} as pseudonym
  )
  insert into budget_spend as b (account_id, budget_id, value, period_start, node, spent, calls, run_limit, updated_at)
  select account_id, budget_id, pseudonym, period_start, node, spent, calls, run_limit, updated_at from renamed
  on conflict (account_id, budget_id, value, period_start, node) do update
    set spent = b.spent + excluded.spent, calls = b.calls + excluded.calls,
      updated_at = greatest(b.updated_at, excluded.updated_at)`;

/** Leases are money that nodes hold: those of a period under way stay until it is over. */
export async function eraseSpend(client: pg.ClientBase, accountId: number, erasureId: number): Promise<void> {
  await client.query(RENAME_SPEND, [accountId, erasureId]);
}

/** A regular expression of PostgreSQL that finds the text where it stands as a word of its own, not within another one. */
function wordPattern(text: string): string {
  return `(^|\\W)${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(\\W|$)`;
}

/** The text as it stands in JSON that PostgreSQL writes. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

const patternsOf = (target: string) => [wordPattern(target), wordPattern(inJson(target))];

/** Null but for a budget by a value in which the text stands, as whose pseudonym it goes on being known as told. */
const RENAMED_SUBJECT = `(
  select ${budgetSubject({ budgetId: 'part[1]', value: pseudonymOf('part[2]'), period: 'part[3]', percent: 'part[4]' })}
  from regexp_match(e.subject, ${BUDGET_SUBJECT}) as part where part[2] ~ $2)`;

/**
 * That an event is there, open, is how it is known that it was told, so it stays and only its words go. All other subjects have
 * numbers, and names of models, which calls keep. A look that ran meanwhile may have told the same of the pseudonym.
 */
const ERASE_EVENTS = `
  with found as (
    select id, alert_id, ${RENAMED_SUBJECT} as renamed from alert_events e
    where account_id = $1 and (subject ~ $2 or title ~ $2 or body ~ $2 or numbers::text ~ $3) for update
  )
  update alert_events e set title = '${ERASED}', body = '', numbers = '{}', subject = coalesce(renamed, subject),
    ended_at = case when exists (
      select from alert_events o where o.account_id = $1 and o.alert_id = e.alert_id and o.subject = renamed
        and o.ended_at is null) then coalesce(ended_at, now()) else ended_at end
  from found where e.account_id = $1 and e.id = found.id
  returning e.id`;

async function eraseEvents(client: pg.ClientBase, accountId: number, target: string): Promise<void> {
  const { rows } = await client.query<{ id: string }>(ERASE_EVENTS, [accountId, ...patternsOf(target)]);
  await client.query(
    "delete from alert_deliveries where account_id = $1 and event_id = any($2::uuid[]) and state = 'waiting'",
    [accountId, rows.map(({ id }) => id)],
  );
}

async function eraseHits(client: pg.ClientBase, accountId: number, target: string): Promise<void> {
  await client.query(
    `update brake_hits set reason = '${ERASED}', numbers = '{}'
     where account_id = $1 and (reason ~ $2 or numbers::text ~ $3)`,
    [accountId, ...patternsOf(target)],
  );
}

/** Of a program that still runs they stay until it ends. */
async function eraseRunTokens(client: pg.ClientBase, accountId: number, target: string): Promise<void> {
  const { rowCount } = await client.query(
    `update run_tokens set name = null, span_path = null, metadata = '[]'
     where account_id = $1 and (revoked_at is not null or expires_at < now())
       and (metadata::text ~ $3 or span_path ~ $2 or name ~ $2)`,
    [accountId, ...patternsOf(target)],
  );
  if (rowCount !== 0) await raiseKeyVersion(client);
}

/** A link to a view by the value would show nothing any more. */
async function eraseLinks(client: pg.ClientBase, accountId: number, target: string): Promise<void> {
  const { rows } = await client.query<{ id: number; parameters: string }>(
    "select id, parameters from share_links where account_id = $1 and parameters <> '' for update",
    [accountId],
  );
  const found = rows.filter(({ parameters }) => hasValue(parameters, target));
  await client.query(
    `update share_links set name = '${ERASED}', parameters = '', revoked_at = coalesce(revoked_at, now())
     where account_id = $1 and (id = any($2::int4[]) or name ~ $3)`,
    [accountId, found.map(({ id }) => id), wordPattern(target)],
  );
}

/** Whether it is a run's id, a search, or one of the values of a filter. */
function hasValue(parameters: string, target: string): boolean {
  return [...new URLSearchParams(parameters).values()].some(
    (text) => text === target || text.split(/[:,]/).map(readPart).includes(target),
  );
}

/** Filters write the signs that separate their parts as escapes. */
function readPart(text: string): string {
  return text.replace(/%(?:25|2C|3A)/gi, decodeURIComponent);
}

/** Of a run its trace id stays, as the erasure's page says. */
export async function eraseMentions(
  client: pg.ClientBase,
  accountId: number,
  { id, kind }: Erasure,
  target: string,
): Promise<void> {
  await eraseSpend(client, accountId, id);
  await eraseLinks(client, accountId, target);
  if (kind === 'run') return;
  for (const text of new Set([target, countedValue(target)])) await eraseEvents(client, accountId, text);
  await eraseHits(client, accountId, target);
  await eraseRunTokens(client, accountId, target);
}
