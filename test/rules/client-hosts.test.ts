/** The hosts that the packages in clients/ lead to a gateway are those to which the gateway sends by itself. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROVIDERS } from '../../src/providers/registry.ts';

const clients = join(import.meta.dirname, '../../clients');

function readTable(file: string): Readonly<Record<string, string>> {
  const entries = readFileSync(join(clients, file), 'utf8').matchAll(
    /^ +["']([a-z.]+\.[a-z]+)["']: ["']([a-z]+)["'],$/gm,
  );
  return Object.fromEntries(Array.from(entries, ([, host = '', provider = '']) => [host, provider]));
}

/** Its hosts have a region in their names. */
const BY_REGION = 'bedrock';

test.each(['python/src/tollgate/_providers.py', 'typescript/src/providers.ts'])('%s', (file) => {
  const origins = Object.values(PROVIDERS)
    .filter(({ name }) => name !== BY_REGION)
    .flatMap(({ origin, otherHosts = [], name }) =>
      [new URL(origin(null)).host, ...otherHosts].map((host) => [host, name]),
    );
  expect(readTable(file)).toEqual(Object.fromEntries(origins));
});
