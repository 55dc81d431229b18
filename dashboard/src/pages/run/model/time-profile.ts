/**
 * When the calls beneath a step were active: how long in all, how many at once, and, in a fixed number of parts of the
 * step's time, whether none, one or several were. Time in which none was is the application's own, or its tools'.
 */

export const PROFILE_PARTS = 96;
export const IDLE = 0;
export const ACTIVE = 1;
export const PARALLEL = 2;

export interface TimeProfile {
  /** For each part the most of IDLE, ACTIVE and PARALLEL that it is; a part with any activity is not IDLE. */
  readonly parts: Uint8Array;
  readonly activeMs: number;
  readonly callMs: number;
  readonly maxParallel: number;
}

function addTime(into: Float64Array, startMs: number, partMs: number, fromMs: number, toMs: number): void {
  if (partMs <= 0) return;
  const last = into.length - 1;
  const from = Math.min(last, Math.floor((fromMs - startMs) / partMs));
  const to = Math.min(last, Math.floor((toMs - startMs) / partMs));
  if (from === to) {
    into[from] = (into[from] ?? 0) + (toMs - fromMs);
    return;
  }
  into[from] = (into[from] ?? 0) + startMs + (from + 1) * partMs - fromMs;
  for (let part = from + 1; part < to; part += 1) into[part] = (into[part] ?? 0) + partMs;
  into[to] = (into[to] ?? 0) + toMs - (startMs + to * partMs);
}

/** `starts` and `ends` of the same calls, each list in ascending order. */
export function readTimeProfile(starts: readonly number[], ends: readonly number[]): TimeProfile {
  const parts = new Uint8Array(PROFILE_PARTS);
  const startMs = starts[0] ?? 0;
  const endMs = ends.at(-1) ?? startMs;
  const partMs = (endMs - startMs) / PROFILE_PARTS;
  const one = new Float64Array(PROFILE_PARTS);
  const several = new Float64Array(PROFILE_PARTS);
  let [activeMs, callMs, maxParallel, open, ended, atMs] = [0, 0, 0, 0, 0, startMs];
  const advance = (toMs: number) => {
    if (open > 0 && toMs > atMs) {
      activeMs += toMs - atMs;
      callMs += (toMs - atMs) * open;
      addTime(open > 1 ? several : one, startMs, partMs, atMs, toMs);
    }
    atMs = Math.max(atMs, toMs);
  };
  for (const beginMs of starts) {
    while (ended < ends.length && (ends[ended] ?? 0) <= beginMs && open > 0) {
      advance(ends[ended] ?? beginMs);
      ended += 1;
      open -= 1;
    }
    advance(beginMs);
    open += 1;
    maxParallel = Math.max(maxParallel, open);
  }
  for (; ended < ends.length; ended += 1) {
    advance(ends[ended] ?? atMs);
    open -= 1;
  }
  for (let part = 0; part < PROFILE_PARTS; part += 1) {
    const [single = 0, shared = 0] = [one[part], several[part]];
    parts[part] = shared > 0 && shared >= single ? PARALLEL : single + shared > 0 ? ACTIVE : IDLE;
  }
  // A step without length has nothing outside its calls.
  if (partMs <= 0) parts.fill(starts.length > 1 ? PARALLEL : ACTIVE);
  return { parts, activeMs, callMs, maxParallel };
}

export interface ProfileSegment {
  /** 0..1 of the step's time. */
  readonly from: number;
  readonly to: number;
  readonly kind: typeof ACTIVE | typeof PARALLEL;
}

export function listSegments(parts: ArrayLike<number>): readonly ProfileSegment[] {
  const segments: ProfileSegment[] = [];
  let from = 0;
  for (let part = 1; part <= parts.length; part += 1) {
    const kind = parts[from];
    if (part < parts.length && parts[part] === kind) continue;
    if (kind === ACTIVE || kind === PARALLEL)
      segments.push({ from: from / parts.length, to: part / parts.length, kind });
    from = part;
  }
  return segments;
}
