/** The way of every change of declared prices: show what it would do, ask, save, and price the calls without a price again. */
import { z } from 'zod';
import { formatCount } from '../../format-amounts.ts';
import { confirm } from '../confirm.ts';
import { type ClientFlags, createGatewayClient, type GatewayClient } from '../gateway-client.ts';
import { createOutput } from '../output.ts';
import { terminalText } from '../terminal-text.ts';
import { watchJob } from '../watch-job.ts';
import { formatPreview, PreviewAnswer } from './format-preview.ts';
import { withFlagNames } from './name-flags.ts';

export interface ChangeFlags extends ClientFlags {
  readonly json?: true;
  readonly yes?: true;
  readonly preview?: true;
  readonly reprice?: true;
}

export interface PriceChange {
  /** Of `POST /api/v1/prices/preview`. */
  readonly preview: { readonly add: object } | { readonly remove: object };
  readonly path: string;
  /** Absent: it is removed. */
  readonly body?: object;
  /** In one line, for whoever is asked. */
  readonly text: string;
  /** Whose calls may get a price by it; null when none can. */
  readonly subject: RepricedSubject | null;
}

export interface RepricedSubject {
  readonly provider: string;
  readonly alias: string | null;
  readonly match: string;
  readonly model: string;
}

const Changed = z.record(z.string(), z.json());
const StartedJob = z.object({ job_id: z.number() });

/** Of one filter. */
const MAX_NAMES = 50;

function encodeValue(value: string): string {
  return value.replaceAll('%', '%25').replaceAll(',', '%2C').replaceAll(':', '%3A');
}

/** Filters know case and declarations do not, so the log's own spelling is used where the preview has shown it. */
export function createRepriceFilters(subject: RepricedSubject, preview: PreviewAnswer): readonly string[] {
  const { provider, alias, match, model } = subject;
  const seen = preview.models.filter(({ changed }) => changed > 0).flatMap(({ model: name }) => name ?? []);
  const begins = seen.find((name) => name.toLowerCase().startsWith(model.toLowerCase()))?.slice(0, model.length);
  const names = [...new Set([model, ...seen])].slice(0, MAX_NAMES).map(encodeValue);
  const isEvery = match === 'prefix' && model === '';
  const ofModel = match === 'prefix' ? `prefix:${encodeValue(begins ?? model)}` : `in:${names.join(',')}`;
  return [
    `provider:eq:${provider}`,
    ...(alias === null ? [] : [`provider_alias:eq:${encodeValue(alias)}`]),
    ...(isEvery ? [] : [`billing_model:${ofModel}`]),
  ];
}

async function save(client: GatewayClient, change: PriceChange): Promise<z.infer<typeof Changed>> {
  const method = change.body === undefined ? 'DELETE' : 'POST';
  return client.ask(Changed, change.path, { method, body: change.body });
}

async function startRepricing(client: GatewayClient, filters: readonly string[], reason: string): Promise<number> {
  const body = { f: filters, only: 'unpriced', reason: reason.slice(0, 200), dry_run: false };
  const { job_id: id } = await client.ask(StartedJob, '/api/v1/reprice', { method: 'POST', body });
  return id;
}

/** As the API says it, and as the commands do. */
const KIND_WORDS = { override: 'override', mapping: 'mapping', multiplier: 'discount' } as const;

/** The stored declaration stands under the name of its kind. */
function readId(answer: z.infer<typeof Changed>): string {
  for (const [kind, word] of Object.entries(KIND_WORDS)) {
    const declared = Changed.safeParse(answer[kind]);
    if (declared.success) return `${word} ${String(declared.data['id'])}`;
  }
  return 'as it was sent';
}

function describeSaved(change: PriceChange, answer: z.infer<typeof Changed>): string {
  const id = readId(answer);
  if (change.body === undefined) return `Removed: ${id}.`;
  if (answer['changed'] === false) return `It stood there already, as ${id}; nothing was changed.`;
  const verb = answer['replaced'] === true ? 'Saved in place of the former one' : 'Saved';
  return `${verb}, as ${id}. Calls from now on are priced with it.`;
}

export async function changePrices(change: PriceChange, flags: ChangeFlags): Promise<void> {
  const client = withFlagNames(createGatewayClient(flags, process.env));
  const output = createOutput(process.stdout);
  const isJson = flags.json === true;
  const preview = await client.ask(PreviewAnswer, '/api/v1/prices/preview', { method: 'POST', body: change.preview });
  if (!isJson) {
    await output.line(terminalText(change.text));
    for (const line of formatPreview(preview)) await output.line(line);
  }
  if (flags.preview) return isJson ? output.json({ preview, saved: null, job_id: null }) : undefined;
  const isMeant =
    flags.yes === true || (await confirm('Save this?', 'give --yes to save without being asked, or --preview'));
  if (!isMeant) {
    process.stderr.write('Nothing was changed.\n');
    return;
  }
  const saved = await save(client, change);
  if (!isJson) await output.line(describeSaved(change, saved));
  const { subject } = change;
  const canReprice = subject !== null && flags.reprice === true;
  const filters = subject === null ? [] : createRepriceFilters(subject, preview);
  const jobId = canReprice ? await startRepricing(client, filters, `prices: ${change.text}`) : null;
  if (isJson) await output.json({ preview, saved, job_id: jobId });
  if (jobId !== null) return watchJob(client, jobId, isJson);
  const gained = preview.old_unpriced - preview.new_unpriced;
  if (!isJson && subject !== null && gained > 0)
    await output.line(
      `${formatCount(gained)} of the calls above have no price in the log yet: the same command with --reprice gives it to them.`,
    );
}
