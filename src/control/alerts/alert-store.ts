/** The queries about alerts, where they go, and what was sent. */
import type pg from 'pg';
import { noteChange } from '../audit/note-change.ts';
import { inTransaction } from '../store/pool.ts';
import type { AlertKind } from './alert-kinds.ts';
import type { StoredDestination } from './destination.ts';

export const MAX_ALERTS = 200;
export const MAX_DESTINATIONS = 50;

export type NewDestination = Omit<StoredDestination, 'id' | 'createdAt'>;

export interface Alert {
  readonly accountId: number;
  readonly id: number;
  readonly name: string;
  readonly kind: AlertKind;
  readonly settings: unknown;
  readonly destinations: readonly number[];
  readonly isOn: boolean;
  readonly problem: string | null;
  readonly checkedAt: Date | null;
  readonly createdAt: Date;
  readonly createdBy: string;
}

export type NewAlert = Pick<Alert, 'accountId' | 'name' | 'kind' | 'settings' | 'destinations' | 'isOn' | 'createdBy'>;

export const DESTINATION_COLUMNS = `account_id as "accountId", id, name, kind, address, secret, created_at as "createdAt",
  created_by as "createdBy", case when sealed is not null then json_build_object('keyName', key_name,
    'wrappedKey', encode(wrapped_key, 'base64'), 'sealed', encode(sealed, 'base64')) end as seal`;
const ALERT_COLUMNS = `account_id as "accountId", id, name, kind, settings, destinations, is_on as "isOn", problem,
  checked_at as "checkedAt", created_at as "createdAt", created_by as "createdBy"`;

/** Null when there are as many as there may be. */
export function insertDestination(pool: pg.Pool, given: NewDestination): Promise<StoredDestination | null> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<StoredDestination>(
      `insert into alert_destinations
         (account_id, name, kind, address, secret, created_by, key_name, wrapped_key, sealed)
       select $1, $2, $3, $4, $5, $6, $7, decode($8, 'base64'), decode($9, 'base64')
       where (select count(*) from alert_destinations where account_id = $1) < ${MAX_DESTINATIONS}
       returning ${DESTINATION_COLUMNS}`,
      [
        given.accountId,
        given.name,
        given.kind,
        given.address,
        given.secret,
        given.createdBy,
        given.seal?.keyName ?? null,
        given.seal?.wrappedKey ?? null,
        given.seal?.sealed ?? null,
      ],
    );
    const [row] = rows;
    if (row === undefined) return null;
    await noteChange(client, {
      accountId: given.accountId,
      action: 'alert_destination.create',
      subject: { kind: 'alert_destination', id: row.id },
      after: { name: row.name, kind: row.kind },
    });
    return row;
  });
}

export async function listDestinations(pool: pg.Pool, accountId: number): Promise<readonly StoredDestination[]> {
  const { rows } = await pool.query<StoredDestination>(
    `select ${DESTINATION_COLUMNS} from alert_destinations where account_id = $1 order by id`,
    [accountId],
  );
  return rows;
}

/** False for an unknown one. Alerts that name it tell the others. */
export function deleteDestination(pool: pg.Pool, accountId: number, id: number): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ name: string; kind: string }>(
      'delete from alert_destinations where account_id = $1 and id = $2 returning name, kind',
      [accountId, id],
    );
    const [row] = rows;
    if (row === undefined) return false;
    await client.query(
      'update alerts set destinations = array_remove(destinations, $2) where account_id = $1 and $2 = any(destinations)',
      [accountId, id],
    );
    const subject = { kind: 'alert_destination', id };
    await noteChange(client, { accountId, action: 'alert_destination.delete', subject, before: row });
    return true;
  });
}

/** `unknown_destination`, or `full` when there are as many as there may be. */
export function insertAlert(pool: pg.Pool, given: NewAlert): Promise<Alert | 'full' | 'unknown_destination'> {
  const { accountId } = given;
  return inTransaction(pool, async (client) => {
    if (!(await areKnown(client, accountId, given.destinations))) return 'unknown_destination';
    const { rows } = await client.query<Alert>(
      `insert into alerts (account_id, name, kind, settings, destinations, is_on, created_by)
       select $1, $2, $3, $4, $5, $6, $7 where (select count(*) from alerts where account_id = $1) < ${MAX_ALERTS}
       returning ${ALERT_COLUMNS}`,
      [
        accountId,
        given.name,
        given.kind,
        JSON.stringify(given.settings),
        given.destinations,
        given.isOn,
        given.createdBy,
      ],
    );
    const [row] = rows;
    if (row === undefined) return 'full';
    const subject = { kind: 'alert', id: row.id };
    await noteChange(client, { accountId, action: 'alert.create', subject, after: stateOf(row) });
    return row;
  });
}

function stateOf({ name, kind, settings, destinations, isOn }: Alert) {
  return { name, kind, settings, destinations, isOn };
}

async function areKnown(client: pg.ClientBase, accountId: number, ids: readonly number[]): Promise<boolean> {
  const { rows } = await client.query<{ known: number }>(
    'select count(*) as known from alert_destinations where account_id = $1 and id = any($2::int4[])',
    [accountId, ids],
  );
  return rows[0]?.known === new Set(ids).size;
}

export type AlertEdit = {
  readonly [Field in 'name' | 'settings' | 'destinations' | 'isOn']?: Alert[Field] | undefined;
};

/** Null for an unknown one. */
export function editAlert(
  pool: pg.Pool,
  accountId: number,
  id: number,
  edit: AlertEdit,
): Promise<Alert | null | 'unknown_destination'> {
  return inTransaction(pool, async (client) => {
    const { rows: before } = await client.query<Alert>(
      `select ${ALERT_COLUMNS} from alerts where account_id = $1 and id = $2 for update`,
      [accountId, id],
    );
    const [old] = before;
    if (old === undefined) return null;
    if (edit.destinations !== undefined && !(await areKnown(client, accountId, edit.destinations)))
      return 'unknown_destination';
    const next = {
      name: edit.name ?? old.name,
      settings: edit.settings ?? old.settings,
      destinations: edit.destinations ?? old.destinations,
      isOn: edit.isOn ?? old.isOn,
    };
    const { rows } = await client.query<Alert>(
      `update alerts set name = $3, settings = $4, destinations = $5, is_on = $6, problem = null
       where account_id = $1 and id = $2 returning ${ALERT_COLUMNS}`,
      [accountId, id, next.name, JSON.stringify(next.settings), next.destinations, next.isOn],
    );
    const [row] = rows;
    if (row === undefined) return null;
    const subject = { kind: 'alert', id };
    await noteChange(client, { accountId, action: 'alert.edit', subject, before: stateOf(old), after: stateOf(row) });
    return row;
  });
}

export function deleteAlert(pool: pg.Pool, accountId: number, id: number): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<Alert>(
      `delete from alerts where account_id = $1 and id = $2 returning ${ALERT_COLUMNS}`,
      [accountId, id],
    );
    const [row] = rows;
    if (row === undefined) return false;
    const subject = { kind: 'alert', id };
    await noteChange(client, { accountId, action: 'alert.delete', subject, before: stateOf(row) });
    return true;
  });
}

export async function listAlerts(pool: pg.Pool, accountId: number): Promise<readonly Alert[]> {
  const { rows } = await pool.query<Alert>(`select ${ALERT_COLUMNS} from alerts where account_id = $1 order by id`, [
    accountId,
  ]);
  return rows;
}

/** Of all accounts, those that are on. */
export async function listAlertsToCheck(pool: pg.Pool): Promise<readonly Alert[]> {
  const { rows } = await pool.query<Alert>(
    `select ${ALERT_COLUMNS} from alerts where is_on order by checked_at nulls first`,
  );
  return rows;
}

export async function noteChecked(pool: pg.Pool, { accountId, id }: Alert, problem: string | null): Promise<void> {
  await pool.query('update alerts set checked_at = now(), problem = $3 where account_id = $1 and id = $2', [
    accountId,
    id,
    problem,
  ]);
}
