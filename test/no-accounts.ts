/** What the admin API is told of accounts by a gateway that has had no call. */
import type { AccountsDep } from '../src/admin/admin-deps.ts';

export const NO_ACCOUNTS_DEP: AccountsDep = {
  read: () => Promise.resolve(null),
  listQuarantine: () => Promise.resolve([]),
  countOfProxies: () => ({
    ...{ callsTotal: 0, rejectedTotal: 0, bodiesDropped: 0, compactedTotal: 0, droppedConnections: 0 },
    refusals: {},
  }),
  readShipper: () => null,
};
