/** A question about costs, read from its text form. */
import type { LogFilter } from './log-filter.ts';

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

export const COST_INTERVALS = ['none', 'hour', 'day', 'week', 'month'] as const;
export type CostInterval = (typeof COST_INTERVALS)[number];

export interface CostQuery {
  readonly accountId: number;
  readonly groups: readonly CostGroup[];
  readonly interval: CostInterval | 'auto';
  readonly from: Date | null;
  /** Exclusive; null: to the last call, or to now when that is later. */
  readonly to: Date | null;
  readonly timeZone: string;
  readonly filters: readonly LogFilter[];
  /** Further groups are summed as the rest. */
  readonly limit: number;
  /** Leaves out calls that belong to no run. */
  readonly onlyRuns?: true;
}

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

function nameOf(group: CostGroup): string {
  return group.type === 'column' ? group.column : METADATA_PREFIX + group.key.toLowerCase();
}

/** Reads `model` or `metadata.Feature,key`; %2C stands for a comma in a key. Throws a CostQueryError. */
export function parseCostGroups(text: string): readonly CostGroup[] {
  const groups = text.split(',').map(parseGroup);
  if (groups.length > MAX_GROUPS) throw new CostQueryError(`group_by takes at most ${MAX_GROUPS} dimensions.`);
  if (new Set(groups.map(nameOf)).size < groups.length)
    throw new CostQueryError('group_by names the same dimension twice.');
  return groups;
}
