/** Every change of declared prices: preview, ask, save, and re-price calls without a price. */
import { formatCount } from '../../vocabulary/format-amounts.ts';
import { confirm } from '../confirm.ts';
import {
  AnyRecord,
  type ApiRecord,
  type ClientFlags,
  createGatewayClient,
  type GatewayClient,
} from '../gateway-client.ts';
import { createOutput } from '../output.ts';
import { terminalText } from '../terminal-text.ts';
import { StartedJob, watchJob } from '../watch-job.ts';
import { DECLARED_KINDS, KIND_WORDS } from './declared-kinds.ts';
import { formatPreview, PreviewAnswer } from './format-preview.ts';
import { withFlagNames } from './name-flags.ts';

export interface ChangeFlags extends ClientFlags {
  readonly yes?: true;
  readonly preview?: true;
  readonly reprice?: true;
}

export interface PriceChange {
  readonly preview: { readonly add: object } | { readonly remove: object };
  readonly path: string;
  readonly body?: object;
  readonly text: string;
  /** The calls that may get a price by it; null when none can. */
  readonly subject: RepricedSubject | null;
}

export interface RepricedSubject {
  readonly provider: string;
  readonly alias: string | null;
  readonly match: string;
  readonly model: string;
}

const MAX_NAMES = 50;

function encodeValue(value: string): string {
  return value.replaceAll('%', '%25').replaceAll(',', '%2C').replaceAll(':', '%3A');
}

/** Filters are case-sensitive and declarations are not, so the spelling in the preview is used. */
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

async function save(client: GatewayClient, change: PriceChange): Promise<ApiRecord> {
  const method = change.body === undefined ? 'DELETE' : 'POST';
  return client.ask(AnyRecord, change.path, { method, body: change.body });
}

async function startRepricing(client: GatewayClient, filters: readonly string[], reason: string): Promise<number> {
  const body = { f: filters, only: 'unpriced', reason: reason.slice(0, 200), dry_run: false };
  const { job_id: id } = await client.ask(StartedJob, '/api/v1/reprice', { method: 'POST', body });
  return id;
}

function readId(answer: ApiRecord): string {
  for (const kind of DECLARED_KINDS) {
    const declared = AnyRecord.safeParse(answer[kind]);
    if (declared.success) return `${KIND_WORDS[kind]} ${String(declared.data['id'])}`;
  }
  return 'as it was sent';
}

function describeSaved(change: PriceChange, answer: ApiRecord): string {
  const id = readId(answer);
  if (change.body === undefined) return `Removed: ${id}.`;
  if (answer['changed'] === false) return `It stood there already, as ${id}; nothing was changed.`;
  const verb = answer['replaced'] === true ? 'Saved in place of the former one' : 'Saved';
  return `${verb}, as ${id}. Calls from now on are priced with it.`;
}

export async function changePrices(change: PriceChange, flags: ChangeFlags): Promise<void> {
  const client = withFlagNames(createGatewayClient(flags));
  const output = createOutput(process.stdout);
  const isJson = flags.json === true;
  const preview = await client.ask(PreviewAnswer, '/api/v1/prices/preview', { method: 'POST', body: change.preview });
  if (!isJson) {
    await output.line(terminalText(change.text));
    await output.lines(formatPreview(preview));
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
