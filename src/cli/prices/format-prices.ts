/** Declared prices, and the prices of one model, as lines for a terminal. */
import { z } from 'zod';
import { textField, timeField } from '../fields.ts';
import { formatTable } from '../format-table.ts';
import type { ApiRecord } from '../gateway-client.ts';
import { cutText, terminalText } from '../terminal-text.ts';

const NOTE_WIDTH = 40;

function titled(...titles: readonly string[]) {
  return titles.map((title) => ({ title }));
}

/** `2026-11-01 – 2026-12-01`; empty: always. */
function formatValidity(record: ApiRecord): string {
  const [from, to] = ['valid_from', 'valid_to'].map((name) => timeField(record, name).replace(' 00:00:00.000', ''));
  if (from === '' && to === '') return '';
  return `${from || 'ever'} – ${to || 'on'}`;
}

function formatModel(record: ApiRecord): string {
  return `${textField(record, 'model')}${record['match'] === 'prefix' ? '*' : ''}`;
}

function formatRates(record: ApiRecord): string {
  const rates = z.record(z.string(), z.string()).safeParse(record['rates']);
  return Object.entries(rates.success ? rates.data : {})
    .map(([name, rate]) => `${terminalText(name)} $${terminalText(rate)}`)
    .join(', ');
}

/** Of the size of the prompt: `≤ 200000`, `> 200000`. */
function formatSpan(over: unknown, upTo: unknown): string {
  return [...(typeof over === 'number' ? [`> ${over}`] : []), ...(typeof upTo === 'number' ? [`≤ ${upTo}`] : [])].join(
    ', ',
  );
}

function formatScope(record: ApiRecord): readonly string[] {
  return [textField(record, 'provider_alias'), formatValidity(record), cutText(textField(record, 'note'), NOTE_WIDTH)];
}

export function formatOverrides(overrides: readonly ApiRecord[]): readonly string[] {
  return formatTable(
    titled('id', 'provider', 'model', 'tier', 'prompt', 'rates', 'alias', 'valid (UTC)', 'note'),
    overrides.map((override) => [
      ...[textField(override, 'id'), textField(override, 'provider'), formatModel(override)],
      textField(override, 'service_tier'),
      formatSpan(override['over_tokens'], override['up_to_tokens']),
      formatRates(override),
      ...formatScope(override),
    ]),
  );
}

export function formatMappings(mappings: readonly ApiRecord[]): readonly string[] {
  return formatTable(
    titled('id', 'provider', 'model', 'billed as', 'alias', 'valid (UTC)', 'note'),
    mappings.map((mapping) => [
      ...[textField(mapping, 'id'), textField(mapping, 'provider'), formatModel(mapping)],
      textField(mapping, 'billing_model'),
      ...formatScope(mapping),
    ]),
  );
}

export function formatDiscounts(multipliers: readonly ApiRecord[]): readonly string[] {
  return formatTable(
    titled('id', 'provider', 'factor', 'alias', 'valid (UTC)', 'note'),
    multipliers.map((multiplier) => [
      ...['id', 'provider', 'factor'].map((name) => textField(multiplier, name)),
      ...formatScope(multiplier),
    ]),
  );
}

export function formatChanges(changes: readonly ApiRecord[]): readonly string[] {
  return formatTable(
    titled('when (UTC)', 'who', 'what', 'how', 'summary'),
    changes.map((change) => [
      timeField(change, 'changed_at').slice(0, 19),
      ...['actor', 'subject', 'action', 'summary'].map((name) => textField(change, name)),
    ]),
  );
}

const Calendar = z.object({ utc_offset_minutes: z.number(), from: z.string(), to: z.string() });

export const RowsAnswer = z.object({
  billing_model: z.string(),
  rows: z.array(
    z.looseObject({
      layer: z.string(),
      unit: z.string(),
      service_tier: z.string(),
      rate: z.string(),
      per: z.number(),
      calendar: Calendar.nullable(),
      prompt_tier: z.object({ over_tokens: z.number().nullable(), up_to_tokens: z.number().nullable() }).nullable(),
      /** A gateway of a former release does not say. */
      places: z.array(z.string()).nullish(),
      key: z.string(),
      source: z.string(),
      checked_on: z.string().nullable(),
      in_force: z.boolean(),
    }),
  ),
  rules: z.array(
    z.looseObject({
      key: z.string(),
      text: z.string(),
      source: z.string(),
      checked_on: z.string().nullable(),
      in_force: z.boolean(),
    }),
  ),
});
export type RowsAnswer = z.infer<typeof RowsAnswer>;

const PER: Readonly<Record<number, string>> = {
  1000: '1,000',
  60000: 'minute',
  1000000: '1M',
  3600000: 'hour',
};

/** What counts at that time; the rest is in `--json`. */
export function formatRows({ rows, rules }: RowsAnswer): readonly string[] {
  const inForce = rows.filter((row) => row.in_force);
  const isPlaced = inForce.some(({ places }) => places != null);
  const rulesInForce = rules.filter((rule) => rule.in_force);
  return [
    ...formatTable(
      [
        ...titled('class', 'tier', 'prompt', ...(isPlaced ? ['served at'] : [])),
        { title: 'rate', align: 'right' },
        ...titled('per', 'layer', 'row', 'source', 'checked'),
      ],
      inForce.map((row) =>
        [
          ...[row.unit, row.service_tier, formatSpan(row.prompt_tier?.over_tokens, row.prompt_tier?.up_to_tokens)],
          ...(isPlaced ? [row.places?.join(', ') ?? ''] : []),
          ...[`$${row.rate}`, PER[row.per] ?? String(row.per), row.layer, row.key, row.source, row.checked_on ?? ''],
        ].map(terminalText),
      ),
    ),
    ...(rulesInForce.length === 0
      ? []
      : [
          '',
          ...formatTable(
            titled('rule', 'row', 'source', 'checked'),
            rulesInForce.map((rule) => [rule.text, rule.key, rule.source, rule.checked_on ?? ''].map(terminalText)),
          ),
        ]),
  ];
}
