/** The keys of metadata that calls carry, and the two things that can be done with one: promote and demote. */
import { queryOptions } from '@tanstack/react-query';
import { getJson, sendJson } from './client.ts';

export type MetadataKeyState = 'raw' | 'promoting' | 'promoted' | 'demoting' | 'failed';
export type MetadataKeyWarning = 'unique_per_call' | 'looks_personal' | 'two_spellings';

export interface MetadataKey {
  /** The display spelling. */
  readonly key: string;
  readonly spellings: readonly { readonly spelling: string; readonly calls: number }[];
  readonly calls: number;
  /** Of all calls of the window, 0..1. */
  readonly share: number;
  /** Of the sampled calls, as the examples and the length. */
  readonly distinct_values: number;
  readonly examples: readonly { readonly value: string; readonly calls: number }[];
  readonly first_seen: string | null;
  readonly last_seen: string | null;
  readonly average_length: number | null;
  readonly state: MetadataKeyState;
  readonly promoted_at: string | null;
  /** The job that promotes or demotes it, or did so last. */
  readonly job_id: number | null;
  readonly warnings: readonly MetadataKeyWarning[];
}

export interface MetadataKeys {
  readonly data: readonly MetadataKey[];
  /** Of the window. */
  readonly total_calls: number;
  readonly sampled_calls: number;
}

interface KeyWindow {
  readonly from: string;
  readonly to: string;
}

/** Without a window: the server's usual one, the last seven days. */
export function metadataKeysQuery(window: KeyWindow | null = null) {
  return queryOptions({
    queryKey: ['metadata-keys', window?.from ?? null, window?.to ?? null],
    queryFn: ({ signal }) => getJson<MetadataKeys>('/metadata-keys', { ...window }, signal),
  });
}

export function isKeyChanging(state: MetadataKeyState): boolean {
  return state === 'promoting' || state === 'demoting';
}

/** Header names have no case, so keys have none either. */
export function isSameKey(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

interface StartedJob {
  readonly job_id: number;
}

export function promoteKey(key: string, displayKey: string): Promise<StartedJob> {
  return sendJson('POST', `/metadata-keys/${encodeURIComponent(key)}/promote`, { display_key: displayKey });
}

export function demoteKey(key: string): Promise<StartedJob> {
  return sendJson('POST', `/metadata-keys/${encodeURIComponent(key)}/demote`);
}
