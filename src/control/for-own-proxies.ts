/**
 * What a node with the role `proxy` does beside its own work: its admin port says how it is, and it looks whether some
 * node does what is done for all. Nothing else, so that it loads little.
 */
import { existsSync } from 'node:fs';
import { createNodeApp } from '../admin/node-app.ts';
import { readVersion } from '../version.ts';
import type { CreateNodeFace } from './node-face.ts';
import { type RepeatedWatch, watchForKeepers } from './watch-for-keepers.ts';

export const workForOwnProxies: CreateNodeFace = (node, access) => {
  const { start, clock, pools, log } = node;
  let watch: RepeatedWatch | null = null;
  const app = createNodeApp({
    ...{ version: readVersion(), adminToken: start.adminToken, metricsToken: start.config.metricsToken, access, log },
    ...{ isStopping: node.isStopping, accounts: node.accounts, readSpoolStatus: node.readSpoolStatus },
    readSupervisorStatus: node.status.read,
    database: () => (node.connected() === null ? null : pools.api),
    // Not asked: those who do the jobs say it.
    countRunningJobs: () => Promise.resolve(null),
    nodes: { ownId: node.id, list: node.listNodes, clock: clock.state, onSettingsChanged: async () => {} },
    nowMs: clock.nowMs,
    hasKeys: () => existsSync(start.keysFile),
    problem: () => {
      const problems = [node.databaseProblem(), watch?.problem() ?? null].filter((one) => one !== null);
      return problems.length === 0 ? null : problems.join('; ');
    },
  });
  return {
    app,
    begin: () => {
      watch = watchForKeepers(node.listNodes, log);
    },
    stop: async () => watch?.stop(),
  };
};
