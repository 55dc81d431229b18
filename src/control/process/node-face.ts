/** What a node's role adds: the admin port's answers and the work once the database has answered. */

import type { AdminAccess } from '../admin/admin-access.ts';
import type { AdminApp } from '../admin/admin-server.ts';
import type { OwnNode } from './own-node.ts';

export interface NodeFace {
  readonly app: AdminApp;
  readonly begin: () => void;
  readonly stop: () => Promise<void>;
}

export type CreateNodeFace = (node: OwnNode, access: AdminAccess) => NodeFace;
