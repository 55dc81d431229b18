/** `npm run bench:kill` in small: every process of a gateway is killed under load. The benchmark kills more often. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKillPhase } from '../../bench/kill/kill-phase.ts';
import { openStage, type Stage } from '../../bench/kill/stage.ts';
import { createSeededRandom } from '../proxy/seeded-random.ts';

const SEED = 7;

describe('under load, SIGKILL', () => {
  const random = createSeededRandom(SEED);
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage({ seed: SEED, clients: 16 });
  });
  afterAll(() => stage.close());

  it('of the proxy process loses no call that the client got whole, and logs what it cut as interrupted', async () => {
    const { faults, tally } = await runKillPhase(stage, 'proxy', 2, random);
    expect(faults).toEqual([]);
    expect(tally.complete).toBeGreaterThan(0);
    expect(tally.outcomes['interrupted']).toBeGreaterThan(0);
  });

  it('of the control process is not noticed by any client, and no record is stored twice or lost', async () => {
    const { faults, tally } = await runKillPhase(stage, 'control', 2, random);
    expect(faults).toEqual([]);
    expect(tally.outcomes).toEqual({ ok: tally.calls });
  });

  it('of PostgreSQL is not noticed by any client, and no record is stored twice or lost', async () => {
    const { faults, tally } = await runKillPhase(stage, 'postgres', 1, random);
    expect(faults).toEqual([]);
    expect(tally.outcomes).toEqual({ ok: tally.calls });
  });

  it('of the supervisor ends its processes, and the next start on the same data finds every record', async () => {
    const { faults, tally } = await runKillPhase(stage, 'supervisor', 1, random);
    expect(faults).toEqual([]);
    expect(tally.complete).toBeGreaterThan(0);
  });
});
