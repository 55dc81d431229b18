/** Whether a rule is true of a run or key with its latest call, and by which numbers. Pure. */
import { formatUsd, parseUsd } from '../../vocabulary/usd.ts';
import type { Fact } from './brake-facts.ts';
import type { BrakeRule, Settings } from './brake-rules.ts';
import { isFailure, type SubjectHistory } from './subject-history.ts';

const MINUTE_MS = 60_000;
/** Fewer say nothing about how it was before. */
const LEAST_EARLIER_CALLS = 3;

export interface Verdict {
  /** For people; nothing of a request. */
  readonly reason: string;
  readonly numbers: Readonly<Record<string, number | string>>;
}

type Judge = (fact: Fact, history: SubjectHistory, settings: Settings) => Verdict | null;

const settingOf = (settings: Settings, name: string): number => settings[name] ?? 0;

function judgeSpeed(fact: Fact, history: SubjectHistory, settings: Settings): Verdict | null {
  const seconds = settingOf(settings, 'window_seconds');
  const busiest = history.busiest('spent', fact.atMs, seconds * 1_000);
  if (busiest === null) return null;
  const { spent, spentBefore: before, lastMs } = busiest;
  const beforeMs = lastMs - seconds * 1_000 - history.firstMs();
  // Without at least one window of before there is nothing to compare with.
  if (beforeMs < seconds * 1_000) return null;
  const least = parseUsd(settingOf(settings, 'least_usd').toFixed(6));
  if (spent < least || spent === 0n) return null;
  const windowMs = BigInt(Math.round(seconds * 1_000));
  const thousandths = BigInt(Math.round(settingOf(settings, 'factor') * 1_000));
  // As much as before in the same time, times the factor.
  const allowed = (before * thousandths * windowMs) / (1_000n * BigInt(Math.round(beforeMs)));
  if (spent < allowed) return null;
  const usual = (before * windowMs) / BigInt(Math.round(beforeMs));
  return {
    reason: `$${shortUsd(spent)} within ${seconds} s, where it was $${shortUsd(usual)} before`,
    numbers: { spent_usd: formatUsd(spent), before_usd: formatUsd(usual), ...settings },
  };
}

/** For people, to the cent or to two digits. */
function shortUsd(pico: bigint): string {
  const text = formatUsd(pico);
  const [whole = '0', fraction = ''] = text.split('.');
  const shown =
    whole === '0' ? fraction.replace(/^(0*\d{0,2}).*$/, '$1').padEnd(2, '0') : fraction.slice(0, 2).padEnd(2, '0');
  return `${whole}.${shown}`;
}

function judgeRate(fact: Fact, history: SubjectHistory, settings: Settings): Verdict | null {
  const calls = history.busiest('calls', fact.atMs, MINUTE_MS)?.calls ?? 0;
  const most = settingOf(settings, 'calls');
  if (calls <= most) return null;
  return { reason: `${calls} calls within a minute, more than ${most}`, numbers: { found: calls, ...settings } };
}

function judgeRepeats(kind: 'conversation' | 'tool_calls' | 'failure', words: string): Judge {
  return (fact, history, settings) => {
    if (kind === 'failure' && !isFailure(fact)) return null;
    const mark = { conversation: fact.conversation, tool_calls: fact.toolCalls, failure: fact.request }[kind];
    if (mark === null) return null;
    const seconds = settingOf(settings, 'window_seconds');
    const times = history.times(kind, mark, fact.atMs, seconds * 1_000);
    if (times < settingOf(settings, 'times')) return null;
    return { reason: `${words} ${times} times within ${seconds} s`, numbers: { found: times, ...settings } };
  };
}

function judgeCache(fact: Fact, history: SubjectHistory, settings: Settings): Verdict | null {
  const thread = history.thread(fact.thread);
  const calls = settingOf(settings, 'calls');
  if (thread === undefined || thread.latest.length < calls) return null;
  const latest = thread.latest.slice(-calls);
  const earlier = thread.latest.slice(0, -calls);
  const earlierCalls = thread.earlierCalls + earlier.length;
  if (earlierCalls < LEAST_EARLIER_CALLS) return null;
  const sumOf = (of: readonly { readonly prompt: number; readonly cached: number }[], name: 'prompt' | 'cached') =>
    of.reduce((sum, one) => sum + one[name], 0);
  const earlierPrompt = thread.earlierPrompt + sumOf(earlier, 'prompt');
  const before = (100 * (thread.earlierCached + sumOf(earlier, 'cached'))) / Math.max(1, earlierPrompt);
  if (before < settingOf(settings, 'before_percent')) return null;
  const most = settingOf(settings, 'after_percent');
  const isCollapsed = latest.every(
    ({ prompt, cached }) => prompt >= settingOf(settings, 'least_tokens') && (100 * cached) / prompt <= most,
  );
  if (!isCollapsed || sumOf(latest, 'prompt') / calls < earlierPrompt / earlierCalls) return null;
  const after = (100 * sumOf(latest, 'cached')) / sumOf(latest, 'prompt');
  return {
    reason: `${Math.round(after)} % of its prompts came from the cache in the last ${calls} calls, ${Math.round(before)} % before`,
    numbers: { found_percent: Math.round(after), was_percent: Math.round(before), ...settings },
  };
}

function judgeUnpriced(fact: Fact, history: SubjectHistory, settings: Settings): Verdict | null {
  if (!fact.isUnpriced) return null;
  const seconds = settingOf(settings, 'window_seconds');
  const calls = history.busiest('unpriced', fact.atMs, seconds * 1_000)?.unpriced ?? 0;
  if (calls < settingOf(settings, 'calls')) return null;
  return { reason: `${calls} calls without a price within ${seconds} s`, numbers: { found: calls, ...settings } };
}

export const JUDGES: Readonly<Record<BrakeRule, Judge>> = {
  spend_speed: judgeSpeed,
  call_rate: judgeRate,
  same_prefix: judgeRepeats('conversation', 'the same conversation was sent'),
  same_tool_call: judgeRepeats('tool_calls', 'the same tool was called with the same arguments'),
  cache_collapse: judgeCache,
  retries: judgeRepeats('failure', 'the same request failed or was tried again'),
  unpriced: judgeUnpriced,
};
