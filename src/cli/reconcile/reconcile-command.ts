/** `tollgate reconcile`: compares a provider's bill with the log, by day and model. */
import { type Command, Option } from 'commander';
import { OperatorError } from '../../vocabulary/errors.ts';
import { parseUsd } from '../../vocabulary/usd.ts';
import { repeatable } from '../command-options.ts';
import { type ClientFlags, createGatewayClient } from '../gateway-client.ts';
import { createOutput } from '../output.ts';
import { cutText, terminalText } from '../terminal-text.ts';
import { fetchReport } from './fetch-report.ts';
import { formatReconciliation } from './format-reconciliation.ts';
import { priceTokenDrift } from './price-token-drift.ts';
import { readLogged } from './read-logged.ts';
import { readReportFiles } from './read-report-files.ts';
import { listJsonRows } from './reconcile-json.ts';
import { collectReport, type Report, type ReportText } from './report/collect-report.ts';
import { compareReport } from './report/compare-report.ts';
import type { Tolerance } from './report/comparison.ts';
import { explainComparison } from './report/explain-comparison.ts';
import {
  dayOf,
  dayStartMs,
  nextDay,
  REPORT_PROVIDERS,
  ReportError,
  type ReportProvider,
} from './report/provider-report.ts';

interface ReconcileFlags extends ClientFlags {
  readonly provider: ReportProvider;
  readonly file: readonly string[];
  readonly live?: true;
  readonly from?: string;
  readonly to?: string;
  readonly tolerance: string;
  readonly filter: readonly string[];
}

const DRIFT_EXIT = 2;
const LIVE_DAYS = 7;
const MAX_FILES = 200;
const MAX_MESSAGE_CHARACTERS = 600;
const NAMES: Readonly<Record<ReportProvider, string>> = { openai: 'OpenAI', anthropic: 'Anthropic' };

function readDay(flag: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(dayStartMs(text)) || dayOf(dayStartMs(text)) !== text)
    throw new OperatorError(
      `${flag}: ${JSON.stringify(text)} is not a day such as 2026-11-26; providers count in days of UTC`,
    );
  return text;
}

function readTolerance(text: string): Tolerance {
  const share = /^(\d{1,3})(?:\.(\d{1,4}))?\s*%$/.exec(text);
  if (share !== null) {
    const [, whole = '0', fraction = ''] = share;
    return { type: 'share', millionths: BigInt(whole + fraction.padEnd(4, '0')) };
  }
  if (!/^\d{1,9}(?:\.\d{1,12})?$/.test(text))
    throw new OperatorError(`--tolerance: ${JSON.stringify(text)} is neither dollars (0.01) nor a share (0.5%)`);
  return { type: 'amount', amount: parseUsd(text) };
}

function chooseLiveDays(flags: ReconcileFlags, nowMs: number): { readonly from: string; readonly to: string } {
  const to = readDay('--to', flags.to) ?? dayOf(nowMs);
  const from = readDay('--from', flags.from) ?? dayOf(dayStartMs(to) - LIVE_DAYS * 86_400_000);
  if (from >= to) throw new OperatorError('--to has to be after --from; it is exclusive');
  return { from, to };
}

async function readTexts(flags: ReconcileFlags, nowMs: number): Promise<readonly ReportText[]> {
  if (flags.live === true) {
    if (flags.file.length > 0) throw new OperatorError('give either --file or --live');
    return fetchReport(flags.provider, chooseLiveDays(flags, nowMs), process.env);
  }
  if (flags.file.length === 0)
    throw new OperatorError(
      'give the exported report with --file (as often as there are files), or fetch it with --live; docs/reconcile.md says how to export one',
    );
  if (flags.file.length > MAX_FILES) throw new OperatorError(`--file: at most ${MAX_FILES} files`);
  return readReportFiles(flags.file);
}

function readReport(provider: ReportProvider, texts: readonly ReportText[]): Report {
  try {
    return collectReport(provider, texts);
  } catch (error) {
    if (error instanceof ReportError)
      throw new OperatorError(cutText(terminalText(error.message), MAX_MESSAGE_CHARACTERS), { cause: error });
    throw error;
  }
}

function chooseDays(report: Report, flags: ReconcileFlags): Report['days'] {
  const from = readDay('--from', flags.from);
  const to = readDay('--to', flags.to);
  const within = (day: string) => (from === null || day >= from) && (to === null || day < to);
  const days = { cost: report.days.cost.filter(within), usage: report.days.usage.filter(within) };
  if (days.cost.length + days.usage.length === 0)
    throw new OperatorError(
      `the report has no day in this time; it reaches from ${[...report.days.cost, ...report.days.usage].sort()[0]} to ${[...report.days.cost, ...report.days.usage].sort().at(-1)}`,
    );
  return days;
}

async function reconcile(flags: ReconcileFlags): Promise<void> {
  const nowMs = Date.now();
  const tolerance = readTolerance(flags.tolerance);
  const report = readReport(flags.provider, await readTexts(flags, nowMs));
  const days = chooseDays(report, flags);
  const all = [...new Set([...days.cost, ...days.usage])].sort();
  const client = createGatewayClient(flags);
  const { rows: logged, firstDay } = await readLogged(client, all, [`provider:eq:${flags.provider}`, ...flags.filter]);
  const [from = '', to = from] = [all[0], all.at(-1)];
  const notices = [
    ...report.notices,
    ...(firstDay === null || from < firstDay
      ? [
          firstDay === null
            ? 'The log has no calls at all.'
            : `The log begins on ${firstDay}: days before it cannot agree.`,
        ]
      : []),
  ];
  const compared = compareReport({ report: { ...report, notices }, logged, days, tolerance, today: dayOf(nowMs) });
  const tokens = await priceTokenDrift(client, flags.provider, compared.tokens, days.cost);
  const comparison = { ...compared, tokens };
  const explanation = explainComparison(comparison);
  const output = createOutput(process.stdout);
  if (flags.json === true) {
    const about = { provider: flags.provider, endpoints: report.endpoints, from, to: nextDay(to) };
    for (const row of listJsonRows(comparison, explanation, about)) await output.json(row);
  } else {
    const time = from === to ? from : `${from} to ${to}`;
    const title = `${NAMES[flags.provider]}: ${report.endpoints.join(' and ')}, ${time}, beside the log of ${client.url}`;
    await output.lines(formatReconciliation(title, comparison, explanation));
  }
  if (!explanation.agrees) process.exitCode = DRIFT_EXIT;
}

export function addReconcileCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(program.command('reconcile'))
    .description("compare the provider's bill with the log, by day and model")
    .addOption(
      new Option('--provider <name>', 'whose report it is').choices([...REPORT_PROVIDERS]).makeOptionMandatory(),
    )
    .addOption(repeatable('--file <path>', 'an exported cost or usage report; repeatable; - for the standard input'))
    .option('--live', 'fetch the reports with OPENAI_ADMIN_KEY or ANTHROPIC_ADMIN_KEY from the environment')
    .option('--from <day>', 'a day in UTC; else the first of the report (--live: 7 days ago)')
    .option('--to <day>', 'before this day; else to the last of the report (--live: today)')
    .option('--tolerance <drift>', 'accept so much in a row: dollars (0.01) or a share (0.5%)', '0')
    .addOption(
      repeatable('--filter <column:op:value>', 'only these calls of the log; repeatable; as in `tollgate logs`'),
    )
    .addHelpText(
      'after',
      `
Exit code: 0 when everything agrees, 2 when something does not, 1 for errors. Days that are not over do not count.

Examples:
  tollgate reconcile --provider openai --file costs.json --file usage.json
  tollgate reconcile --provider anthropic --file cost_report.json --tolerance 0.5%
  ANTHROPIC_ADMIN_KEY=… tollgate reconcile --provider anthropic --live --from 2026-11-01`,
    )
    .action((flags: ReconcileFlags) => reconcile(flags));
}
