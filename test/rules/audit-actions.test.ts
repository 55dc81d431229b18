/** Every route of the admin API that may change something has a name in the audit log, or is known to change nothing. */
import { expect, test } from 'vitest';
import { createAdminApp } from '../../src/control/admin/admin-app.ts';
import { AUDIT_ACTIONS } from '../../src/control/admin/audit-actions.ts';
import { bareAdminDeps } from '../support/admin-deps.ts';

/** As in the table: parameters in braces. */
function lineOf({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path.replace(/:(\w+)/g, '{$1}')}`;
}

test('every changing route has a row, and every row a route', () => {
  const app = createAdminApp(bareAdminDeps({ adminToken: 'test' }));
  const lines = new Set(
    app.routes.filter(({ method, path }) => method !== 'ALL' && path.startsWith('/api/')).map(lineOf),
  );
  const changing = [...lines].filter((line) => !line.startsWith('GET '));
  expect(changing.length).toBeGreaterThan(30);
  expect(changing.filter((line) => !Object.hasOwn(AUDIT_ACTIONS, line))).toEqual([]);
  expect(Object.keys(AUDIT_ACTIONS).filter((line) => !lines.has(line))).toEqual([]);
});
