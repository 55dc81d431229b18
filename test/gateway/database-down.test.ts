/**
 * The database hangs for six seconds under load. Stopped as well, for a minute and with a bound on memory: `npm run
 * bench:kill`; and among other faults: the soak.
 */
import { describe, expect, it } from 'vitest';
import { runSuspended } from '../../bench/kill/database-down.ts';

const SHORT = { seed: 3, clients: 12, warmUpMs: 2_000, downMs: 6_000, maxRssGrowthMb: null };

describe('a database that is away', () => {
  it('is not noticed by any client while it hangs, and gets every record afterwards', async () => {
    const { faults, tally } = await runSuspended(SHORT);
    expect(faults).toEqual([]);
    expect(tally.outcomes).toEqual({ ok: tally.calls });
  });
});
