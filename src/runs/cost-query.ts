/** A question about costs: by what, over which time, of which calls. Read from its text form; it asks nothing. */
import type { LogFilter } from './log-filter.ts';

/** What calls can be grouped by, besides metadata. */
export const COST_GROUP_COLUMNS = [
  'model',
  'provider',
  'key',
  'endpoint',
  'outcome',
  'span_path',
  'span_name',
  'trace_id',
  'client',
] as const;
export type CostGroupColumn = (typeof COST_GROUP_COLUMNS)[number];

export type CostGroup =
  | { readonly type: 'column'; readonly column: CostGroupColumn }
  | { readonly type: 'metadata'; readonly key: string };

/** Widths of time buckets. */
export const COST_INTERVALS = ['none', 'hour', 'day', 'week', 'month'] as const;
export type CostInterval = (typeof COST_INTERVALS)[number];

export interface CostQuery {
  readonly accountId: number;
  /** One or two, different. */
  readonly groups: readonly CostGroup[];
  readonly interval: CostInterval | 'auto';
  /** Inclusive; null: from the first call on. */
  readonly from: Date | null;
  /** Exclusive; null: to the last call, or now when that is later. */
  readonly to: Date | null;
  /** Name of a zone that the database knows. */
  readonly timeZone: string;
  readonly filters: readonly LogFilter[];
  /** So many groups are told apart; the others are the rest. */
  readonly limit: number;
}

/** The question cannot be answered; the message says why, in words for the one who asked. */
export class CostQueryError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CostQueryError';
  }
}

const METADATA_PREFIX = 'metadata.';
const MAX_GROUPS = 2;

function isGroupColumn(name: string): name is CostGroupColumn {
  return COST_GROUP_COLUMNS.some((column) => column === name);
}

function parseGroup(text: string): CostGroup {
  if (isGroupColumn(text)) return { type: 'column', column: text };
  if (!text.startsWith(METADATA_PREFIX))
    throw new CostQueryError(
      `Costs cannot be grouped by ${JSON.stringify(text)}; choose ${COST_GROUP_COLUMNS.join(', ')} or metadata.Key.`,
    );
  const key = decodeKey(text.slice(METADATA_PREFIX.length));
  if (key === '' || key.includes('\0')) throw new CostQueryError('group_by names no metadata key after "metadata.".');
  return { type: 'metadata', key };
}

function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new CostQueryError('A metadata key has a "%" that is not followed by two hexadecimal digits; write %25.');
  }
}

/** Header names have no case, so neither have metadata keys. */
function nameOf(group: CostGroup): string {
  return group.type === 'column' ? group.column : METADATA_PREFIX + group.key.toLowerCase();
}

/** Reads `model` or `metadata.Feature,key`; a comma in a key is written %2C. Throws a CostQueryError. */
export function parseCostGroups(text: string): readonly CostGroup[] {
  const groups = text.split(',').map(parseGroup);
  if (groups.length > MAX_GROUPS) throw new CostQueryError(`group_by takes at most ${MAX_GROUPS} dimensions.`);
  if (new Set(groups.map(nameOf)).size < groups.length)
    throw new CostQueryError('group_by names the same dimension twice.');
  return groups;
}
