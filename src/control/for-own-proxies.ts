/**
 * What a node with the role `proxy` does beside its own work: its admin port says how it is, and it looks whether some
 * node does what is done for all. Nothing else, so that it loads little.
 */
import { existsSync } from 'node:fs';
import { createNodeApp } from '../admin/node-app.ts';
import type { CertificateStatus } from '../channel.ts';
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
    readProblem: async () => {
      const certificate = (await node.status.read())?.certificate;
      const problems = [
        node.databaseProblem(),
        watch?.problem() ?? null,
        certificateProblem(certificate, clock.nowMs()),
      ];
      return problems.filter((one) => one !== null).join('; ') || null;
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

/** Nobody else says it: the command line asks another node. */
function certificateProblem(certificate: CertificateStatus | undefined, nowMs: number): string | null {
  if (certificate === undefined) return null;
  const { problem, validToMs } = certificate;
  const ended = validToMs <= nowMs ? `the certificate was valid until ${new Date(validToMs).toISOString()}` : null;
  const refused = problem === null ? null : `the certificate before stays in force: ${problem}`;
  return [ended, refused].filter((one) => one !== null).join('; ') || null;
}
