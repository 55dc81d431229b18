/**
 * The settings that all nodes share, which stand in the database. The first start writes its own; later, one node's
 * setting never shortens what is kept: only `tollgate settings set` does.
 */
import type pg from 'pg';
import { namesOf, recordOf } from '../../vocabulary/record-of.ts';
import { noteChange } from '../audit/note-change.ts';
import { DAY_MS } from './partitions.ts';
import { inTransaction } from './pool.ts';

const MAX_DAYS = 36_500;
const MAX_HOURS = 8_760;
/** A day past its limit stays until the next sweep. */
const SWEEP_SLACK_DAYS = 1;

const readWhole = (least: number, most: number) => (text: string) => {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? String(value) : null;
};
const readSwitch = (text: string) => (text === 'on' || text === 'off' ? text : null);

/** `variable` names a node's own setting; `read` returns the stored value or null. */
export const SHARED_SETTINGS = {
  retention_rows: {
    variable: 'TOLLGATE_RETENTION_ROWS',
    about: 'days that calls are kept',
    form: `a whole number of days from 1 to ${MAX_DAYS}`,
    usual: '90',
    read: readWhole(1, MAX_DAYS),
  },
  retention_bodies: {
    variable: 'TOLLGATE_RETENTION_BODIES',
    about: 'days that bodies are kept',
    form: `a whole number of days from 0 to ${MAX_DAYS}`,
    usual: '14',
    read: readWhole(0, MAX_DAYS),
  },
  search: {
    variable: 'TOLLGATE_SEARCH',
    about:
      'whether the text of kept bodies is stored, to be searched and listed; a node that is started with "off" stores none',
    form: 'on or off',
    usual: 'on',
    read: readSwitch,
  },
  estimates: {
    variable: 'TOLLGATE_ESTIMATES',
    about: 'whether what nobody reported is estimated; a node that is started with "off" makes none',
    form: 'on or off',
    usual: 'on',
    read: readSwitch,
  },
  price_feed: {
    variable: 'TOLLGATE_PRICE_FEED',
    about: 'whether newer prices are fetched; only nodes that are started with a feed do it',
    form: 'on or off',
    usual: 'off',
    read: readSwitch,
  },
  retention_audit: {
    variable: null,
    about: 'days that the audit log is kept',
    form: `"forever", or a whole number of days from 30 to ${MAX_DAYS}`,
    usual: 'forever',
    read: (text: string) => (text === 'forever' ? text : readWhole(30, MAX_DAYS)(text)),
  },
  interrupt_after_hours: {
    variable: null,
    about: 'hours after which the open calls of a node that is gone are closed as interrupted',
    form: `a whole number of hours from 1 to ${MAX_HOURS}`,
    usual: '24',
    read: readWhole(1, MAX_HOURS),
  },
  budget_takeover_hours: {
    variable: null,
    about:
      'hours after which others no longer wait for a node that is gone and held all budgets; what it may have spent counts as spent',
    form: `a whole number of hours from 1 to ${MAX_HOURS}`,
    usual: '24',
    read: readWhole(1, MAX_HOURS),
  },
} as const;

export type SharedSettingName = keyof typeof SHARED_SETTINGS;

export function isSharedSetting(name: string): name is SharedSettingName {
  return Object.hasOwn(SHARED_SETTINGS, name);
}

export const SHARED_SETTING_NAMES = namesOf(SHARED_SETTINGS);

export interface OwnSetting {
  readonly value: string;
  /** False for a default that nobody set. */
  readonly isGiven: boolean;
}
export type OwnSettings = Readonly<Partial<Record<SharedSettingName, OwnSetting>>>;

export type SetBy = 'default' | 'node' | 'log' | 'operator';

export interface SharedSetting {
  readonly value: string;
  readonly setBy: SetBy;
  readonly actor: string;
  readonly changedAt: Date | null;
}
export type SharedSettings = Readonly<Record<SharedSettingName, SharedSetting>>;

interface SettingRow {
  readonly name: string;
  readonly value: string;
  readonly set_by: SetBy;
  readonly actor: string;
  readonly changed_at: Date;
}

/** Returns null before any node has settled them. */
export async function readSharedSettings(client: pg.ClientBase | pg.Pool): Promise<SharedSettings | null> {
  const { rows } = await client.query<SettingRow>(
    'select name, value, set_by, actor, changed_at from deployment_settings',
  );
  if (!rows.some(({ name }) => name === 'retention_rows')) return null;
  const find = (name: SharedSettingName): SharedSetting => {
    const row = rows.find((one) => one.name === name);
    if (row === undefined) return { value: SHARED_SETTINGS[name].usual, setBy: 'default', actor: '', changedAt: null };
    return { value: row.value, setBy: row.set_by, actor: row.actor, changedAt: row.changed_at };
  };
  return recordOf(SHARED_SETTING_NAMES, find);
}

export async function setSharedSetting(
  client: pg.ClientBase | pg.Pool,
  name: SharedSettingName,
  setting: Pick<SharedSetting, 'value' | 'setBy' | 'actor'>,
): Promise<void> {
  await client.query(
    `insert into deployment_settings (name, value, set_by, actor) values ($1, $2, $3, $4)
     on conflict (name) do update
     set value = excluded.value, set_by = excluded.set_by, actor = excluded.actor, changed_at = now()`,
    [name, setting.value, setting.setBy, setting.actor],
  );
}

/** What an operator says for all nodes. */
export function changeSharedSetting(
  pool: pg.Pool,
  accountId: number,
  name: SharedSettingName,
  setting: Pick<SharedSetting, 'value' | 'actor'>,
): Promise<void> {
  return inTransaction(pool, async (client) => {
    const before = (await readSharedSettings(client))?.[name].value ?? null;
    await setSharedSetting(client, name, { ...setting, setBy: 'operator' });
    await noteChange(client, {
      accountId,
      action: 'setting.change',
      subject: { kind: 'setting', id: name },
      before: { value: before },
      after: { value: setting.value },
    });
  });
}

/** A setting that a start has changed for all nodes, or written first. */
export interface SettledSetting {
  readonly name: SharedSettingName;
  readonly value: string;
  readonly before: string | null;
  readonly setBy: SetBy;
}

export interface SettleOptions {
  readonly own: OwnSettings;
  readonly actor: string;
  /** Whether no other node is known, so that this one decides. Called while no other node can settle. */
  readonly readIsAlone: () => Promise<boolean>;
}

/** Runs in a transaction at a node's start: writes missing settings, takes over what may be, returns the changes. */
export async function settleSharedSettings(
  client: pg.ClientBase,
  { own, actor, readIsAlone }: SettleOptions,
): Promise<readonly SettledSetting[]> {
  await client.query('lock table deployment_settings in share row exclusive mode');
  const stored = await readSharedSettings(client);
  const isAlone = await readIsAlone();
  const oldest = stored === null ? await readOldestAges(client) : null;
  const settled: SettledSetting[] = [];
  for (const name of SHARED_SETTING_NAMES) {
    const wish = own[name] ?? { value: SHARED_SETTINGS[name].usual, isGiven: false };
    const before = stored?.[name] ?? null;
    if (before !== null && (before.value === wish.value || !isTakenOver(name, before, wish, isAlone))) continue;
    const isBeyond = oldest !== null && isDays(name) && oldest[name] > Number(wish.value) + SWEEP_SLACK_DAYS;
    const value = isBeyond ? String(MAX_DAYS) : wish.value;
    const setBy: SetBy = isBeyond ? 'log' : wish.isGiven ? 'node' : 'default';
    await setSharedSetting(client, name, { value, setBy, actor });
    settled.push({ name, value, before: before?.value ?? null, setBy });
  }
  return settled;
}

function isDays(name: SharedSettingName): name is 'retention_rows' | 'retention_bodies' {
  return name === 'retention_rows' || name === 'retention_bodies';
}

/** Whether a start's setting replaces the one in force: it may only keep more. */
function isTakenOver(name: SharedSettingName, before: SharedSetting, wish: OwnSetting, isAlone: boolean): boolean {
  if (!wish.isGiven || before.setBy === 'operator') return false;
  if (isDays(name) && Number(wish.value) > Number(before.value)) return true;
  if (before.setBy === 'log') return false;
  return isAlone || (!isDays(name) && before.setBy === 'default');
}

/**
 * Returns the days since the oldest day of the log ended. A log older than the first setting belongs to nodes with
 * another one, perhaps of an older release: nothing of it goes until an operator decides.
 */
async function readOldestAges(
  client: pg.ClientBase,
): Promise<Readonly<Record<'retention_rows' | 'retention_bodies', number>>> {
  const { rows } = await client.query<{ day: string; table: string; now_ms: number }>(
    `select min(right(c.relname, 8)) as day, p.relname as table,
       (extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms
     from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
     where p.oid in ('llm_requests'::regclass, 'llm_bodies'::regclass) and c.relname ~ '_p[0-9]{8}$' group by p.relname`,
  );
  const ageOf = (table: string): number => {
    const row = rows.find((one) => one.table === table);
    if (row === undefined) return 0;
    const startMs = Date.parse(row.day.replace(/(\d{4})(\d\d)(\d\d)/, '$1-$2-$3'));
    return Math.floor((row.now_ms - startMs) / DAY_MS);
  };
  return { retention_rows: ageOf('llm_requests'), retention_bodies: ageOf('llm_bodies') };
}

/** Settings that the node's operator gave and that differ from those in force. */
export function listDifferences(own: OwnSettings, shared: SharedSettings): readonly SharedSettingName[] {
  return SHARED_SETTING_NAMES.filter((name) => {
    const wish = own[name];
    return wish?.isGiven === true && wish.value !== shared[name].value;
  });
}
