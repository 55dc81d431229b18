/** Reads the raw path. The upstream path is never re-encoded; only the model's segment is decoded, for the log. */

/** True for `/v1/files` and everything below, not for `/v1/filesystem`. `root` has no trailing slash. */
export function isAtOrBelow(path: string, root: string): boolean {
  return path.startsWith(root) && (path.length === root.length || path[root.length] === '/');
}

/** The path after `root`, with a leading and no trailing slash; null when it is elsewhere. */
export function readRest(path: string, root: string): string | null {
  if (!isAtOrBelow(path, root)) return null;
  const rest = path.slice(root.length);
  return rest.endsWith('/') ? rest.slice(0, -1) : rest;
}

/** A malformed segment stays as it is. */
export function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** `/v1/v1/x` → `/v1/x`, for a base address that repeats the client's prefix; null when nothing is doubled. */
export function readUndoubled(path: string, prefix: string): string | null {
  return path.startsWith(`${prefix}${prefix}/`) ? path.slice(prefix.length) : null;
}
