/** `tollgate doctor`: what works, what does not, and what to do. Exits with 1 when there is a problem. */
import type { Command } from 'commander';
import { readErrorCode } from '../vocabulary/errors.ts';
import type { Finding } from './finding.ts';
import { Attempts, judgeAttempts, judgePrices, judgeStatus, PriceWarnings, Status } from './findings.ts';
import { type ClientFlags, createGatewayClient } from './gateway-client.ts';
import { judgeBatches } from './judge-batches.ts';
import { BudgetOverview, judgeBudgets } from './judge-budgets.ts';
import { judgeCredentials, KeptCredentials } from './judge-credentials.ts';
import { judgeLedger, judgeQuarantine, Quarantine } from './judge-ledger.ts';
import { judgeNodes } from './judge-nodes.ts';
import { judgeSlips } from './judge-slips.ts';
import { createOutput } from './output.ts';
import { readAgain } from './read-again.ts';
import { readNodes } from './read-nodes.ts';

const PROXY_ANSWER_LIMIT_MS = 3_000;

const MARKS: Readonly<Record<Finding['level'], string>> = { ok: '✓', note: '!', problem: '✗' };

async function readFailure(baseUrl: string): Promise<string | null> {
  try {
    const response = await fetch(`${baseUrl}/healthz`, { signal: AbortSignal.timeout(PROXY_ANSWER_LIMIT_MS) });
    return response.ok ? null : String(response.status);
  } catch (error) {
    return readErrorCode(error instanceof Error ? error.cause : undefined) ?? 'unknown';
  }
}

async function examine(flags: ClientFlags): Promise<void> {
  const client = createGatewayClient(flags);
  const output = createOutput(process.stdout);
  const status = await client.ask(Status, '/api/v1/status');
  const findings = [...judgeStatus(status, await readFailure(status.base_url), Date.now())];
  if (status.accounts === null)
    findings.push({ level: 'problem', text: 'calls: the spool cannot be read; see the gateway’s log' });
  else findings.push(...judgeLedger(status.accounts, await readAgain(client, status.accounts), Date.now()));
  findings.push(...judgeQuarantine(await client.ask(Quarantine, '/api/v1/quarantine?limit=1')));
  const isUp = status.database.state === 'up';
  if (isUp) findings.push(...judgeNodes(await readNodes(client), Date.now()));
  if (isUp) findings.push(...judgeCredentials(await client.ask(KeptCredentials, '/api/v1/credentials')));
  if (isUp) findings.push(...judgeBudgets(await client.ask(BudgetOverview, '/api/v1/budget-overview')));
  if (isUp) findings.push(...judgePrices(await client.ask(PriceWarnings, '/api/v1/prices/status')));
  if (isUp) findings.push(...(await judgeBatches(client, Date.now())));
  if (isUp) findings.push(...(await judgeSlips(client, Date.now())));
  if (status.processes.length > 0) findings.push(...judgeAttempts(await client.ask(Attempts, '/api/v1/attempts')));
  for (const finding of findings) {
    if (flags.json) await output.json(finding);
    else await output.say(`${MARKS[finding.level]} ${finding.text}`);
  }
  if (findings.some(({ level }) => level === 'problem')) process.exitCode = 1;
}

export function addDoctorCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(program.command('doctor'))
    .description('say what works, what does not, and why calls were refused; ends with 1 when there is a problem')
    .addHelpText('after', '\nExample:\n  tollgate doctor || echo "something is wrong"')
    .action((flags: ClientFlags) => examine(flags));
}
