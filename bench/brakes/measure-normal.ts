/** The runs of the demo data, varied by seed and moved to now, each set under a key of its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 } from 'uuid';
import { makeDemoEntries } from '../../src/control/demo-log/make-demo-entries.ts';
import type { SpoolEntry } from '../../src/vocabulary/call-record.ts';
import type { BrakeStage } from './stage.ts';

export interface NormalResult {
  readonly runs: number;
  readonly calls: number;
  readonly hits: readonly string[];
}

const FIRST_KEY = 1_000;
const WATCH_MS = 5_000;

export async function measureNormal(stage: BrakeStage, least: number): Promise<NormalResult> {
  stage.begin();
  let runs = 0;
  let calls = 0;
  for (let seed = 1; runs < least; seed += 1) {
    const entries = makeDemoEntries({
      seed,
      accountId: 1,
      keyId: FIRST_KEY + seed,
      node: 'bench',
      nowMs: Date.now(),
      keepsCall: () => true,
      keepsBodies: () => true,
    });
    for (const [traceId, run] of groupByRun(entries)) {
      const moved = moveToNow(run, `${traceId}-${seed}`, Date.now());
      runs += 1;
      calls += moved.filter(({ type }) => type === 'end').length;
      await stage.store(moved);
    }
  }
  await sleep(WATCH_MS);
  const { rows } = await stage.pool.query<{ hit: string }>(
    `select rule || ' of ' || scope || ' ' || value || ': ' || reason as hit from brake_hits
     where (scope = 'run' and value like 'demo-%') or (scope = 'key' and value::int8 > ${FIRST_KEY}) order by id`,
  );
  return { runs, calls, hits: rows.map(({ hit }) => hit) };
}

function groupByRun(entries: readonly SpoolEntry[]): Map<string, SpoolEntry[]> {
  const runOf = new Map(
    entries.flatMap((entry) => (entry.type === 'end' ? [[entry.begin.id, entry.begin.traceId]] : [])),
  );
  const runs = new Map<string, SpoolEntry[]>();
  for (const entry of entries) {
    const id = entry.type === 'body' ? entry.body.id : entry.type === 'end' ? entry.begin.id : '';
    const traceId = runOf.get(id);
    if (typeof traceId !== 'string') continue;
    runs.set(traceId, [...(runs.get(traceId) ?? []), entry]);
  }
  return runs;
}

/** The same calls, of which the last has just ended. */
function moveToNow(run: readonly SpoolEntry[], traceId: string, nowMs: number): readonly SpoolEntry[] {
  const lastMs = Math.max(...run.map((entry) => (entry.type === 'end' ? entry.end.respondedAtMs : 0)));
  const byMs = nowMs - lastMs;
  const ids = new Map<string, string>();
  const idOf = (id: string, atMs: number): string => {
    const found = ids.get(id) ?? v7({ msecs: atMs });
    ids.set(id, found);
    return found;
  };
  return run.flatMap((entry): SpoolEntry[] => {
    if (entry.type === 'body') {
      const requestedAtMs = entry.body.requestedAtMs + byMs;
      return [{ type: 'body', body: { ...entry.body, requestedAtMs, id: idOf(entry.body.id, requestedAtMs) } }];
    }
    if (entry.type !== 'end') return [];
    const requestedAtMs = entry.begin.requestedAtMs + byMs;
    const id = idOf(entry.begin.id, requestedAtMs);
    return [
      {
        type: 'end',
        begin: { ...entry.begin, id, requestedAtMs, traceId },
        end: { ...entry.end, id, respondedAtMs: entry.end.respondedAtMs + byMs },
      },
    ];
  });
}
