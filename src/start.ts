/** `tollgate start`: reads the settings, warns about them, and runs the supervisor until it is stopped. */
import { flushCompileCache } from 'node:module';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { isatty } from 'node:tty';
import { createOwnCommand } from './cli/own-command.ts';
import { formatBanner } from './supervisor/banner.ts';
import { leaveReapingToShell } from './supervisor/reap-orphans.ts';
import { runUntilSignal } from './supervisor/run-until-signal.ts';
import { listExposureWarnings } from './supervisor/settings/exposure.ts';
import { listSettings } from './supervisor/settings/list-settings.ts';
import { adviseNoProxy } from './supervisor/settings/no-proxy-advice.ts';
import { readConfig } from './supervisor/settings/read-config.ts';
import { listUnknownSettings } from './supervisor/settings/unknown-settings.ts';
import { createSupervisor } from './supervisor/supervisor.ts';
import { createSystemdTeller, isStartedBySystemd } from './supervisor/tell-systemd.ts';
import type { ConfigFlags } from './vocabulary/config.ts';
import { createLog } from './vocabulary/log.ts';
import { returnMemoryAtRest } from './vocabulary/return-memory.ts';

/** `entry`: the program for the children. Resolves when the gateway has stopped. */
export async function start(flags: ConfigFlags, entry: string): Promise<void> {
  const isReaped = leaveReapingToShell(process);
  const config = readConfig(flags, process.env, isatty(0));
  const log = createLog({ level: config.logLevel, role: 'supervisor' });
  if (!isReaped)
    log.warn('process 1 here waits for no orphans: start the container with --init, or killed processes stay in it');
  for (const line of listUnknownSettings(process.env)) log.warn(line);
  for (const line of listExposureWarnings(config)) log.warn(line);
  const advice = adviseNoProxy(config.egress, process.env['ALL_PROXY'] ?? process.env['all_proxy']);
  if (advice !== null) log.warn(advice);
  // Only this process tells systemd, so children do not get the variable.
  const { NOTIFY_SOCKET, ...env } = process.env;
  const systemd = createSystemdTeller(NOTIFY_SOCKET, log);
  const isService = isStartedBySystemd(env, process.pid);
  const supervisor = createSupervisor({
    config,
    settings: listSettings(config, flags, process.env),
    log,
    env,
    entry,
    // The output of a service or a pod is kept, for more people than may have a key.
    mayShowSecrets: !isService && env['KUBERNETES_SERVICE_HOST'] === undefined,
    onLost: () => process.exit(1),
  });
  const command = createOwnCommand({
    root: dirname(import.meta.dirname),
    isClone: entry.endsWith('.ts'),
    isService,
    // npm changes to its own folder and passes on where it was called.
    cwd: env['INIT_CWD'] ?? process.cwd(),
    hostname: hostname(),
    dataDir: config.dataDir,
    env,
  });

  await runUntilSignal(supervisor, log, {
    onReady: (gateway) => {
      returnMemoryAtRest();
      // Now, since a killed process leaves nothing.
      flushCompileCache();
      process.stdout.write(formatBanner({ ...gateway, role: config.role, demo: config.demo, command }));
      const isTaking = config.role !== 'control';
      void systemd.ready(isTaking ? `calls are taken at ${gateway.proxyOrigin}` : 'dashboard and API are up'); // It never rejects.
    },
    onStopping: () => void systemd.stopping(config.stopDelaySeconds, config.drainSeconds),
  });
}
