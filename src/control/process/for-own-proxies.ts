/** What a node with the role `proxy` adds: its admin port, and a watch for a node that does the work for all. */
import { existsSync } from 'node:fs';
import type { CertificateStatus } from '../../vocabulary/channel.ts';
import { readVersion } from '../../vocabulary/version.ts';
import { createNodeApp } from '../admin/node-app.ts';
import type { CreateNodeFace } from './node-face.ts';
import { requestRestart } from './request-restart.ts';
import { type RepeatedWatch, watchForKeepers } from './watch-for-keepers.ts';

export const workForOwnProxies: CreateNodeFace = (node, access) => {
  const { start, clock, pools, log } = node;
  let watch: RepeatedWatch | null = null;
  const app = createNodeApp({
    version: readVersion(),
    adminToken: start.adminToken,
    metricsToken: start.config.metricsToken,
    access,
    log,
    isStopping: node.isStopping,
    ledger: node.ledger,
    readSpoolStatus: node.readSpoolStatus,
    readSupervisorStatus: node.status.read,
    requestRestart: () => requestRestart(node.channel, node.status),
    database: () => (node.connected() === null ? null : pools.api),
    countRunningJobs: () => Promise.resolve(null),
    readBrakeAndAlertFigures: () => Promise.resolve(null),
    readBudgetOverview: () => Promise.resolve(null),
    budgets: { readState: node.budgets.readState },
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

function certificateProblem(certificate: CertificateStatus | undefined, nowMs: number): string | null {
  if (certificate === undefined) return null;
  const { problem, validToMs } = certificate;
  const ended = validToMs <= nowMs ? `the certificate was valid until ${new Date(validToMs).toISOString()}` : null;
  const refused = problem === null ? null : `the certificate before stays in force: ${problem}`;
  return [ended, refused].filter((one) => one !== null).join('; ') || null;
}
