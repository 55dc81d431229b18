/** Judges the ledger of calls for `doctor` and `verify`: whether it balances, and what happened to the rest. Pure. */
import { z } from 'zod';
import { formatDuration, formatExactCount } from '../vocabulary/format-amounts.ts';
import type { Finding } from './finding.ts';
import { terminalText } from './terminal-text.ts';

export const Ledger = z.object({
  accepted: z.number(),
  stored: z.number(),
  spooled: z.number(),
  in_flight: z.number(),
  set_aside: z.number(),
  lost: z.number(),
  missing: z.number(),
  difference: z.number(),
  ended: z.number(),
  found: z.number(),
  is_whole: z.boolean(),
  oldest_waiting_at: z.string().nullable(),
  unaccounted: z.array(z.object({ name: z.string(), reason: z.string() })),
  unaccounted_total: z.number(),
  losses: z.array(z.object({ minute: z.string() })),
});
export type Ledger = z.infer<typeof Ledger>;

export const Quarantine = z.object({
  total: z.number(),
  data: z.array(
    z.object({ kind: z.string(), id: z.string().nullable(), reason: z.string().nullable(), set_aside_at: z.string() }),
  ),
});

const REASONS: Readonly<Record<string, string>> = {
  older_release: 'an older release wrote them, which did not count',
  tally_lost: 'the count is lost, could not be written yet (a full disk), or an older release stored a part',
};

/** A loss is a problem for this long, and history afterwards. */
const RECENT_LOSS_MS = 24 * 3_600_000;

/** Calls go on during a reading, so a difference counts only when two readings show it. */
export function isUnbalanced(first: Ledger, second: Ledger): boolean {
  return (first.difference > 0 && second.difference > 0) || (first.is_whole && first.found > second.ended);
}

export function isUncertain(ledger: Ledger): boolean {
  return ledger.difference > 0 || (ledger.is_whole && ledger.found > ledger.ended);
}

export function formatEquation(ledger: Ledger): string {
  const { accepted, stored, spooled, in_flight, set_aside, lost, is_whole } = ledger;
  const waiting = `${is_whole ? '' : 'at least '}${formatExactCount(spooled)} spooled`;
  const ends = `${formatExactCount(set_aside)} set aside + ${formatExactCount(lost)} lost`;
  return `${formatExactCount(accepted)} accepted = ${formatExactCount(stored)} stored + ${waiting} + ${formatExactCount(in_flight)} in flight + ${ends}`;
}

export function* judgeLedger(first: Ledger, second: Ledger, nowMs: number): Generator<Finding> {
  const isWrong = isUnbalanced(first, second);
  const equation = formatEquation(second);
  const gap = second.difference > 0 ? second.difference : Math.max(0, first.found - second.ended);
  yield isWrong
    ? {
        level: 'problem',
        text: `calls: do not balance: ${equation}; ${formatExactCount(gap)} are off. Keep the spool and see the gateway’s log`,
      }
    : { level: 'ok', text: `calls: ${equation}` };
  if (second.oldest_waiting_at !== null && second.spooled > 0) {
    const ageMs = nowMs - Date.parse(second.oldest_waiting_at);
    yield { level: 'note', text: `calls: the oldest that waits to be stored is ${formatDuration(ageMs)} old` };
  }
  if (second.lost > 0) yield describeLoss(second, nowMs);
  for (const [reason, directories] of Map.groupBy(second.unaccounted, (one) => one.reason))
    yield {
      level: 'note',
      text: `calls: those of ${directories.length} process directories are not in this account: ${REASONS[reason] ?? terminalText(reason)}`,
    };
}

/** Losses without a trace have no time, so they never become history. */
function describeLoss({ lost, missing, losses }: Ledger, nowMs: number): Finding {
  const isRecent = losses.some(({ minute }) => nowMs - Date.parse(minute) < RECENT_LOSS_MS);
  const traceless = missing === 0 ? '' : `, ${formatExactCount(missing)} of them without a trace of why`;
  const where = '`accounts.losses` of GET /api/v1/status says of which minute, key and model';
  const text = `calls: the records of ${formatExactCount(lost)} are lost${traceless}; ${where}`;
  return isRecent || missing > 0
    ? { level: 'problem', text: `${text}. Free space in the data directory` }
    : { level: 'note', text: `${text}; none of the last 24 hours` };
}

export function* judgeQuarantine({ total, data }: z.infer<typeof Quarantine>): Generator<Finding> {
  if (total === 0) return;
  const [latest] = data;
  const what = latest === undefined ? '' : `; the latest: ${describeItem(latest)}`;
  yield {
    level: 'problem',
    text: `quarantine: ${formatExactCount(total)} files in the folder quarantine of the data directory${what}. \`tollgate quarantine\` lists them, and what to do`,
  };
}

function describeItem({ kind, id, reason, set_aside_at }: z.infer<typeof Quarantine>['data'][number]): string {
  const what = kind === 'segment' ? 'a damaged file of the spool' : `the record of call ${terminalText(id ?? '?')}`;
  return `${what}, ${set_aside_at}${reason === null ? '' : `, ${terminalText(reason)}`}`;
}
