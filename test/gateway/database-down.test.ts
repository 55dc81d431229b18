/** The database is away for six seconds under load. For a minute, and with a bound on memory: `npm run bench:kill`. */
import { describe, expect, it } from 'vitest';
import { runStopped, runSuspended } from '../../bench/kill/database-down.ts';

const SHORT = { seed: 3, clients: 12, warmUpMs: 2_000, downMs: 6_000, maxRssGrowthMb: null };

describe('a database that is away', () => {
  it('is not noticed by any client while it hangs, and gets every record afterwards', async () => {
    const { faults, tally } = await runSuspended(SHORT);
    expect(faults).toEqual([]);
    expect(tally.outcomes).toEqual({ ok: tally.calls });
  });

  it('is not noticed by any client while it is stopped, and gets every record afterwards', async () => {
    const { faults, tally } = await runStopped(SHORT);
    expect(faults).toEqual([]);
    expect(tally.outcomes).toEqual({ ok: tally.calls });
  });
});
