/** What of the gateway's state needs someone's attention, in words that say what to do. */

import type { Status } from '../../../../src/control/admin/status-body.ts';
import { formatExactCount } from '../../../../src/vocabulary/format-amounts.ts';
import { describeClock } from './describe-node.ts';

/** A loss needs attention for as long; later it is history, which stays in the account. As in `tollgate doctor`. */
const RECENT_LOSS_MS = 24 * 3_600_000;

/** A wrong token is worth a look for as long. */
const RECENT_GUESS_MS = 24 * 3_600_000;

/** As in `tollgate doctor`. */
const CERTIFICATE_SOON_MS = 21 * 24 * 3_600_000;

/** As many within five minutes are a crash loop, also when the process runs at the moment. */
const CRASH_LOOP_EXITS = 5;

function count(number: number, one: string, several: string): string {
  return `${formatExactCount(number)} ${number === 1 ? one : several}`;
}

export function describeState(state: string): string {
  return state.replaceAll('_', ' ');
}

function isLossRecent({ losses, missing }: NonNullable<Status['accounts']>, nowMs: number): boolean {
  return missing > 0 || losses.some(({ minute }) => nowMs - Date.parse(minute) < RECENT_LOSS_MS);
}

function findAccountProblems(accounts: NonNullable<Status['accounts']>, nowMs: number): readonly string[] {
  const problems: string[] = [];
  if (accounts.lost > 0 && isLossRecent(accounts, nowMs))
    problems.push(
      `Calls whose records are lost: ${formatExactCount(accounts.lost)}. Is the disk of the data directory full?`,
    );
  if (accounts.difference > 0)
    problems.push(`${count(accounts.difference, 'call has', 'calls have')} ended, and no record of it can be found.`);
  return problems;
}

/** `lost`: calls that the account of all calls knows to be lost. A process that began on a full disk cannot keep one. */
function findProcessProblems(process: Status['processes'][number], lost: number): readonly string[] {
  const { role, state, recent_exits, last_exit, metrics } = process;
  const problems: string[] = [];
  const how = last_exit ?? 'it ended';
  if (recent_exits >= CRASH_LOOP_EXITS)
    problems.push(
      `The ${role} process ended ${recent_exits} times in the last five minutes (${how}); its own lines in the gateway's log say why.`,
    );
  else if (state === 'restarting')
    problems.push(`The ${role} process is being started again (${how}); see the gateway's log.`);
  if (metrics !== null && metrics.records_lost > lost)
    problems.push(
      `The ${role} process could not write ${count(metrics.records_lost, 'record', 'records')}. Make room on the disk of the data directory.`,
    );
  return problems;
}

function findAccessProblems({ access }: Status, nowMs: number): readonly string[] {
  const { wrong_tokens, latest_wrong_token: latest } = access;
  if (latest === null || nowMs - Date.parse(latest.at) >= RECENT_GUESS_MS) return [];
  return [
    `${count(wrong_tokens, 'wrong token was', 'wrong tokens were')} sent to this port, most recently from ${latest.from}. If that was not one of you, check who can reach this port.`,
  ];
}

function findTlsProblems({ tls }: Status, nowMs: number): readonly string[] {
  if (tls === null) return [];
  const endMs = Date.parse(tls.valid_to);
  const day = tls.valid_to.slice(0, 10);
  const ends =
    endMs <= nowMs
      ? [`The certificate of the proxy port ended on ${day}, and clients refuse it. Renew it.`]
      : endMs - nowMs < CERTIFICATE_SOON_MS
        ? [`The certificate of the proxy port ends on ${day}. Renew it.`]
        : [];
  return tls.problem === null ? ends : [...ends, `The previous certificate stays in use: ${tls.problem}.`];
}

function findAlertProblems({ alerts }: Status): readonly string[] {
  if (alerts === null) return [];
  const problems: string[] = [];
  if (alerts.in_trouble > 0)
    problems.push(`${count(alerts.in_trouble, 'alert', 'alerts')} could not be looked at: see Brakes & alerts.`);
  if (alerts.undelivered > 0)
    problems.push(
      `${count(alerts.undelivered, 'delivery', 'deliveries')} of alerts of the last day did not reach anybody: see Brakes & alerts.`,
    );
  return problems;
}

/** `quarantined`: files in the quarantine, as far as that is known. */
export function findProblems(status: Status, quarantined: number, nowMs: number): readonly string[] {
  const problems: string[] = [];
  const { state, problem } = status.database;
  if (state === 'down')
    problems.push(
      `${problem === null ? 'The database does not answer.' : `The database is not used: ${problem}.`} Calls go on, their records wait in the spool and are stored later.`,
    );
  else if (problem !== null) problems.push(`The database: ${problem}.`);
  if (state === 'up' && status.records?.waiting_for != null)
    problems.push(`Records wait in the spool, because: ${status.records.waiting_for}`);
  if (status.clock.skew_ms !== null && !status.clock.is_trusted)
    problems.push(
      `The clock of this machine is ${describeClock(status.clock.skew_ms)} by the database’s. Calls are dated by that one, and this node deletes nothing; set the clock.`,
    );
  if (status.processes.length === 0) problems.push('The supervisor does not answer; start the gateway again.');
  problems.push(...status.processes.flatMap((process) => findProcessProblems(process, status.accounts?.lost ?? 0)));
  const { accounts } = status;
  if (accounts === null) problems.push('The spool cannot be read, so nobody knows what waits in it.');
  else problems.push(...findAccountProblems(accounts, nowMs));
  if (status.spool?.is_disk_low === true)
    problems.push('The disk of the data directory is nearly full: bodies are dropped first, then records.');
  problems.push(...findAccessProblems(status, nowMs));
  problems.push(...findTlsProblems(status, nowMs));
  problems.push(...findAlertProblems(status));
  if (quarantined > 0)
    problems.push(`${count(quarantined, 'file is', 'files are')} in the quarantine: see Quarantine below.`);
  return problems;
}
