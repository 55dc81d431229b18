/** Every metric of ours. Label values are from closed lists, never a client's words. See `docs/metrics.md`. */
import { type ChildStatus, STEP_BOUNDS_SECONDS } from '../../../vocabulary/channel.ts';
import { MAX_SKEW_MS } from '../../../vocabulary/clock.ts';
import { GATEWAY_ERRORS } from '../../../vocabulary/errors.ts';
import type { StoredNode } from '../../store/nodes.ts';
import { BRAKES_AND_ALERTS } from './brake-and-alert-metrics.ts';
import { BUDGETS } from './budget-metrics.ts';
import { counter, gauge, type MetricDefinition, type MetricSample } from './metric.ts';
import type { MetricsSnapshot } from './metrics-snapshot.ts';

function secondsSince(ms: number | null | undefined, nowMs: number): number | null {
  return ms === null || ms === undefined ? null : Math.max(0, nowMs - ms) / 1_000;
}

const ACCOUNTS: readonly MetricDefinition[] = [
  counter(
    'tollgate_calls_accepted_total',
    'Calls that have a record to be kept: the sum of the five below.',
    (s) => s.ledger?.accepted,
  ),
  counter('tollgate_calls_stored_total', 'Accepted calls that have their row in the log.', (s) => s.ledger?.stored),
  gauge(
    'tollgate_calls_spooled',
    'Accepted calls whose ending lies in the spool and is not stored yet.',
    (s) => s.ledger?.spooled,
  ),
  gauge('tollgate_calls_in_flight', 'Accepted calls that have not ended.', (s) => s.ledger?.inFlight),
  counter(
    'tollgate_calls_set_aside_total',
    'Accepted calls whose record the database refused in every form.',
    (s) => s.ledger?.setAside,
  ),
  counter(
    'tollgate_calls_lost_total',
    'Accepted calls whose ending could not be kept, or is nowhere to be found.',
    (s) => s.ledger?.lost,
  ),
  counter(
    'tollgate_calls_missing_total',
    'Lost calls that their process had not counted as lost.',
    (s) => s.ledger?.missing,
  ),
  gauge(
    'tollgate_calls_unbalanced',
    'Calls that have ended and are not found now; anything but 0 is a defect or damage.',
    (s) => s.ledger?.difference,
  ),
  gauge(
    'tollgate_spool_counted_whole',
    '0: more waits in the spool than was counted, so that tollgate_calls_spooled is too low.',
    (s) => s.ledger?.isWhole,
  ),
  gauge(
    'tollgate_spool_directories_unaccounted',
    'Process directories whose calls cannot be counted.',
    (s) => s.ledger?.unaccountedTotal,
  ),
  {
    name: 'tollgate_calls_by_outcome_total',
    help: 'Stored calls by how they ended.',
    type: 'counter',
    labels: ['outcome'],
    read: ({ ledger }) =>
      Object.entries(ledger?.outcomes ?? {}).map(([outcome, value]) => ({ labels: { outcome }, value })),
  },
];

const PROXIES: readonly MetricDefinition[] = [
  gauge('tollgate_open_calls', 'Calls that the proxies have open, also those of no account.', (s) =>
    sumProxies(s, ({ metrics }) => metrics?.openCalls),
  ),
  counter(
    'tollgate_calls_total',
    'Requests that the proxies began to handle, since the control process started.',
    (s) => s.proxies.callsTotal,
  ),
  {
    name: 'tollgate_refusals_total',
    help: 'Requests that the gateway refused, by the code in X-Gateway-Error, since the control process started.',
    type: 'counter',
    labels: ['code'],
    // Listed from the start: Prometheus sees no increase in a counter that begins with its first event.
    read: ({ proxies }) =>
      Object.keys(GATEWAY_ERRORS).map((code) => ({ labels: { code }, value: proxies.refusals[code] ?? 0 })),
  },
  counter(
    'tollgate_bodies_dropped_total',
    'Bodies that were not kept because the spool was short of space, since the control process started.',
    (s) => s.proxies.bodiesDropped,
  ),
  counter(
    'tollgate_records_compacted_total',
    'Records that were shortened because the spool was nearly full, since the control process started.',
    (s) => s.proxies.compactedTotal,
  ),
  counter(
    'tollgate_connections_dropped_total',
    'Client connections that were closed at the limit on them, since the control process started.',
    (s) => s.proxies.droppedConnections,
  ),
  counter(
    'tollgate_tls_handshakes_failed_total',
    'TLS handshakes on the proxy port that came to nothing, since the control process started.',
    (s) => (s.supervisor?.certificate === undefined ? null : s.proxies.failedHandshakes),
  ),
  gauge(
    'tollgate_tls_certificate_seconds_left',
    'Until the certificate of the proxy port ends; below 0 it has. Absent where the port speaks plain HTTP.',
    ({ supervisor, nowMs }) =>
      supervisor?.certificate === undefined ? null : (supervisor.certificate.validToMs - nowMs) / 1_000,
  ),
  gauge(
    'tollgate_tls_files_refused',
    '1: the files of certificate and key hold no usable pair, and the pair before stays in force.',
    (s) => (s.supervisor?.certificate === undefined ? null : s.supervisor.certificate.problem !== null),
  ),
  gauge('tollgate_proxy_resident_memory_bytes', 'Resident memory of all proxy processes.', (s) =>
    sumProxies(s, ({ metrics }) => metrics?.rssBytes),
  ),
  {
    name: 'tollgate_step_seconds',
    help: 'Time of each step of the calls, as docs/request-path.md draws them, since the control process started. With TOLLGATE_TRACE_STEPS=yes.',
    type: 'histogram',
    labels: ['step'],
    read: ({ proxies }) =>
      Object.entries(proxies.steps).flatMap(([step, { counts, seconds }]): MetricSample[] => {
        let value = 0;
        const buckets = counts.map((count, index): MetricSample => {
          value += count;
          return { part: '_bucket', labels: { step, le: String(STEP_BOUNDS_SECONDS[index] ?? '+Inf') }, value };
        });
        return [
          ...buckets,
          { part: '_sum', labels: { step }, value: seconds },
          { part: '_count', labels: { step }, value },
        ];
      }),
  },
];

const STORAGE: readonly MetricDefinition[] = [
  gauge('tollgate_spool_bytes', 'Bytes of all files in the spool.', (s) => s.spool?.bytes),
  gauge(
    'tollgate_spool_limit_bytes',
    'Limit of the spool: bodies are dropped at 70 % of it, details at 85 %, records at 95 %.',
    (s) => s.spool?.limitBytes,
  ),
  gauge('tollgate_spool_disk_low', '1: the disk of the data directory is nearly full.', (s) => s.spool?.isDiskLow),
  gauge('tollgate_spool_pending_bytes', 'Bytes of records that are on their way to the disk.', (s) =>
    sumProxies(s, ({ metrics }) => metrics?.spoolPendingBytes),
  ),
  gauge(
    'tollgate_spool_oldest_age_seconds',
    'Since the oldest call in the spool that is not stored began; 0 when none waits.',
    (s) => (s.ledger === null ? null : (secondsSince(s.ledger.oldestWaitingMs, s.nowMs) ?? 0)),
  ),
  gauge('tollgate_drain_lag_seconds', 'Since everything in the spool had last been stored.', (s) =>
    secondsSince(s.shipper?.drainedAtMs, s.nowMs),
  ),
  counter(
    'tollgate_shipper_rows_total',
    'Rows that the shipper inserted since the control process started.',
    (s) => s.shipper?.rows,
  ),
  counter('tollgate_shipper_batches_total', 'Batches that it stored.', (s) => s.shipper?.batches),
  counter('tollgate_shipper_failures_total', 'Times that the database could not be used.', (s) => s.shipper?.failures),
  gauge('tollgate_shipper_waiting', '1: records wait because the database cannot be used.', (s) =>
    s.shipper === null ? null : s.shipper.waitingFor !== null,
  ),
  counter(
    'tollgate_shipper_sanitised_total',
    'Records that were stored in a safe form after the database had refused them.',
    (s) => s.shipper?.sanitised,
  ),
  counter(
    'tollgate_shipper_interrupted_total',
    'Calls that were stored as interrupted: their process died.',
    (s) => s.shipper?.interrupted,
  ),
  counter('tollgate_shipper_quarantined_total', 'Records that were put aside.', (s) => s.shipper?.quarantined),
  counter(
    'tollgate_shipper_unread_texts_total',
    'Calls stored without the text of their bodies, which could not be read.',
    (s) => s.shipper?.unreadTexts,
  ),
  counter(
    'tollgate_spool_corrupt_bytes_total',
    'Damaged bytes of the spool that were stepped over.',
    (s) => s.shipper?.corruptBytes,
  ),
  gauge(
    'tollgate_quarantine_files',
    'Files in the quarantine: records and damaged segments.',
    (s) => s.quarantinedFiles,
  ),
];

const STATES: readonly ChildStatus['state'][] = [
  'starting',
  'ready',
  'restarting',
  'crash_loop',
  'draining',
  'stopping',
];

const NODE_STATES: readonly StoredNode['state'][] = ['live', 'silent', 'stopped'];

const GATEWAY: readonly MetricDefinition[] = [
  {
    name: 'tollgate_processes',
    help: 'Processes of the gateway by role and state.',
    type: 'gauge',
    labels: ['role', 'state'],
    read: ({ supervisor }) =>
      listRoles(supervisor?.children ?? []).flatMap(([role, children]) =>
        STATES.map((state) => ({
          labels: { role, state },
          value: children.filter((child) => child.state === state).length,
        })),
      ),
  },
  {
    name: 'tollgate_process_restarts_total',
    help: 'Processes that were started again after they had ended, by role, since the gateway started.',
    type: 'counter',
    labels: ['role'],
    read: ({ supervisor }) =>
      listRoles(supervisor?.children ?? []).map(([role, children]) => ({
        labels: { role },
        value: children.reduce((sum, { restarts }) => sum + restarts, 0),
      })),
  },
  gauge('tollgate_database_up', '1: the database answers.', (s) => s.isDatabaseUp),
  gauge(
    'tollgate_embedded_postgres_up',
    '1: the embedded PostgreSQL runs; absent when the database is another one.',
    (s) => {
      const postgres = s.supervisor?.children.find(({ role }) => role === 'postgres');
      return postgres === undefined ? null : postgres.state === 'ready';
    },
  ),
  counter(
    'tollgate_admin_wrong_tokens_total',
    'Wrong tokens that were sent to the admin port, since the control process started.',
    (s) => s.access.wrongTokens,
  ),
  counter(
    'tollgate_admin_connections_closed_total',
    'Connections to the admin port that had shown no credential and were closed for want of places, since the control process started.',
    (s) => s.access.closedConnections,
  ),
  {
    name: 'tollgate_nodes',
    help: 'Nodes that share the database, by state; silent: no sign of life for 15 minutes.',
    type: 'gauge',
    labels: ['state'],
    read: ({ nodes }) =>
      nodes === null
        ? []
        : NODE_STATES.map((state) => ({
            labels: { state },
            value: nodes.filter((node) => node.state === state).length,
          })),
  },
  gauge(
    'tollgate_silent_nodes_records_waiting',
    'Records that silent nodes had in their spools when they were last seen.',
    (s) =>
      s.nodes
        ?.filter(({ state }) => state === 'silent')
        .reduce((sum, { recordsWaiting }) => sum + (recordsWaiting ?? 0), 0),
  ),
  gauge('tollgate_clock_skew_seconds', 'The clock of this machine less that of the database.', (s) =>
    s.clock.skewMs === null ? null : s.clock.skewMs / 1_000,
  ),
  gauge(
    'tollgate_nodes_clock_wrong',
    'Live nodes whose clock is more than two minutes away from that of the database.',
    (s) => s.nodes?.filter(({ state, clockSkewMs }) => state === 'live' && Math.abs(clockSkewMs) > MAX_SKEW_MS).length,
  ),
  gauge('tollgate_jobs_running', 'Jobs that run or wait for their turn.', (s) => s.jobsRunning),
  {
    name: 'tollgate_build_info',
    help: 'The version that runs; the value is 1.',
    type: 'gauge',
    labels: ['version'],
    read: ({ version }) => [{ labels: { version }, value: 1 }],
  },
];

function sumProxies({ supervisor }: MetricsSnapshot, read: (child: ChildStatus) => number | undefined): number | null {
  if (supervisor === null) return null;
  return supervisor.children.reduce((sum, child) => sum + (read(child) ?? 0), 0);
}

function listRoles(children: readonly ChildStatus[]): [ChildStatus['role'], readonly ChildStatus[]][] {
  return [...Map.groupBy(children, ({ role }) => role)];
}

export const METRICS: readonly MetricDefinition[] = [
  ...ACCOUNTS,
  ...PROXIES,
  ...STORAGE,
  ...BRAKES_AND_ALERTS,
  ...BUDGETS,
  ...GATEWAY,
];
