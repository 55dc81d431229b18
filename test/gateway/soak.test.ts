/** `npm run soak` for three minutes with a fixed seed: every kind of fault at least once, and nothing lost. */
import { describe, expect, it } from 'vitest';
import { CLOCK_FAULTS, LONG_FAULTS, SHORT_FAULTS } from '../../bench/soak/draw-faults.ts';
import { formatSoak, listFaults } from '../../bench/soak/report.ts';
import { runSoak } from '../../bench/soak/run-soak.ts';

const MINUTES = 3;
const SEED = 20_261_128;
const CLIENTS = 12;
/** Load and faults, and as long again for a busy machine to start, to drain and to count. */
const LIMIT_MS = 3 * MINUTES * 60_000;

describe('a gateway under load and every kind of fault', () => {
  it(
    'loses no call, counts none twice, alters no byte and prices each as the provider does',
    async () => {
      const timeLine: string[] = [];
      const result = await runSoak({
        minutes: MINUTES,
        seed: SEED,
        clients: CLIENTS,
        say: (text) => timeLine.push(text),
      });
      const report = formatSoak(result);
      // Shown with what it must not have found, since none of it can be made again exactly.
      expect(listFaults(result), `${timeLine.join('\n')}\n${report}`).toEqual([]);
      const printed = report.split('\n');
      for (const zero of [
        'lost = 0',
        'duplicates = 0',
        'altered bytes = 0',
        'cost difference = 0',
        'partial cost difference = 0',
        'roll-up differences = 0',
        'open calls = 0',
        'open sockets with a call = 0',
        'processes left = 0',
      ]) {
        expect(printed).toContain(zero);
      }
      // Whoever is not root has no disk to fill.
      const kinds = [...LONG_FAULTS, ...SHORT_FAULTS, ...CLOCK_FAULTS].filter(
        (kind) => kind !== 'disk full' || result.leftOut.length === 0,
      );
      expect([...result.faults.keys()].sort()).toEqual([...new Set(kinds)].sort());
      for (const outcome of ['ok', 'interrupted', 'client_closed', 'upstream_error', 'upstream_truncated']) {
        expect(result.count.outcomes[outcome]).toBeGreaterThan(0);
      }
      for (const outcome of ['ok', 'interrupted', 'client_closed', 'upstream_stream_error', 'upstream_truncated']) {
        expect(result.count.sessionOutcomes[outcome]).toBeGreaterThan(0);
      }
      if (result.leftOut.length === 0) expect(result.killsOnFullDisk).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
});
