/**
 * Small reads on the raw path. The path that goes upstream is never decoded and re-encoded; only a copy of the one
 * segment that names a model is decoded, for the log.
 */

/** True for `/v1/files`, `/v1/files/` and everything below, false for `/v1/filesystem`. `root` has no trailing slash. */
export function isAtOrBelow(path: string, root: string): boolean {
  return path.startsWith(root) && (path.length === root.length || path[root.length] === '/');
}

/** What stands behind `root`, with its leading slash and without a trailing one; null when the path is elsewhere. */
export function readRest(path: string, root: string): string | null {
  if (!isAtOrBelow(path, root)) return null;
  const rest = path.slice(root.length);
  return rest.endsWith('/') ? rest.slice(0, -1) : rest;
}

/** Percent-decodes one segment; a malformed one stays as it is. */
export function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** `/v1/v1/x` → `/v1/x`: a base address with a prefix that the client appends as well. Null when nothing is doubled. */
export function readUndoubled(path: string, prefix: string): string | null {
  return path.startsWith(`${prefix}${prefix}/`) ? path.slice(prefix.length) : null;
}
