/** What `/metrics` shows, at one moment. Unknown values are null and not shown. */
import type { SupervisorStatus } from '../../../vocabulary/channel.ts';
import type { BudgetOverview } from '../../budgets/budget-overview.ts';
import type { BudgetState } from '../../budgets/node-budgets.ts';
import type { StoredNode } from '../../store/nodes.ts';
import type { AccessFigures } from '../admin-access.ts';
import type {
  AdminDeps,
  BudgetsDep,
  LedgerSnapshot,
  NodeClockState,
  ProxyCounts,
  ShipperFigures,
  SpoolStatus,
} from '../admin-deps.ts';
import type { BrakeAndAlertFigures } from '../brake-and-alert-figures.ts';
import { isDatabaseUp } from '../database-answer.ts';

export interface MetricsSnapshot {
  readonly nowMs: number;
  readonly version: string;
  readonly ledger: LedgerSnapshot | null;
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
  /** Null when the database does not answer. */
  readonly brakesAndAlerts: BrakeAndAlertFigures | null;
  readonly budgets: BudgetState | null;
  /** Null when the database does not answer. */
  readonly budgetOverview: BudgetOverview | null;
}

export type MetricsDeps = Pick<
  AdminDeps,
  | 'version'
  | 'ledger'
  | 'readSupervisorStatus'
  | 'readSpoolStatus'
  | 'database'
  | 'countRunningJobs'
  | 'readBrakeAndAlertFigures'
  | 'readBudgetOverview'
  | 'nodes'
  | 'access'
  | 'nowMs'
> & { readonly budgets: Pick<BudgetsDep, 'readState'> };

export async function takeMetricsSnapshot(deps: MetricsDeps): Promise<MetricsSnapshot> {
  // The ledger asks the supervisor too and notes the proxies' counts, so the others come after.
  const ledger = await deps.ledger.read();
  const [supervisor, spool, quarantine, isUp, jobsRunning, nodes, brakesAndAlerts, budgetOverview] = await Promise.all([
    deps.readSupervisorStatus(),
    deps.readSpoolStatus(),
    deps.ledger.listQuarantine(),
    isDatabaseUp(deps),
    deps.countRunningJobs(),
    deps.nodes.list(),
    deps.readBrakeAndAlertFigures(),
    deps.readBudgetOverview(),
  ]);
  return {
    nowMs: deps.nowMs(),
    version: deps.version,
    ledger,
    proxies: deps.ledger.countOfProxies(),
    shipper: deps.ledger.readShipper(),
    spool,
    quarantinedFiles: quarantine.length,
    supervisor,
    isDatabaseUp: isUp,
    jobsRunning,
    clock: deps.nodes.clock(),
    nodes,
    access: deps.access.figures(),
    brakesAndAlerts,
    budgets: deps.budgets.readState(),
    budgetOverview,
  };
}
