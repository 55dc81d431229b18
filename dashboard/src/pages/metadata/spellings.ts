/** The spellings a key may be shown in: those that came, and the usual form of a header. */
import type { MetadataKey } from '../../api/metadata-keys.ts';

/** `user-id` as `User-Id`: many clients and every HTTP/2 hop send header names in lower case. */
export function capitalizeKey(key: string): string {
  return key.replace(/(^|-)(\p{Ll})/gu, (_, dash: string, letter: string) => `${dash}${letter.toUpperCase()}`);
}

export interface Spelling {
  readonly spelling: string;
  /** Zero for a form that never came. */
  readonly calls: number;
}

/** The display form first, then by calls. */
export function listSpellings({ key, spellings }: Pick<MetadataKey, 'key' | 'spellings'>): readonly Spelling[] {
  const counted = [...spellings].sort((a, b) => b.calls - a.calls);
  const names = [...new Set([key, ...counted.map(({ spelling }) => spelling), capitalizeKey(key)])];
  return names.map((spelling) => ({
    spelling,
    calls: spellings.find((one) => one.spelling === spelling)?.calls ?? 0,
  }));
}
