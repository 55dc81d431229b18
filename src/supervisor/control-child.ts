/** The control process as a child: its start message and the limits of its waits. */
import type { ControlStart, UpMessage } from '../vocabulary/channel.ts';
import type { Config, Setting } from '../vocabulary/config.ts';
import { controlConfig } from './child-secrets.ts';
import { type ChildBase, createSupervisedChild, type SupervisedChild } from './supervised-child.ts';

export const CONTROL_STOP_MS = 10_000;
/** On a restart the successor ships the rest of the spool. */
export const CONTROL_RESTART_MS = 1_000;
/** Migrations of a large database run before control is ready. */
const CONTROL_READINESS_MS = 120_000;
/** How long a start waits for control when keys are on file. */
const CONTROL_PATIENCE_MS = 15_000;

export interface ControlChildOptions {
  readonly base: ChildBase;
  readonly config: Config;
  readonly spoolDir: string;
  readonly keysFile: string;
  readonly settings: readonly Setting[];
  readonly adminToken: string;
  readonly proxyOrigin: string;
  /** Read at each start: the embedded database may have moved. */
  readonly connectionString: () => string;
  readonly listLiveSpools: () => readonly string[];
  readonly onMessage: (message: UpMessage) => void;
  readonly onChange: () => void;
}

export function createControlChild(options: ControlChildOptions): SupervisedChild {
  const { base, config, spoolDir, keysFile } = options;
  return createSupervisedChild({
    ...base,
    command: config.role === 'proxy' ? 'internal-node' : 'internal-control',
    role: 'control',
    listenFd: null,
    readinessTimeoutMs: CONTROL_READINESS_MS,
    createStart: (): ControlStart => ({
      type: 'start',
      role: 'control',
      config: controlConfig(config),
      adminToken: options.adminToken,
      proxyOrigin: options.proxyOrigin,
      databaseUrl: options.connectionString(),
      spoolDir,
      keysFile,
      liveSpools: options.listLiveSpools(),
      settings: options.settings,
    }),
    onMessage: options.onMessage,
    onChange: options.onChange,
  });
}

/** Resolves when control is ready or its time is over; its supervisor goes on trying then. */
export async function awaitPatiently(ready: Promise<void>, onLate: () => void): Promise<void> {
  const patience = Promise.withResolvers<void>();
  const limit = setTimeout(() => patience.reject(new Error('not ready in time')), CONTROL_PATIENCE_MS);
  await Promise.race([ready, patience.promise]).catch(onLate);
  clearTimeout(limit);
}
