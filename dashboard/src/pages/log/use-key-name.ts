/** Names of gateway keys, for the `key_id` of calls. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { keysQuery } from '../../api/keys.ts';

export type KeyNames = ReadonlyMap<string, string>;

export function useKeyNames(): KeyNames {
  const { data } = useQuery(keysQuery);
  return useMemo(() => new Map((data?.data ?? []).map(({ id, name }) => [String(id), name])), [data]);
}

/** Null without a key; the number while the name is not known. */
export function useKeyName(keyId: number | null): string | null {
  const names = useKeyNames();
  return keyId === null ? null : (names.get(String(keyId)) ?? `key ${keyId}`);
}
