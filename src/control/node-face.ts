/** What a node is beside its own work: what its admin port answers, and what it does once the database has answered. */

import type { AdminAccess } from '../admin/admin-access.ts';
import type { AdminApp } from '../admin/admin-server.ts';
import type { OwnNode } from './own-node.ts';

export interface NodeFace {
  readonly app: AdminApp;
  /** Called once, when the database can be worked with. */
  readonly begin: () => void;
  readonly stop: () => Promise<void>;
}

export type CreateNodeFace = (node: OwnNode, access: AdminAccess) => NodeFace;
