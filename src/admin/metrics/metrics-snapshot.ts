/** Everything that `/metrics` shows, gathered at one moment. What cannot be known is null, and then it is not shown. */
import type { SupervisorStatus } from '../../channel.ts';
import type { StoredNode } from '../../store/nodes.ts';
import type { AccessFigures } from '../admin-access.ts';
import type {
  AccountsReading,
  AdminDeps,
  NodeClockState,
  ProxyCounts,
  ShipperFigures,
  SpoolStatus,
} from '../admin-deps.ts';
import { isDatabaseUp } from '../database-answer.ts';

export interface MetricsSnapshot {
  readonly nowMs: number;
  readonly version: string;
  readonly accounts: AccountsReading | null;
  readonly proxies: ProxyCounts;
  readonly shipper: ShipperFigures | null;
  readonly spool: SpoolStatus | null;
  readonly quarantinedFiles: number;
  readonly supervisor: SupervisorStatus | null;
  readonly isDatabaseUp: boolean;
  readonly jobsRunning: number | null;
  readonly clock: NodeClockState;
  /** Null when the database does not answer. */
  readonly nodes: readonly StoredNode[] | null;
  readonly access: AccessFigures;
}

export type MetricsDeps = Pick<
  AdminDeps,
  | 'version'
  | 'accounts'
  | 'readSupervisorStatus'
  | 'readSpoolStatus'
  | 'database'
  | 'countRunningJobs'
  | 'nodes'
  | 'access'
  | 'nowMs'
>;

export async function takeMetricsSnapshot(deps: MetricsDeps): Promise<MetricsSnapshot> {
  // The accounts ask the supervisor as well, and note what the proxies have counted: the others come after.
  const accounts = await deps.accounts.read();
  const [supervisor, spool, quarantine, isUp, jobsRunning, nodes] = await Promise.all([
    deps.readSupervisorStatus(),
    deps.readSpoolStatus(),
    deps.accounts.listQuarantine(),
    isDatabaseUp(deps),
    deps.countRunningJobs(),
    deps.nodes.list(),
  ]);
  return {
    nowMs: deps.nowMs(),
    version: deps.version,
    accounts,
    proxies: deps.accounts.countOfProxies(),
    shipper: deps.accounts.readShipper(),
    spool,
    quarantinedFiles: quarantine.length,
    supervisor,
    isDatabaseUp: isUp,
    jobsRunning,
    clock: deps.nodes.clock(),
    nodes,
    access: deps.access.figures(),
  };
}
