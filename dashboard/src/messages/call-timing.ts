/** The time of a call as stages that follow each other, from the moments that the record has. Absent moments are skipped. */

export interface TimingColumns {
  readonly duration_ms: number | null;
  readonly overhead_us: number | null;
  readonly connect_ms: number | null;
  readonly headers_ms: number | null;
  readonly first_byte_ms: number | null;
  readonly first_token_ms: number | null;
}

export interface TimingStage {
  readonly id: 'gateway' | 'connect' | 'headers' | 'first_byte' | 'first_token' | 'rest';
  readonly name: string;
  readonly about: string;
  readonly startMs: number;
  readonly endMs: number;
}

const STAGES = [
  { id: 'gateway', name: 'Gateway', about: 'Our own work before the call was forwarded' },
  { id: 'connect', name: 'Connecting', about: 'Until the connection to the provider was ready' },
  { id: 'headers', name: 'Waiting', about: "Until the provider's status and headers" },
  { id: 'first_byte', name: 'First byte', about: "Until the first byte of the provider's body" },
  { id: 'first_token', name: 'First token', about: 'Until the first event that carries content' },
  { id: 'rest', name: 'Rest of the answer', about: 'From there to the last byte' },
] as const;

/** Moments are kept within the call and in order, so that the stages always add up to the duration. */
export function readTiming(columns: TimingColumns): readonly TimingStage[] {
  const { duration_ms: total, overhead_us: overheadUs } = columns;
  if (total === null) return [];
  const ends: Readonly<Record<TimingStage['id'], number | null>> = {
    gateway: overheadUs === null ? null : overheadUs / 1_000,
    connect: columns.connect_ms,
    headers: columns.headers_ms,
    first_byte: columns.first_byte_ms,
    first_token: columns.first_token_ms,
    rest: total,
  };
  const stages: TimingStage[] = [];
  let startMs = 0;
  for (const { id, name, about } of STAGES) {
    const end = ends[id];
    if (end === null) continue;
    const endMs = Math.max(startMs, Math.min(end, total));
    stages.push({ id, name, about, startMs, endMs });
    startMs = endMs;
  }
  return stages;
}

/** Output tokens a second while the answer streamed; null when it did not, or too briefly to say. */
export function readTokensPerSecond(columns: TimingColumns, outputTokens: number | null): number | null {
  const { duration_ms: total, first_token_ms: first } = columns;
  if (total === null || first === null || outputTokens === null || total - first < 1) return null;
  return outputTokens / ((total - first) / 1_000);
}
