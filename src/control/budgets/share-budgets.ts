/**
 * How this node takes part in spending: alone it holds all of every budget; when a second node joins, each holds what it has
 * leased. A node whose state is not settled spends nothing. Decision 58 says why the steps are in this order.
 */
import type pg from 'pg';
import { FORGOTTEN_AFTER_MS, type HeldScope, type LedgerUpkeep, type Want } from '../../budgets/ledger-upkeep.ts';
import { GONE_AFTER_SECONDS } from '../store/nodes.ts';
import { inTransaction } from '../store/pool.ts';
import { holdInFull } from './hold-in-full.ts';
import { freeUnspent, lease, listHeldElsewhere, listOwnLeases, listWanted, writeLease } from './leases.ts';
import { type BudgetLook, IS_GONE, IS_LOST } from './read-look.ts';

type NodeState = 'sole' | 'joining' | 'sharing';

/** A call waits no longer; what it wanted is not sought for it any more. */
const WANT_LIMIT_MS = 2_000;
/** Clocks differ, and a batch is stored some time after it began. */
const RECOUNT_SLACK_MS = 10 * 60_000;

export interface BudgetSharing {
  /** Settles whether this node is alone; often enough that a second node does not wait long. Nothing where all is as before. */
  readonly join: (look: BudgetLook) => Promise<void>;
  /** Leases what proxies want, and gives back what others want. Cheap when nothing is. */
  readonly exchange: () => Promise<void>;
  /** After a budget was lowered: what is held of it and not used. */
  readonly giveBackOf: (budgetId: number) => Promise<void>;
  /** After the database's sums took the place of the ledger's: the next `join` settles all anew. */
  readonly beginAnew: () => void;
  /** Now and then: calls of nodes that left are stored later, as when their spool is brought. */
  readonly recount: () => Promise<void>;
}

export interface SharingOptions {
  readonly pool: pg.Pool;
  /** This gateway's id, which tells it from another one that has the same name. */
  readonly id: string;
  readonly node: string;
  readonly upkeep: LedgerUpkeep;
  /** The name was another gateway's until now: what that one has spent counts as this one's. */
  readonly onNameTaken: () => Promise<void>;
  /** The proxies of this node that live. */
  readonly listProcesses: () => readonly string[];
  readonly nowMs: () => number;
}

/** A row that waits for a namesake has no state of its own. */
interface Settled {
  readonly state: NodeState;
  readonly isNewName: boolean;
  /** False for one that joins, or was taken to be gone: what it holds is no longer what its leases say. */
  readonly isKnown: boolean;
  /** It was so before: as long as no row changes nothing is to be done. */
  readonly isSettled: boolean;
}

interface NameRow {
  readonly node: string;
  readonly state: NodeState;
  readonly id: string | null;
  /** It has given a sign of life, or has joined a moment ago. */
  readonly isAlive: boolean;
}

const READ_ROWS = `
  select b.node, b.state, b.id,
    coalesce((select n.stopped_at is null and n.seen_at > now() - make_interval(secs => ${GONE_AFTER_SECONDS})
       from nodes n where n.id = b.id), b.joined_at > now() - interval '1 minute') as "isAlive"
  from budget_nodes b`;

export function createBudgetSharing(options: SharingOptions): BudgetSharing {
  const { pool, id, node, upkeep, listProcesses, nowMs } = options;
  let hasSynced = false;
  /** How the nodes stood when nothing was left to do. */
  let settledAs: string | null = null;
  let recountedMs = 0;

  /** What they held and did not spend is free. */
  async function removeGone(client: pg.ClientBase): Promise<void> {
    const { rows } = await client.query<{ node: string }>(
      `delete from budget_nodes b where ${IS_GONE} returning node`,
      [node],
    );
    await freeUnspent(
      client,
      rows.map((row) => row.node),
    );
  }

  /** What they may have spent counts as spent; from now on they hold that, and others need not wait. */
  async function takeOver(client: pg.ClientBase): Promise<void> {
    const { rows } = await client.query<{ node: string }>(
      `update budget_nodes b set state = 'sharing' where ${IS_LOST} returning node`,
      [node],
    );
    for (const lost of rows) await holdInFull(client, lost.node);
  }

  async function settleState(): Promise<Settled> {
    return inTransaction(pool, async (client) => {
      await client.query("select pg_advisory_xact_lock(hashtext('budget_nodes'))");
      await removeGone(client);
      await takeOver(client);
      const { rows } = await client.query<NameRow>(READ_ROWS);
      const named = rows.find((row) => row.node === node);
      const isOthers = named !== undefined && named.id !== null && named.id !== id;
      // Two ledgers with one name would each spend the money of both.
      if (isOthers && named.isAlive) return { state: 'joining', isNewName: false, isKnown: true, isSettled: false };
      const own = isOthers ? null : (named?.state ?? null);
      const others = rows.filter((row) => row.node !== node);
      const next = nextState(
        own,
        others.map(({ state }) => state),
      );
      if (next === 'sharing' && own === 'sole') {
        // Before any other node may lease: what this one has used of each scope.
        for (const scope of upkeep.beginSharing()) await writeLease(client, node, scope);
        await client.query("update budget_nodes set state = 'sharing' where state = 'joining'");
      }
      const isSettled = next === own && named?.id === id;
      if (!isSettled)
        await client.query(
          `insert into budget_nodes as b (node, state, id) values ($1, $2, $3)
           on conflict (node) do update set state = excluded.state, id = excluded.id,
             joined_at = case when b.id = excluded.id then b.joined_at else now() end`,
          [node, next, id],
        );
      return { state: next, isNewName: isOthers, isKnown: own !== null, isSettled };
    });
  }

  async function follow({ state, isKnown }: Settled): Promise<void> {
    const mode = upkeep.mode(nowMs());
    if (state === 'joining') {
      if (mode !== 'waiting') upkeep.setMode('waiting');
    } else if (state === 'sharing') {
      if (mode === 'sharing' && hasSynced) return;
      if (!isKnown) {
        // Its processes give back what they have not spent, or that would be leased again beside what others have of it by now.
        upkeep.setMode('waiting');
        await upkeep.ask(listProcesses());
      }
      const used = new Map(upkeep.beginSharing().map((scope) => [nameOf(scope), scope]));
      for (const scope of await listOwnLeases(pool, node)) {
        const spent = used.get(nameOf(scope));
        if (spent !== undefined && spent.held > scope.held) continue;
        upkeep.setHeld(scope, scope.held, nowMs());
        used.delete(nameOf(scope));
      }
      // More than its lease: it was taken to be gone, and had spent what was not stored.
      for (const scope of used.values()) await writeLease(pool, node, scope);
      hasSynced = true;
    } else if (mode !== 'sole' || !hasSynced) {
      recountedMs = nowMs();
      upkeep.beginAlone(await listHeldElsewhere(pool, node, new Date(nowMs() - FORGOTTEN_AFTER_MS)), nowMs());
      hasSynced = true;
    }
  }

  async function serve(want: Want): Promise<void> {
    const { held, isShort } = await lease(pool, node, want);
    upkeep.setHeld(want, held, nowMs());
    if (!isShort || !want.isUrgent || nowMs() - want.askedMs > WANT_LIMIT_MS) upkeep.dropWant(want);
  }

  /** Asks for all at once: meanwhile neither records nor changes of budgets are taken in. */
  async function giveBack(scopes: readonly HeldScope[]): Promise<void> {
    await upkeep.ask(listProcesses(), scopes);
    for (const scope of scopes) {
      // First here, then in the database: what is lost in between is spent by nobody.
      const held = upkeep.giveBack(scope);
      await writeLease(pool, node, { ...scope, held });
    }
  }

  return {
    giveBackOf: async (budgetId) => {
      if (upkeep.mode(nowMs()) !== 'sharing') return;
      await giveBack(upkeep.listHeldOf(budgetId));
    },
    join: async ({ nodes, hasGone, hasLost }) => {
      if (nodes === settledAs && !hasGone && !hasLost) return;
      const settled = await settleState();
      if (!settled.isKnown) hasSynced = false;
      if (settled.isNewName) {
        await options.onNameTaken();
        hasSynced = false;
      }
      await follow(settled);
      // What others have changed meanwhile differs from it.
      settledAs = settled.isSettled ? nodes : null;
    },
    beginAnew: () => {
      hasSynced = false;
      settledAs = null;
    },
    recount: async () => {
      if (!hasSynced || upkeep.mode(nowMs()) !== 'sole') return;
      const since = new Date(recountedMs - RECOUNT_SLACK_MS);
      recountedMs = nowMs();
      upkeep.noteElsewhere(await listHeldElsewhere(pool, node, since), nowMs());
    },
    exchange: async () => {
      if (upkeep.mode(nowMs()) !== 'sharing') return;
      for (const want of upkeep.listWants()) await serve(want);
      await giveBack(await listWanted(pool, node));
    },
  };
}

function nameOf({ accountId, budgetId, value, periodStartMs }: HeldScope): string {
  return JSON.stringify([accountId, budgetId, value, periodStartMs]);
}

function nextState(own: NodeState | null, others: readonly NodeState[]): NodeState {
  const isAlone = others.every((state) => state === 'joining');
  if (isAlone && others.length > 0 && own === 'sole') return 'sharing';
  if (others.length === 0) return 'sole';
  if (others.includes('sole')) return 'joining';
  if (others.includes('sharing')) return 'sharing';
  // All others are joining too: the first that looks is alone, and shares at its next look.
  return own === 'sharing' ? 'sharing' : 'sole';
}
