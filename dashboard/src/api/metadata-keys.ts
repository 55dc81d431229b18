/** The keys of metadata that calls carry, and the two things that can be done with one: promote and demote. */
import { queryOptions } from '@tanstack/react-query';
import type { MetadataKeyBody } from '../../../src/control/admin/metadata-keys-resource.ts';
import { getJson, sendJson } from './client.ts';

export type MetadataKey = MetadataKeyBody;
export type MetadataKeyState = MetadataKey['state'];
export type MetadataKeyWarning = MetadataKey['warnings'][number];

interface KeyWindow {
  readonly from: string;
  readonly to: string;
}

/** Without a window: the server's usual one, the last seven days. */
export function metadataKeysQuery(window: KeyWindow | null = null) {
  return queryOptions({
    queryKey: ['metadata-keys', window?.from ?? null, window?.to ?? null],
    queryFn: ({ signal }) => getJson('/metadata-keys', { ...window }, signal),
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
  return sendJson('post', '/metadata-keys/{key}/promote', { key }, { display_key: displayKey });
}

export function demoteKey(key: string): Promise<StartedJob> {
  return sendJson('post', '/metadata-keys/{key}/demote', { key });
}
