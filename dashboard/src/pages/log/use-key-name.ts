/** Names of gateway keys, for the `key_id` of calls. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { keysQuery } from '../../api/keys.ts';
import { useAllowed } from '../../app/session-context.tsx';
import { type KeyNames, nameKeys } from '../../search/dimensions.ts';

/** None for a visitor of a share link, who may not ask for keys. */
export function useKeyNames(): KeyNames {
  const { data } = useQuery({ ...keysQuery, enabled: useAllowed('viewer') });
  return useMemo(() => nameKeys(data?.data ?? []), [data]);
}

/** Null without a key; the number while the name is not known. */
export function useKeyName(keyId: number | null): string | null {
  const names = useKeyNames();
  return keyId === null ? null : (names.get(String(keyId)) ?? `key ${keyId}`);
}
