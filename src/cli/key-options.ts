/** The options that set what a key may do, of `keys create` and `keys edit`, and the body that they make. */
import type { Command } from 'commander';
import { OperatorError } from '../vocabulary/errors.ts';
import { parseSeconds } from './duration.ts';
import type { ClientFlags } from './gateway-client.ts';
import { addLimitOptions, type LimitFlags, readLimitFlags } from './limit-options.ts';

export interface KeyFlags extends ClientFlags, LimitFlags {
  readonly owner?: string;
  readonly expires?: string;
  readonly allowInAddress?: boolean;
  readonly runBudgets?: boolean;
  readonly runsFrom?: string;
  readonly usage?: string;
  readonly bodies?: string;
  readonly providers?: string;
  readonly models?: string;
  readonly aliases?: string;
  readonly endpoints?: string;
  readonly networks?: string;
}

/** Takes back what an option sets. */
const ANY = 'any';

const RUNS_FROM =
  'where the run of a call without X-Gateway-Trace-Id comes from, in this order: agents, tool_calls, traceparent, metadata.KEY, … (docs/agents.md); headers: from nowhere else';

export function addKeyOptions(command: Command): Command {
  return addLimitOptions(command)
    .option('--owner <name>', 'who answers for it: a person, a team; none: nobody')
    .option('--expires <when>', 'when it ends by itself: in 12h, 90d, …, at 2026-12-31T00:00:00Z, or never')
    .option('--providers <names>', 'its calls may go to these providers alone; any: to all')
    .option('--models <patterns>', 'its calls may use these models alone: gpt-5*,*claude-sonnet*; any: all')
    .option('--aliases <names>', 'its calls may use these aliases alone, - for the provider’s own address; any: all')
    .option('--endpoints <patterns>', 'its calls may use these endpoints alone: chat.completions,models; any: all')
    .option('--networks <ranges>', 'its calls may come from these networks alone: 10.0.0.0/8; any: from all')
    .option('--bodies <policy>', 'full or off: whether requests and answers are kept; any: as the gateway is set')
    .option('--usage <policy>', 'ask or observe: whether streams are asked for usage; any: as the gateway is set')
    .option('--run-budgets', 'its calls may set the budget of their run with X-Gateway-Budget-Usd')
    .option('--no-run-budgets', 'they may not')
    .option('--allow-in-address', 'it may stand in a base address, as http://gateway/@KEY/v1')
    .option('--no-allow-in-address', 'it may not: in the header X-Gateway-Key only')
    .option('--runs-from <sources>', RUNS_FROM);
}

/** What was not given is undefined, and stays as it is. The gateway checks the rest. */
export function readKeyFlags(flags: KeyFlags): Readonly<Record<string, unknown>> {
  return {
    owner: flags.owner === 'none' ? null : flags.owner,
    expires_at: readEnd(flags.expires, Date.now()),
    allowed_providers: readList(flags.providers),
    allowed_models: readList(flags.models),
    allowed_aliases: readList(flags.aliases),
    allowed_endpoints: readList(flags.endpoints),
    allowed_networks: readList(flags.networks),
    ...readLimitFlags(flags),
    bodies: flags.bodies === ANY ? null : flags.bodies,
    usage: flags.usage === ANY ? null : flags.usage,
    allow_in_address: flags.allowInAddress,
    allow_run_budget: flags.runBudgets,
    runs_from: flags.runsFrom === 'headers' ? [] : split(flags.runsFrom),
  };
}

function split(text: string | undefined): readonly string[] | undefined {
  return text?.split(',').map((item) => item.trim());
}

function readList(text: string | undefined): readonly string[] | null | undefined {
  return text === ANY ? null : split(text);
}

function readEnd(text: string | undefined, nowMs: number): string | null | undefined {
  if (text === undefined) return undefined;
  if (text === 'never') return null;
  if (/^\d{4}-/.test(text)) {
    if (Number.isNaN(Date.parse(text)))
      throw new OperatorError(`--expires: "${text}" is no time such as 2026-12-31T00:00:00Z`);
    return new Date(text).toISOString();
  }
  return new Date(nowMs + parseSeconds(text, '--expires') * 1_000).toISOString();
}
