/** `tollgate prices status|import|export|fetch|reset`: price catalogs. An import is previewed first. */
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { OperatorError } from '../../vocabulary/errors.ts';
import { type ClientFlags, createGatewayClient, type GatewayClient } from '../gateway-client.ts';
import { createOutput, type Output } from '../output.ts';
import {
  CatalogImport,
  FeedLook,
  formatFeedLook,
  formatImport,
  formatPriceStatus,
  PriceStatus,
} from './format-catalogs.ts';
import { type Declared, declareAll, describeDeclared, readDeclarations } from './import-declarations.ts';
import { withFlagNames } from './name-flags.ts';

interface ImportFlags extends ClientFlags {
  readonly checkedOn?: string;
  readonly accept?: true;
  readonly dryRun?: true;
}

const MAX_FILE_BYTES = 8 * 1024 * 1024;
const EXPORT_LIMIT_MS = 60_000;

interface PriceFile {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly modifiedOn: string;
}

function readPriceFile(path: string): PriceFile {
  try {
    const { size, mtime } = statSync(path);
    if (size > MAX_FILE_BYTES) throw new OperatorError(`${path} has more than ${MAX_FILE_BYTES} bytes`);
    return {
      name: basename(path),
      bytes: new Uint8Array(readFileSync(path)),
      modifiedOn: mtime.toISOString().slice(0, 10),
    };
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    throw new OperatorError(`cannot read ${path}`, { cause });
  }
}

async function showStatus(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const client = createGatewayClient(flags);
  if (flags.json) return output.json(await client.ask(z.json(), '/api/v1/prices/status'));
  const status = await client.ask(PriceStatus, '/api/v1/prices/status');
  await output.lines(formatPriceStatus(status));
}

async function importDeclarations(
  declared: readonly Declared[],
  flags: ImportFlags,
  client: GatewayClient,
  output: Output,
): Promise<void> {
  if (flags.json && flags.dryRun) for (const { kind, body } of declared) await output.json({ kind, ...body });
  if (!flags.json) for (const declaration of declared) await output.line(describeDeclared(declaration));
  if (flags.dryRun) return;
  await declareAll(client, declared);
  if (flags.json) return output.json({ declared: declared.length });
  await output.line(`${declared.length} declared; they price every call from now on.`);
}

async function importFile(path: string, flags: ImportFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const client = createGatewayClient(flags);
  const file = readPriceFile(path);
  const declared = readDeclarations(new TextDecoder().decode(file.bytes));
  if (declared !== null) return importDeclarations(declared, flags, client, output);
  const query = new URLSearchParams({ name: file.name, checked_on: flags.checkedOn ?? file.modifiedOn });
  if (flags.accept) query.set('accept_changes', 'true');
  const send = (isDryRun: boolean) =>
    withFlagNames(client).ask(CatalogImport, `/api/v1/prices/catalog?${query}&dry_run=${isDryRun}`, {
      method: 'POST',
      bytes: file.bytes,
    });
  const trial = await send(true);
  if (!flags.json) await output.lines(formatImport(trial));
  if (trial.outcome === 'would_refuse' && !flags.dryRun)
    throw new OperatorError(
      `${file.name} is not imported and the prices in use stay; if all of this is right, import it with --accept`,
    );
  // The file in use is sent, too: its prices may be known to hold on a later day.
  const result = flags.dryRun ? trial : await send(false);
  if (flags.json) return output.json(result);
  if (result.outcome === 'unchanged' && !flags.dryRun)
    await output.line(
      `Its prices are known to hold on ${query.get('checked_on')} (price version ${result.price_version}).`,
    );
  if (result.outcome === 'activated')
    await output.line(
      `${file.name} of ${query.get('checked_on')} prices every call from now on (price version ${result.price_version}).`,
    );
}

async function exportCatalog(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const client = createGatewayClient(flags);
  const answer = await client.open('/api/v1/prices/catalog', {}, AbortSignal.timeout(EXPORT_LIMIT_MS));
  await output.line((await answer.text()).trimEnd());
}

async function fetchNow(flags: ClientFlags & { readonly accept?: true }): Promise<void> {
  const output = createOutput(process.stdout);
  const client = createGatewayClient(flags);
  const path = `/api/v1/prices/feed/fetch?accept_changes=${flags.accept === true}`;
  const look = await client.ask(FeedLook, path, { method: 'POST' });
  if (flags.json) await output.json(look);
  else await output.lines(formatFeedLook(look));
  if (look.result === 'refused' || look.result === 'failed')
    throw new OperatorError(`the feed was not taken over (${look.result}) and the prices in use stay`);
}

async function reset(flags: ClientFlags): Promise<void> {
  const output = createOutput(process.stdout);
  const client = createGatewayClient(flags);
  const Answer = z.object({ outcome: z.string(), price_version: z.string() });
  const answer = await client.ask(Answer, '/api/v1/prices/catalog', { method: 'DELETE' });
  if (flags.json) return output.json(answer);
  return output.line(
    answer.outcome === 'unchanged'
      ? 'The catalog that comes with the gateway is in use already.'
      : `The catalog that comes with the gateway prices every call from now on (price version ${answer.price_version}).`,
  );
}

export function addCatalogCommands(prices: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(prices.command('status'))
    .description('how old the prices are, where they are from, and what they do not cover')
    .addHelpText('after', '\nExample:\n  tollgate prices status --json | jq .warnings')
    .action((flags: ClientFlags) => showStatus(flags));
  addClientOptions(prices.command('import <file>'))
    .description(
      'take prices from a file as genai-prices publishes it (or declarations, as `prices list --json` has them)',
    )
    .option('--checked-on <date>', 'day on which its prices held, e.g. 2026-11-28; else when the file was modified')
    .option('--accept', 'take over what looks wrong, too')
    .option('--dry-run', 'only show what would change')
    .addHelpText(
      'after',
      '\nExamples:\n  tollgate prices import data.json --dry-run\n  tollgate prices import data.json --checked-on 2026-11-28',
    )
    .action((file: string, flags: ImportFlags) => importFile(file, flags));
  addClientOptions(prices.command('export'))
    .description('the catalog in use as a file that can be imported')
    .addHelpText('after', '\nExample:\n  tollgate prices export > prices.json')
    .action((flags: ClientFlags) => exportCatalog(flags));
  addClientOptions(prices.command('fetch'))
    .description('look at the price feed now (TOLLGATE_PRICE_FEED)')
    .option('--accept', 'take over what looks wrong, too')
    .addHelpText('after', '\nExample:\n  tollgate prices fetch')
    .action((flags: ClientFlags & { readonly accept?: true }) => fetchNow(flags));
  addClientOptions(prices.command('reset'))
    .description('back to the prices that come with the gateway')
    .addHelpText('after', '\nExample:\n  tollgate prices reset')
    .action((flags: ClientFlags) => reset(flags));
}
