/** The kinds of declared prices, in the API's and the commands' words. */
export const DECLARED_KINDS = ['override', 'mapping', 'multiplier'] as const;
export type DeclaredKind = (typeof DECLARED_KINDS)[number];

export const KIND_WORDS: Readonly<Record<DeclaredKind, string>> = {
  override: 'override',
  mapping: 'mapping',
  multiplier: 'discount',
};

export function pathOf(kind: DeclaredKind): string {
  return `/api/v1/prices/${kind}s`;
}
