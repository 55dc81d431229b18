/**
 * This node among the others: a sign of life every few seconds on its own connection, which also keeps older releases
 * from deleting. The first sign settles the shared settings.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type pg from 'pg';
import type { Logger } from 'pino';
import { MAX_SKEW_MS } from '../../vocabulary/clock.ts';
import type { NodeRole } from '../../vocabulary/config.ts';
import { isDatabaseDown } from '../store/database-error.ts';
import { beatNode, forgetStoppedNodes, hasOtherNodes, type NodeBeat, noteNodeStopped } from '../store/nodes.ts';
import { type KeptConnection, keepConnection } from '../store/pool.ts';
import { FORMER_RETENTION_LOCK } from '../store/retention.ts';
import { noteGap } from '../store/retention-pause.ts';
import {
  listDifferences,
  type OwnSettings,
  readSharedSettings,
  type SharedSettings,
  settleSharedSettings,
} from '../store/shared-settings.ts';
import { isTrusted, type NodeClock } from './node-clock.ts';
import { repeat } from './repeat.ts';

const BEAT_MS = 15_000;
const RETRY_MS = 5_000;
const GOODBYE_LIMIT_MS = 2_000;

/** This node's calls; null when unknown. */
export interface NodeLoad {
  readonly recordsWaiting: number | null;
  readonly openCalls: number | null;
  readonly processes: readonly string[] | null;
}

export interface PresenceOptions {
  readonly pool: pg.Pool;
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** A proxy-only node does not decide on shared settings. */
  readonly role: NodeRole;
  readonly own: OwnSettings;
  readonly clock: NodeClock;
  readonly readLoad: () => Promise<NodeLoad>;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

export interface NodePresence {
  readonly id: string;
  /** As of the last sign of life; null before the first. */
  readonly shared: () => SharedSettings | null;
  readonly refresh: (pool: pg.Pool) => Promise<void>;
  readonly stop: () => Promise<void>;
}

export function startPresence(options: PresenceOptions): NodePresence {
  const { pool, id, role, own, clock, log } = options;
  const runId = randomUUID();
  let shared: SharedSettings | null = null;
  let kept: KeptConnection | null = null;
  let isFirst = true;
  let holdsFormerLock = false;
  let wasTrusted = true;
  let wasDoubled = false;

  function drop(): void {
    kept?.close();
    kept = null;
    holdsFormerLock = false;
  }

  async function describe(): Promise<NodeBeat> {
    const load = await options.readLoad();
    const { skewMs, steppedAtMs, stepMs } = clock.state();
    return {
      id,
      name: options.name,
      host: hostname(),
      version: options.version,
      role,
      runId,
      ownSettings: own,
      clockSkewMs: skewMs ?? 0,
      clockStepMs: stepMs,
      clockStepAgeMs: steppedAtMs === null ? null : clock.nowMs() - steppedAtMs,
      ...load,
    };
  }

  async function settle(connected: pg.PoolClient, beat: NodeBeat): Promise<void> {
    await connected.query('begin');
    try {
      const settled = await settleSharedSettings(connected, {
        own,
        actor: `node ${options.name}`,
        readIsAlone: async () => !(await hasOtherNodes(connected, id)),
      });
      await beatNode(connected, beat, true);
      await forgetStoppedNodes(connected);
      await connected.query('commit');
      for (const { name, value, before, setBy } of settled) {
        if (setBy === 'log')
          log.warn(
            { setting: name, ownValue: own[name]?.value },
            `the log goes back further than this node’s setting; nothing of it is deleted until \`tollgate settings set ${name} DAYS\` says so`,
          );
        else if (before !== null) log.info({ setting: name, before, value }, 'a setting is another for all nodes');
      }
    } catch (error) {
      await connected.query('rollback').catch(() => {});
      throw error;
    }
  }

  async function beat(): Promise<void> {
    kept ??= await keepConnection(pool);
    const { client } = kept;
    await clock.compare(client);
    if (!holdsFormerLock) {
      const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock_shared($1) as got', [
        FORMER_RETENTION_LOCK,
      ]);
      holdsFormerLock = rows[0]?.got === true;
    }
    const said = await describe();
    if (await noteGap(client))
      log.warn(
        'by the clock of the database no node has given a sign of life for days: for a day nothing is deleted, so that a clock which is wrong can be set',
      );
    const settles = isFirst && role !== 'proxy';
    if (settles) await settle(client, said);
    const isDoubled = settles ? false : await beatNode(client, said, isFirst);
    shared = await readSharedSettings(client);
    if (isFirst && shared !== null) tellDifferences(shared);
    isFirst = false;
    tellClock();
    if (isDoubled && !wasDoubled)
      log.error(
        { node: options.name },
        'another gateway says that it is this node: its data directory is a copy of this one. Remove node.json from one of them and start that again',
      );
    wasDoubled = isDoubled;
  }

  function tellDifferences(all: SharedSettings): void {
    for (const name of listDifferences(own, all))
      log.warn(
        { setting: name, ownValue: own[name]?.value, inForce: all[name].value },
        `this node was started with another value than all nodes have; \`tollgate settings set ${name} VALUE\` changes it for all`,
      );
  }

  function tellClock(): void {
    const { skewMs } = clock.state();
    const isRight = isTrusted(skewMs);
    if (!isRight && wasTrusted)
      log.error(
        { skewMs, limitMs: MAX_SKEW_MS },
        'the clock of this machine is wrong by that of the database: calls are dated by the database’s, and this node deletes nothing; set the clock',
      );
    if (isRight && !wasTrusted) log.warn({ skewMs }, 'the clock of this machine is right again');
    wasTrusted = isRight;
  }

  const repeating = repeat(async () => {
    try {
      await beat();
      return BEAT_MS;
    } catch (error) {
      drop();
      if (!isDatabaseDown(error)) log.error({ err: error }, 'this node could not give its sign of life');
      return RETRY_MS;
    }
  });

  async function sayGoodbye(): Promise<void> {
    if (kept === null || isFirst) return;
    const load = await options.readLoad();
    await noteNodeStopped(kept.client, { id, runId, ...load });
  }

  return {
    id,
    shared: () => shared,
    refresh: async (from) => {
      shared = await readSharedSettings(from);
    },
    stop: async () => {
      await repeating.stop();
      const limit = new Promise<void>((resolve) => setTimeout(resolve, GOODBYE_LIMIT_MS).unref());
      await Promise.race([sayGoodbye().catch(() => {}), limit]);
      drop();
    },
  };
}
