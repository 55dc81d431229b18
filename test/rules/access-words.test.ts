/** What scopes and roles let one do is said in words that name all of it, and the same everywhere. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROLE_WORDS, SCOPE_WORDS } from '../../src/control/admin/access-words.ts';
import { createAdminApp } from '../../src/control/admin/admin-app.ts';
import { ROLES, SCOPES } from '../../src/control/admin/principal.ts';
import { ROUTE_ACCESS } from '../../src/control/admin/route-access.ts';
import { ADMIN_TOKEN } from '../support/admin-database.ts';
import { bareAdminDeps } from '../support/admin-deps.ts';

/** Routes that change something, by the beginning of what stands behind `/api/v1/` → how the words name it. */
const NAMED: readonly (readonly [string, RegExp])[] = [
  ['accounts/{id}/retention', /how long the account keeps its calls/],
  ['alert-destinations', /where alerts go|alerts and their destinations/],
  ['alerts', /alerts/],
  ['audit', /audit log/],
  ['brakes/pauses', /pause runs and keys/],
  ['brakes/hits', /resume them/],
  ['brakes', /rules of brakes/],
  ['budgets', /budgets/],
  ['credentials', /provider credentials/],
  ['erasures', /erase/],
  ['jobs', /stop and resume jobs/],
  ['keys', /make, change and revoke (?:gateway )?keys/],
  ['limits', /limits/],
  ['metadata-keys', /promote metadata keys/],
  ['people', /people/],
  ['prices', /declare prices/],
  ['read-tokens', /read tokens/],
  ['reprice', /price again/],
  ['run-tokens', /run (?:tokens|and read tokens)/],
  ['runs/grouping', /group runs/],
  ['share-links', /share links/],
  ['tokens', /API tokens/],
];

function nameOf(line: string): RegExp {
  const path = line.replace(/^\S+ \/api\/v1\//, '');
  const found = NAMED.find(([start]) => path === start || path.startsWith(`${start}/`));
  if (found === undefined) throw new Error(`${line} has no words: add what it is to NAMED, and to access-words.ts`);
  return found[1];
}

const routes = Object.entries(ROUTE_ACCESS);

test.each(['keys', 'prices', 'manage'] as const)(
  'the words for the scope %s name all that its routes change',
  (scope) => {
    const lines = routes.filter(([, access]) => access.scope === scope).map(([line]) => line);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => !nameOf(line).test(SCOPE_WORDS[scope]))).toEqual([]);
  },
);

test.each(['member', 'owner'] as const)(
  'the words for the role %s name all that it may and the one before may not',
  (role) => {
    const lines = routes.filter(([, access]) => access.role === role).map(([line]) => line);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => !nameOf(line).test(ROLE_WORDS[role]))).toEqual([]);
  },
);

test('the docs and the description of the API have these words', async () => {
  const docs = readFileSync(new URL('../../docs/accounts.md', import.meta.url), 'utf8').replace(
    /\[([^\]]*)\]\([^)]*\)/g,
    '$1',
  );
  const cells = docs.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  for (const scope of SCOPES) expect(cells).toContainEqual(['', `\`${scope}\``, SCOPE_WORDS[scope], '']);
  for (const role of ROLES) expect(cells).toContainEqual(['', `**${role}**`, ROLE_WORDS[role], '']);
  const app = createAdminApp(bareAdminDeps({ adminToken: ADMIN_TOKEN }));
  const answer = await app.request('http://127.0.0.1/api/v1/openapi.json', {
    headers: { host: '127.0.0.1', authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const description = JSON.stringify(await answer.json());
  for (const words of [...Object.values(SCOPE_WORDS), ...Object.values(ROLE_WORDS)])
    expect(description).toContain(words);
});
