/** `GET /api/v1/status` as it is answered: its schema, and its parts from what the gateway knows. */
import { z } from '@hono/zod-openapi';
import type { SupervisorStatus } from '../../vocabulary/channel.ts';
import { MAX_SKEW_MS } from '../../vocabulary/clock.ts';
import { AccountsBody } from './accounts-body.ts';
import type { AccessFigures } from './admin-access.ts';
import type { NodeClockState, ShipperFigures } from './admin-deps.ts';
import type { BrakeAndAlertFigures } from './brake-and-alert-figures.ts';
import { RestartBody } from './restart-resource.ts';
import { Time } from './schemas.ts';

const MetricsBody = z.object({
  open_calls: z.number(),
  calls_total: z.number(),
  rejected_total: z.number(),
  records_lost: z.number().describe('Records that could not be written since the process started'),
  rss_bytes: z.number(),
});

const ProcessBody = z
  .object({
    role: z.enum(['proxy', 'control', 'postgres', 'demo']),
    pid: z.number().int().nullable(),
    state: z
      .enum(['starting', 'ready', 'restarting', 'crash_loop', 'draining', 'stopping'])
      .describe('`draining`: takes no new call, ends when the open ones have; `crash_loop`: ends again and again'),
    started_at: Time,
    restarts: z.number().int(),
    recent_exits: z.number().int().describe('How often it ended unasked within the last five minutes'),
    last_exit: z.string().nullable().describe('Why the run before ended'),
    metrics: MetricsBody.nullable(),
  })
  .openapi('Process');

const SettingBody = z
  .object({
    name: z.string().describe('Environment variable, or the flag where there is none'),
    value: z.string().nullable().describe('Null when not set; `(set)` for a secret'),
    source: z.enum(['flag', 'environment', 'file', 'default']),
  })
  .openapi('Setting');

const TlsBody = z
  .object({
    valid_from: Time,
    valid_to: Time,
    names: z.array(z.string()).describe('Hosts that the certificate is valid for'),
    problem: z.string().nullable().describe('Why the pair in the files is not in force; null when it is'),
    failed_handshakes: z.number().int().describe('Of the proxy processes that run'),
    latest_failed_handshake: z.string().nullable().describe('Why a last one failed, in OpenSSL’s words'),
  })
  .openapi('Tls');

const RecordsBody = z.object({
  rows: z.number().int(),
  sanitised: z.number().int(),
  quarantined: z.number().int(),
  interrupted: z.number().int(),
  corrupt_bytes: z.number().int(),
  waiting_for: z.string().nullable().describe('Why the database cannot be used now'),
  drained_at: Time.nullable().describe('When everything in the spool had last been stored'),
  directories: z.number().int(),
  broken_directories: z.number().int(),
});

export const StatusBody = z
  .object({
    version: z.string(),
    role: z.enum(['all', 'control']).describe('Of this node; one that only takes calls has no API'),
    base_url: z.string().describe('Where clients reach the proxy'),
    started_at: Time.nullable(),
    processes: z.array(ProcessBody),
    restart: RestartBody.nullable().describe('Restarts on request; null when the supervisor does not answer'),
    database: z.object({
      state: z.enum(['up', 'down']),
      version: z.string().nullable(),
      size_bytes: z.number().nullable(),
      calls: z.number().nullable().describe('Calls in the log'),
      oldest_requested_at: Time.nullable(),
      search_days_waiting: z
        .number()
        .int()
        .nullable()
        .describe('Days of before an upgrade that the index of the search does not have yet: a search reads them'),
      problem: z
        .string()
        .nullable()
        .describe('Why it cannot be used yet, such as a lock and who holds it, or what is odd about it'),
    }),
    records: RecordsBody.nullable().describe('How far the shipper is; null before it runs'),
    spool: z
      .object({
        bytes: z.number().describe('Records and bodies that wait, or are kept until their file is full'),
        limit_bytes: z.number().describe('Near it bodies are dropped first, then records'),
        is_disk_low: z.boolean(),
      })
      .nullable()
      .describe('Files on this machine; null when they cannot be read'),
    accounts: AccountsBody.nullable().describe('What became of every call; null when the spool cannot be read'),
    jobs_running: z.number().int().nullable().describe('Jobs that run or wait; null when that is not known'),
    clock: z
      .object({
        skew_ms: z.number().int().nullable().describe('The machine’s clock less that of the database; null: not known'),
        is_trusted: z.boolean().describe('False beyond two minutes: then nothing is deleted by this node'),
        stepped_at: Time.nullable().describe('When the machine’s clock last jumped'),
        step_ms: z.number().int().nullable(),
      })
      .describe('Of this node'),
    price_version: z.string().nullable(),
    access: z
      .object({
        wrong_tokens: z.number().int().describe('Wrong tokens that were sent to the admin port'),
        latest_wrong_token: z.object({ at: Time, from: z.string().describe('Address of the client') }).nullable(),
        closed_connections: z
          .number()
          .int()
          .describe('Connections without a credential that were closed because there were too many'),
      })
      .describe('At the door of the admin port, since the control process started'),
    brakes: z
      .object({
        paused_runs: z.number().int(),
        paused_keys: z.number().int(),
        hits_last_hour: z.number().int().describe('Of rules, without pauses by hand'),
      })
      .nullable()
      .describe('In all accounts; null while the database does not answer'),
    alerts: z
      .object({
        in_trouble: z.number().int().describe('Alerts that could not be looked at the last time'),
        waiting: z.number().int().describe('Deliveries that are to be sent'),
        retried: z.number().int().describe('Of those, the ones that were not taken at least once'),
        undelivered: z.number().int().describe('Given up, of what was found within the last day'),
      })
      .nullable()
      .describe('In all accounts; null while the database does not answer'),
    tls: TlsBody.nullable().describe('Null where the proxy port speaks plain HTTP'),
    settings: z.array(SettingBody).describe('In force; secrets are not shown'),
  })
  .openapi('Status');

export type Status = z.infer<typeof StatusBody>;

export function formatProcess(child: SupervisorStatus['children'][number]): z.infer<typeof ProcessBody> {
  const { metrics } = child;
  return {
    role: child.role,
    pid: child.pid,
    state: child.state,
    started_at: new Date(child.startedAtMs).toISOString(),
    restarts: child.restarts,
    recent_exits: child.recentExits,
    last_exit: child.lastExit,
    metrics:
      metrics === null
        ? null
        : {
            open_calls: metrics.openCalls,
            calls_total: metrics.callsTotal,
            rejected_total: metrics.rejectedTotal,
            records_lost: metrics.recordsLost,
            rss_bytes: metrics.rssBytes,
          },
  };
}

export function formatTls(supervisor: SupervisorStatus | null): Status['tls'] {
  if (supervisor?.certificate === undefined) return null;
  const { validFromMs, validToMs, names, problem } = supervisor.certificate;
  const proxies = supervisor.children.flatMap(({ metrics }) => (metrics === null ? [] : [metrics]));
  return {
    valid_from: new Date(validFromMs).toISOString(),
    valid_to: new Date(validToMs).toISOString(),
    names: [...names],
    problem,
    failed_handshakes: proxies.reduce((sum, { failedHandshakes = 0 }) => sum + failedHandshakes, 0),
    latest_failed_handshake:
      proxies.map(({ latestFailedHandshake }) => latestFailedHandshake).find((reason) => reason !== undefined) ?? null,
  };
}

export function formatAccess({ wrongTokens, latestWrongToken, closedConnections }: AccessFigures): Status['access'] {
  return {
    wrong_tokens: wrongTokens,
    latest_wrong_token:
      latestWrongToken === null
        ? null
        : { at: new Date(latestWrongToken.atMs).toISOString(), from: latestWrongToken.from },
    closed_connections: closedConnections,
  };
}

export function formatFigures(figures: BrakeAndAlertFigures | null): Pick<Status, 'brakes' | 'alerts'> {
  if (figures === null) return { brakes: null, alerts: null };
  const { brakes, alerts } = figures;
  return {
    brakes: { paused_runs: brakes.pausedRuns, paused_keys: brakes.pausedKeys, hits_last_hour: brakes.hitsLastHour },
    alerts: {
      in_trouble: alerts.inTrouble,
      waiting: alerts.waiting,
      retried: alerts.retried,
      undelivered: alerts.undelivered,
    },
  };
}

export function formatClock({ skewMs, steppedAtMs, stepMs }: NodeClockState): z.infer<typeof StatusBody>['clock'] {
  return {
    skew_ms: skewMs,
    is_trusted: skewMs !== null && Math.abs(skewMs) <= MAX_SKEW_MS,
    stepped_at: steppedAtMs === null ? null : new Date(steppedAtMs).toISOString(),
    step_ms: stepMs,
  };
}

export function formatRecords(shipper: ShipperFigures | null): z.infer<typeof RecordsBody> | null {
  if (shipper === null) return null;
  return {
    rows: shipper.rows,
    sanitised: shipper.sanitised,
    quarantined: shipper.quarantined,
    interrupted: shipper.interrupted,
    corrupt_bytes: shipper.corruptBytes,
    waiting_for: shipper.waitingFor,
    drained_at: shipper.drainedAtMs === null ? null : new Date(shipper.drainedAtMs).toISOString(),
    directories: shipper.directories,
    broken_directories: shipper.brokenDirectories,
  };
}
