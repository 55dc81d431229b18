/** Turns the gateway's status into findings for `doctor`, with advice. Pure. */
import { z } from 'zod';
import { formatBytes, formatDuration } from '../vocabulary/format-amounts.ts';
import type { Finding } from './finding.ts';
import { Alerts, Brakes, judgeBrakesAndAlerts } from './judge-brakes-and-alerts.ts';
import { judgeAnswer, judgeCertificate, Tls } from './judge-certificate.ts';
import { Ledger } from './judge-ledger.ts';
import { terminalText } from './terminal-text.ts';

/** Fields of `GET /api/v1/status`; optional ones are absent from older gateways. */
export const Status = z.object({
  version: z.string(),
  role: z.enum(['all', 'control']).default('all'),
  base_url: z.string(),
  processes: z.array(
    z.object({
      role: z.string(),
      state: z.string(),
      restarts: z.number(),
      recent_exits: z.number().default(0),
      last_exit: z.string().nullable(),
      metrics: z.object({ open_calls: z.number(), calls_total: z.number(), records_lost: z.number() }).nullable(),
    }),
  ),
  database: z.object({
    state: z.enum(['up', 'down']),
    version: z.string().nullable(),
    size_bytes: z.number().nullable(),
    search_days_waiting: z.number().nullish(),
    problem: z.string().nullish(),
  }),
  records: z.object({ waiting_for: z.string().nullable(), drained_at: z.string().nullable() }).nullable(),
  spool: z.object({ bytes: z.number(), limit_bytes: z.number(), is_disk_low: z.boolean() }).nullish(),
  accounts: Ledger.nullable(),
  price_version: z.string().nullable(),
  tls: Tls,
  brakes: Brakes,
  alerts: Alerts,
  access: z
    .object({
      wrong_tokens: z.number(),
      latest_wrong_token: z.object({ at: z.string(), from: z.string() }).nullable(),
      closed_connections: z.number(),
    })
    .nullish(),
});

export const Attempts = z.object({
  data: z.array(
    z.object({
      at: z.string(),
      code: z.string(),
      path: z.string(),
      client_address: z.string().nullish(),
      verdict: z.string().default(''),
    }),
  ),
});

export const PriceWarnings = z.object({ warnings: z.array(z.string()) });

/** This many within five minutes are a crash loop, even when the process runs at the moment. */
const CRASH_LOOP_EXITS = 5;

/** Records arrive within about a second; beyond this something delays them. */
const LATE_MS = 10_000;

function* judgeProcesses({ processes, accounts }: z.infer<typeof Status>): Generator<Finding> {
  if (processes.length === 0)
    yield { level: 'problem', text: 'the supervisor does not answer; start the gateway again' };
  for (const { role, state, restarts, recent_exits, last_exit, metrics } of processes) {
    const calls = metrics === null ? '' : `, ${metrics.open_calls} calls open, ${metrics.calls_total} in all`;
    const again = restarts === 0 ? '' : `, restarted ${restarts}× (last: ${last_exit ?? 'unknown'}; its log says why)`;
    if (state === 'draining') {
      yield { level: 'note', text: `process ${role}: replaced, ends with its last connection${calls}` };
      continue;
    }
    if (recent_exits >= CRASH_LOOP_EXITS) {
      const how = `ended ${recent_exits}× in the last five minutes, lastly by ${terminalText(last_exit ?? 'unknown')}`;
      yield { level: 'problem', text: `process ${role}: ${state}${calls}, ${how}; its own lines in the log say why` };
    } else {
      const level = state !== 'ready' ? 'problem' : restarts > 0 ? 'note' : 'ok';
      yield { level, text: `process ${role}: ${state}${calls}${again}` };
    }
    // The ledger's losses are judged there. A process that began on a full disk cannot keep one.
    if (metrics !== null && metrics.records_lost > (accounts?.lost ?? 0))
      yield {
        level: 'problem',
        text: `process ${role}: ${metrics.records_lost} records could not be written; free space in the data directory`,
      };
  }
}

function* judgeRecords({ database, records, accounts }: z.infer<typeof Status>, nowMs: number): Generator<Finding> {
  const problem = terminalText(database.problem ?? '');
  if (database.state === 'down')
    yield {
      level: 'problem',
      text: `database: ${problem === '' ? 'down' : `not used, because: ${problem}`}. Calls are proxied and their records wait in the spool; check the database’s log, or DATABASE_URL`,
    };
  else {
    if (problem !== '') yield { level: 'note', text: `database: ${problem}` };
    yield { level: 'ok', text: `database: PostgreSQL ${database.version ?? '?'}, ${formatBytes(database.size_bytes)}` };
    const waiting = database.search_days_waiting ?? 0;
    if (waiting > 0)
      yield {
        level: 'note',
        text: `search: ${waiting} ${waiting === 1 ? 'day waits' : 'days wait'} for the index, the newest first; until then a search reads them, and takes longer`,
      };
  }
  if (records === null) return;
  const behindMs = records.drained_at === null ? null : nowMs - Date.parse(records.drained_at);
  if (records.waiting_for !== null)
    yield { level: 'problem', text: `records: wait in the spool, because: ${terminalText(records.waiting_for)}` };
  else if (behindMs === null || behindMs > LATE_MS)
    yield {
      level: 'note',
      text: `records: catching up${behindMs === null ? '' : `, ${formatDuration(behindMs)} behind`}`,
    };
  else if ((accounts?.spooled ?? 0) > 0) yield { level: 'ok', text: 'records: are being stored' };
  else yield { level: 'ok', text: 'records: all stored' };
}

/** Bodies are dropped from here on, as in the spool itself. */
const SPOOL_BODIES_UNTIL = 0.7;

function* judgeSpool({ spool }: z.infer<typeof Status>): Generator<Finding> {
  if (spool === null || spool === undefined) return;
  const { bytes, limit_bytes, is_disk_low } = spool;
  const share = bytes / limit_bytes;
  const isShort = share >= SPOOL_BODIES_UNTIL;
  const full = `spool: ${formatBytes(bytes)} of ${formatBytes(limit_bytes)} (${Math.floor(share * 100)} %)`;
  if (!isShort) yield { level: 'ok', text: full };
  else
    yield {
      level: 'problem',
      text: `${full}: bodies are not kept, at 85 % details neither, at 95 % no records; see why they wait`,
    };
  if (is_disk_low)
    yield {
      level: 'problem',
      text: 'disk: the one of the data directory is nearly full, so that bodies are not kept; make room on it',
    };
}

/** Counts of refused access, since the control process started. */
function* judgeAccess({ access }: z.infer<typeof Status>): Generator<Finding> {
  if (access === null || access === undefined) return;
  const { wrong_tokens, latest_wrong_token, closed_connections } = access;
  if (latest_wrong_token !== null)
    yield {
      level: 'note',
      text: `admin port: ${wrong_tokens} wrong tokens (latest ${latest_wrong_token.at} from ${terminalText(latest_wrong_token.from)}); if that is nobody of yours, see who reaches the port`,
    };
  if (closed_connections > 0)
    yield {
      level: 'note',
      text: `admin port: ${closed_connections} connections without a credential were closed, since there were too many; its log says from where`,
    };
}

export function* judgePrices({ warnings }: z.infer<typeof PriceWarnings>): Generator<Finding> {
  for (const warning of warnings) yield { level: 'note', text: `prices: ${terminalText(warning)}` };
}

export function* judgeAttempts({ data }: z.infer<typeof Attempts>): Generator<Finding> {
  const byCode = Map.groupBy(data, ({ code }) => code);
  for (const [code, attempts] of byCode) {
    const [latest] = attempts;
    const from = latest?.client_address == null ? '' : ` from ${terminalText(latest.client_address)}`;
    const where = latest === undefined ? '' : ` (latest ${latest.at}${from} on ${terminalText(latest.path)})`;
    yield {
      level: 'note',
      text: `refused: ${attempts.length}× ${code}${where}. ${terminalText(latest?.verdict ?? '')}`.trimEnd(),
    };
  }
  if (byCode.size === 0) yield { level: 'ok', text: 'refused: nothing lately' };
}

export function* judgeStatus(
  status: z.infer<typeof Status>,
  /** The error code of a request to the proxy from here; null when it answers. */
  proxyFailure: string | null,
  nowMs: number,
): Generator<Finding> {
  yield { level: 'ok', text: `version ${status.version}` };
  // A node without proxies may be unable to reach theirs.
  if (status.role === 'control' && proxyFailure !== null)
    yield {
      level: 'note',
      text: `this node takes no calls (role control), and nothing answers at ${status.base_url}/healthz from here; TOLLGATE_PUBLIC_URL says where the nodes with the role proxy are reached`,
    };
  else yield judgeAnswer(status.base_url, proxyFailure);
  yield* judgeCertificate(status.tls, nowMs);
  yield* judgeProcesses(status);
  yield* judgeRecords(status, nowMs);
  yield* judgeSpool(status);
  yield* judgeAccess(status);
  yield* judgeBrakesAndAlerts(status.brakes, status.alerts);
  yield { level: 'ok', text: `prices: version ${status.price_version ?? 'unknown'}` };
}
