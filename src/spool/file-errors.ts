/** Tells file system errors apart by code. */

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code);
}

/** For `catch`: null for ENOENT; rethrows any other error. */
export function nullIfMissing(error: unknown): null {
  if (hasCode(error, 'ENOENT')) return null;
  throw error;
}
