/** Formats declared prices and the prices of one model. */
import { z } from 'zod';
import { textField, timeField } from '../fields.ts';
import { formatTable, right } from '../format-table.ts';
import type { ApiRecord } from '../gateway-client.ts';
import { cutText, terminalText } from '../terminal-text.ts';

const NOTE_WIDTH = 40;

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

/** Prompt sizes: `≤ 200000`, `> 200000`. */
function formatSpan(over: unknown, upTo: unknown): string {
  return [...(typeof over === 'number' ? [`> ${over}`] : []), ...(typeof upTo === 'number' ? [`≤ ${upTo}`] : [])].join(
    ', ',
  );
}

type CellOf = (record: ApiRecord) => string;

function field(name: string): CellOf {
  return (record) => textField(record, name);
}

function tableOf(columns: Readonly<Record<string, CellOf>>): (records: readonly ApiRecord[]) => readonly string[] {
  const cells = Object.values(columns);
  return (records) =>
    formatTable(
      Object.keys(columns),
      records.map((record) => cells.map((cell) => cell(record))),
    );
}

const SCOPE_COLUMNS = {
  alias: field('provider_alias'),
  'valid (UTC)': formatValidity,
  note: (record: ApiRecord) => cutText(textField(record, 'note'), NOTE_WIDTH),
};

export const formatOverrides = tableOf({
  id: field('id'),
  provider: field('provider'),
  model: formatModel,
  tier: field('service_tier'),
  prompt: (override) => formatSpan(override['over_tokens'], override['up_to_tokens']),
  rates: formatRates,
  ...SCOPE_COLUMNS,
});

export const formatMappings = tableOf({
  id: field('id'),
  provider: field('provider'),
  model: formatModel,
  'billed as': field('billing_model'),
  ...SCOPE_COLUMNS,
});

export const formatDiscounts = tableOf({
  id: field('id'),
  provider: field('provider'),
  factor: field('factor'),
  ...SCOPE_COLUMNS,
});

export const formatChanges = tableOf({
  'when (UTC)': (change) => timeField(change, 'changed_at').slice(0, 19),
  who: field('actor'),
  what: field('subject'),
  how: field('action'),
  summary: field('summary'),
});

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
      /** Absent from older gateways. */
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

export function formatRows({ rows, rules }: RowsAnswer): readonly string[] {
  const inForce = rows.filter((row) => row.in_force);
  const isPlaced = inForce.some(({ places }) => places != null);
  const rulesInForce = rules.filter((rule) => rule.in_force);
  return [
    ...formatTable(
      [
        'class',
        'tier',
        'prompt',
        ...(isPlaced ? ['served at'] : []),
        right('rate'),
        'per',
        'layer',
        'row',
        'source',
        'checked',
      ],
      inForce.map((row) =>
        [
          row.unit,
          row.service_tier,
          formatSpan(row.prompt_tier?.over_tokens, row.prompt_tier?.up_to_tokens),
          ...(isPlaced ? [row.places?.join(', ') ?? ''] : []),
          `$${row.rate}`,
          PER[row.per] ?? String(row.per),
          row.layer,
          row.key,
          row.source,
          row.checked_on ?? '',
        ].map(terminalText),
      ),
    ),
    ...(rulesInForce.length === 0
      ? []
      : [
          '',
          ...formatTable(
            ['rule', 'row', 'source', 'checked'],
            rulesInForce.map((rule) => [rule.text, rule.key, rule.source, rule.checked_on ?? ''].map(terminalText)),
          ),
        ]),
  ];
}
