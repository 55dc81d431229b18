/** The control process as a child: what it is given at each start, and how long it is waited for. */
import type { ControlStart, UpMessage } from '../channel.ts';
import type { Config, Setting } from '../config.ts';
import { controlConfig } from './child-secrets.ts';
import { type ChildBase, createSupervisedChild, type SupervisedChild } from './supervised-child.ts';

/** For the shipper to bring what is left into the database. */
export const CONTROL_STOP_MS = 10_000;
/** One that is restarted leaves what is in the spool to its successor. */
export const CONTROL_RESTART_MS = 1_000;
/** Migrations of a large database run before control is ready. */
const CONTROL_READINESS_MS = 120_000;
/** A gateway that has been set up does not wait longer than this for its control process to call itself started. */
const CONTROL_PATIENCE_MS = 15_000;

export interface ControlChildOptions {
  readonly base: ChildBase;
  /** With the addresses that are bound. */
  readonly config: Config;
  readonly spoolDir: string;
  readonly keysFile: string;
  readonly settings: readonly Setting[];
  readonly adminToken: string;
  readonly proxyOrigin: string;
  /** Asked at each start: the embedded database may have moved. */
  readonly connectionString: () => string;
  readonly listLiveSpools: () => readonly string[];
  readonly onMessage: (message: UpMessage) => void;
  readonly onChange: () => void;
}

/** Creates it, without starting it. */
export function createControlChild(options: ControlChildOptions): SupervisedChild {
  const { base, config, spoolDir, keysFile } = options;
  return createSupervisedChild({
    ...base,
    command: config.role === 'proxy' ? 'internal-node' : 'internal-control',
    ...{ role: 'control', listenFd: null, readinessTimeoutMs: CONTROL_READINESS_MS },
    createStart: (): ControlStart => ({
      ...{ type: 'start', role: 'control', config: controlConfig(config) },
      ...{ adminToken: options.adminToken, proxyOrigin: options.proxyOrigin, databaseUrl: options.connectionString() },
      ...{ spoolDir, keysFile, liveSpools: options.listLiveSpools(), settings: options.settings },
    }),
    ...{ onMessage: options.onMessage, onChange: options.onChange },
  });
}

/** Resolves when it is ready or has had its time: it goes on trying then, and its own lines say why it fails. */
export async function awaitPatiently(ready: Promise<void>, onLate: () => void): Promise<void> {
  const patience = Promise.withResolvers<void>();
  const limit = setTimeout(() => patience.reject(new Error('not ready in time')), CONTROL_PATIENCE_MS);
  await Promise.race([ready, patience.promise]).catch(onLate);
  clearTimeout(limit);
}
