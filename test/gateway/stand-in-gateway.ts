/** `tollgate start` with stand-in children: the real settings, supervisor, database and signals. */
import { fileURLToPath } from 'node:url';
import { formatBanner } from '../../src/supervisor/banner.ts';
import { runUntilSignal } from '../../src/supervisor/run-until-signal.ts';
import { readConfig } from '../../src/supervisor/settings/read-config.ts';
import { createSupervisor } from '../../src/supervisor/supervisor.ts';
import { OperatorError } from '../../src/vocabulary/errors.ts';
import { createLog } from '../../src/vocabulary/log.ts';

try {
  const config = readConfig({ demo: process.argv.includes('--demo') }, process.env);
  const log = createLog({ level: config.logLevel, role: 'supervisor' });
  const entry = fileURLToPath(new URL('./stand-in-children.ts', import.meta.url));
  const supervisor = createSupervisor({
    config,
    settings: [],
    log,
    entry,
    env: process.env,
    mayShowSecrets: true,
    onLost: () => process.exit(1),
  });
  await runUntilSignal(supervisor, log, {
    onReady: (gateway) => {
      process.stdout.write(
        formatBanner({ ...gateway, role: config.role, demo: config.demo, command: (words) => words }),
      );
    },
    onStopping: () => {},
  });
} catch (error) {
  process.stderr.write(`tollgate: ${error instanceof OperatorError ? error.message : String(error)}\n`);
  process.exit(1);
}
