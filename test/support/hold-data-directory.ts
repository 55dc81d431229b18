/**
 * A program for tests that need another process, in a pid namespace of its own: it owns a data directory, and runs the
 * embedded PostgreSQL on it if it is told to, until it is killed. `node hold-data-directory.ts PATH [postgres]`
 */

import { openDataDirectory } from '../../src/supervisor/data-directory.ts';
import { startEmbeddedPostgres } from '../../src/supervisor/postgres/embedded-postgres.ts';
import { createLog } from '../../src/vocabulary/log.ts';

const [path = '', what = ''] = process.argv.slice(2);
await openDataDirectory({ path, onWait: () => {}, onLost: () => process.exit(4), heartbeatMs: 100 });
if (what === 'postgres') {
  const log = createLog({ level: 'error', role: 'test' });
  await startEmbeddedPostgres({ dataDir: path, log, mayBeAway: false, onMoved: () => {} });
}
process.stdout.write('ready\n');
setInterval(() => {}, 1_000);
