/** Every route of the admin API says who may use it, and nothing else does. */
import { expect, test } from 'vitest';
import { createAdminApp } from '../../src/control/admin/admin-app.ts';
import { PUBLIC_ROUTES } from '../../src/control/admin/guard.ts';
import { ROUTE_ACCESS } from '../../src/control/admin/route-access.ts';
import { bareAdminDeps } from '../support/admin-deps.ts';

const app = createAdminApp(bareAdminDeps({ adminToken: 'x' }));
const served = app.routes
  .filter(({ method }) => method !== 'ALL')
  .map(({ method, path }) => `${method} ${path.replace(/:([A-Za-z_]+)(?:\{[^}]*\})?/g, '{$1}')}`);

test('the table of who may use what has every route with credentials, and no other', () => {
  const expected = [...new Set(served)].filter((line) => !PUBLIC_ROUTES.includes(line));
  expect(Object.keys(ROUTE_ACCESS).toSorted()).toEqual(expected.toSorted());
});
