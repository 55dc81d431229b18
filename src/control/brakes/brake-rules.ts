/** The rules of the brakes as they come, and what accounts have changed of them. */
import type pg from 'pg';
import { z } from 'zod';
import { noteChange } from '../audit/note-change.ts';
import { inTransaction } from '../store/pool.ts';
import type { BrakeScope } from './brake-hits.ts';
import { MAX_LATEST, MAX_TIMES } from './subject-history.ts';

export const ACTIONS = ['off', 'alarm', 'pause'] as const;
export type BrakeAction = (typeof ACTIONS)[number];

export const RULES = [
  'spend_speed',
  'call_rate',
  'same_prefix',
  'same_tool_call',
  'cache_collapse',
  'retries',
  'unpriced',
] as const;
export type BrakeRule = (typeof RULES)[number];

export type Settings = Readonly<Record<string, number>>;

interface Threshold {
  readonly usual: number;
  readonly least: number;
  readonly most: number;
  readonly about: string;
}

interface RuleDefinition {
  readonly about: string;
  /** What each scope does where nothing is said. */
  readonly actions: Readonly<Record<BrakeScope, BrakeAction>>;
  readonly settings: Readonly<Record<string, Threshold>>;
}

const window = (usual: number): Threshold => ({
  usual,
  least: 10,
  most: 3_600,
  about: 'seconds that are looked at together',
});
const count = (usual: number, most: number, about: string): Threshold => ({ usual, least: 2, most, about });
/** No more are remembered, so a greater threshold would never be reached. */
const repeats = (usual: number, about: string): Threshold =>
  count(usual, MAX_TIMES, `${about}, of which the latest ${MAX_TIMES} are remembered`);

/** All others are counts and seconds. */
const MAY_BE_BROKEN: ReadonlySet<string> = new Set(['factor', 'least_usd', 'before_percent', 'after_percent']);

/** Alarms only: nobody's calls are refused by a rule that nobody has chosen. */
export const BRAKE_RULES: Readonly<Record<BrakeRule, RuleDefinition>> = {
  spend_speed: {
    about: 'it spends much faster than it did before',
    actions: { run: 'alarm', key: 'alarm' },
    settings: {
      window_seconds: window(300),
      factor: { usual: 10, least: 2, most: 10_000, about: 'times the speed of before' },
      least_usd: {
        usual: 5,
        least: 0,
        most: 1_000_000,
        about: 'dollars within the window, below which nothing is said',
      },
    },
  },
  call_rate: {
    about: 'it makes too many calls within a minute',
    actions: { run: 'alarm', key: 'off' },
    settings: { calls: { usual: 600, least: 1, most: 1_000_000, about: 'calls within a minute' } },
  },
  same_prefix: {
    about: 'it sends the same conversation again and again',
    actions: { run: 'alarm', key: 'off' },
    settings: { times: repeats(20, 'times the same'), window_seconds: window(600) },
  },
  same_tool_call: {
    about: 'its model calls the same tool with the same arguments again and again',
    actions: { run: 'alarm', key: 'off' },
    settings: { times: repeats(15, 'times the same'), window_seconds: window(600) },
  },
  cache_collapse: {
    about: 'its prompts grow and are hardly read from the cache any more',
    actions: { run: 'alarm', key: 'off' },
    settings: {
      calls: count(8, MAX_LATEST, `calls in a row, of which the latest ${MAX_LATEST} are remembered`),
      before_percent: {
        usual: 50,
        least: 1,
        most: 100,
        about: 'percent of the tokens read from the cache before, at least',
      },
      after_percent: { usual: 10, least: 0, most: 99, about: 'percent since, at most' },
      least_tokens: {
        usual: 4_000,
        least: 0,
        most: 10_000_000,
        about: 'tokens of a prompt, below which it does not count',
      },
    },
  },
  retries: {
    about: 'it tries the same request again and again, and it fails',
    actions: { run: 'alarm', key: 'off' },
    settings: { times: repeats(12, 'failures of the same request'), window_seconds: window(600) },
  },
  unpriced: {
    about: 'it makes many calls whose cost is not known',
    actions: { run: 'alarm', key: 'off' },
    settings: { calls: count(200, 10_000, 'calls without a price'), window_seconds: window(3_600) },
  },
};

export interface EffectiveRule {
  readonly rule: BrakeRule;
  readonly scope: BrakeScope;
  readonly action: BrakeAction;
  readonly settings: Settings;
  readonly changedAt: Date | null;
  readonly changedBy: string | null;
}

interface RuleRow {
  readonly accountId: number;
  readonly rule: string;
  readonly scope: BrakeScope;
  readonly action: BrakeAction;
  readonly settings: unknown;
  readonly changedAt: Date;
  readonly changedBy: string;
}

const SCOPES: readonly BrakeScope[] = ['run', 'key'];
const Stored = z.record(z.string(), z.number());

function complete(rule: BrakeRule, stored: unknown): Settings {
  const own = Stored.safeParse(stored).data ?? {};
  return Object.fromEntries(
    Object.entries(BRAKE_RULES[rule].settings).map(([name, { usual, least, most }]) => {
      const value = Math.min(most, Math.max(least, own[name] ?? usual));
      return [name, MAY_BE_BROKEN.has(name) ? value : Math.ceil(value)];
    }),
  );
}

function merge(rows: readonly RuleRow[]): readonly EffectiveRule[] {
  return RULES.flatMap((rule) =>
    SCOPES.map((scope) => {
      const row = rows.find((one) => one.rule === rule && one.scope === scope);
      return {
        rule,
        scope,
        action: row?.action ?? BRAKE_RULES[rule].actions[scope],
        settings: complete(rule, row?.settings),
        changedAt: row?.changedAt ?? null,
        changedBy: row?.changedBy ?? null,
      };
    }),
  );
}

export const USUAL_RULES = merge([]);

const COLUMNS = `account_id as "accountId", rule, scope, action, settings, changed_at as "changedAt", changed_by as "changedBy"`;

export async function listRules(pool: pg.Pool, accountId: number): Promise<readonly EffectiveRule[]> {
  const { rows } = await pool.query<RuleRow>(`select ${COLUMNS} from brake_rules where account_id = $1`, [accountId]);
  return merge(rows);
}

/** Of the accounts that have changed any; `USUAL_RULES` hold for the others. */
export async function readAllRules(pool: pg.Pool): Promise<ReadonlyMap<number, readonly EffectiveRule[]>> {
  const { rows } = await pool.query<RuleRow>(`select ${COLUMNS} from brake_rules`);
  const byAccount = Map.groupBy(rows, ({ accountId }) => accountId);
  return new Map([...byAccount].map(([accountId, own]) => [accountId, merge(own)]));
}

export interface RuleChange {
  readonly action?: BrakeAction | undefined;
  /** What is left out stays. */
  readonly settings?: Settings | undefined;
}

/** A sentence about the first setting that the rule does not have or that is out of bounds; null when all are well. */
export function findBadSetting(rule: BrakeRule, settings: Settings): string | null {
  for (const [name, value] of Object.entries(settings)) {
    const known = BRAKE_RULES[rule].settings;
    const threshold = Object.hasOwn(known, name) ? known[name] : undefined;
    if (threshold === undefined)
      return `The rule ${rule} has no setting of this name; it has ${Object.keys(known).join(', ')}.`;
    if (value < threshold.least || value > threshold.most)
      return `${name} is from ${threshold.least} to ${threshold.most}: ${threshold.about}.`;
    if (!MAY_BE_BROKEN.has(name) && !Number.isInteger(value)) return `${name} is a whole number: ${threshold.about}.`;
  }
  return null;
}

export function changeRule(
  pool: pg.Pool,
  accountId: number,
  { rule, scope }: { readonly rule: BrakeRule; readonly scope: BrakeScope },
  change: RuleChange,
  changedBy: string,
): Promise<void> {
  return inTransaction(pool, async (client) => {
    const before = await readState(client, accountId, rule, scope);
    await client.query(
      `insert into brake_rules as r (account_id, rule, scope, action, settings, changed_by)
       values ($1, $2, $3, coalesce($4, $5), $6, $7)
       on conflict (account_id, rule, scope) do update set action = coalesce($4, r.action),
         settings = r.settings || excluded.settings, changed_at = now(), changed_by = excluded.changed_by`,
      [
        accountId,
        rule,
        scope,
        change.action ?? null,
        BRAKE_RULES[rule].actions[scope],
        JSON.stringify(change.settings ?? {}),
        changedBy,
      ],
    );
    const after = await readState(client, accountId, rule, scope);
    const subject = { kind: 'brake_rule', id: `${rule} ${scope}` };
    await noteChange(client, { accountId, action: 'brake.rule', subject, before, after });
  });
}

async function readState(
  client: pg.ClientBase,
  accountId: number,
  rule: BrakeRule,
  scope: BrakeScope,
): Promise<object> {
  const { rows } = await client.query<RuleRow>(`select ${COLUMNS} from brake_rules where account_id = $1`, [accountId]);
  const found = merge(rows).find((one) => one.rule === rule && one.scope === scope);
  return { action: found?.action ?? null, settings: found?.settings ?? null };
}
