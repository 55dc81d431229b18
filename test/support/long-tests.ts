/** Which test files belong to `npm run test:long`: those that take minutes, and those to repeat on another PostgreSQL. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Load with every kind of fault, releases beside each other, and nodes that wait for each other. */
export const LONG_GATEWAY_TESTS: readonly string[] = [
  'test/gateway/soak.test.ts',
  'test/gateway/two-node-upgrade.test.ts',
  'test/gateway/upgrade.test.ts',
  'test/gateway/three-nodes.test.ts',
  'test/gateway/kill.test.ts',
  'test/gateway/roles.test.ts',
  'test/gateway/two-node-brakes.test.ts',
];
/** Every page: in every state and theme, and with texts that would be markup. */
export const LONG_BROWSER_TESTS: readonly string[] = [
  'test/browser/accessibility.test.ts',
  'test/browser/hostile.test.ts',
];

const ROOT = join(import.meta.dirname, '..', '..');

/** The files whose tests are written for each kind of PostgreSQL: those with `each(POSTGRES_KINDS)`. */
export function listPostgresTests(): readonly string[] {
  return ['test/database', 'test/gateway'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => `${folder}/${name}`)
      .filter((path) => readFileSync(join(ROOT, path), 'utf8').includes('.each(POSTGRES_KINDS)')),
  );
}
