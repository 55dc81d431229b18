/** Which fault comes next: every kind once, in an order drawn from the seed, then all of them again. Pure. */

/** Long ones: nothing else of this list at the same time. */
export const LONG_FAULTS = ['database suspended', 'database stopped', 'disk full'] as const;
export const SHORT_FAULTS = [
  'kill proxy',
  'kill control',
  'kill proxy',
  'kill postgres',
  'kill backend',
  'kill supervisor',
  'rolling restart',
] as const;
export const CLOCK_FAULTS = ['clock -2 s', 'clock +30 s', 'clock -1 h', 'clock +1 day'] as const;

export type LongFault = (typeof LONG_FAULTS)[number];
export type ShortFault = (typeof SHORT_FAULTS)[number];
export type ClockFault = (typeof CLOCK_FAULTS)[number];
export type Fault = LongFault | ShortFault | ClockFault;

export const CLOCK_STEP_MS: Readonly<Record<ClockFault, number>> = {
  'clock -2 s': -2_000,
  'clock +30 s': 30_000,
  'clock -1 h': -3_600_000,
  'clock +1 day': 86_400_000,
};

export interface Deck<T> {
  /** The next one that may come now; null when none of those left may. */
  readonly draw: (mayCome: (kind: T) => boolean) => T | null;
  /** Every one has come once. */
  readonly isAround: () => boolean;
}

export function createDeck<T>(kinds: readonly T[], random: () => number): Deck<T> {
  let left: T[] = [];
  let rounds = 0;
  return {
    isAround: () => rounds > 1 || (rounds === 1 && left.length === 0),
    draw(mayCome) {
      if (left.length === 0) {
        left = shuffle(kinds, random);
        rounds += 1;
      }
      const at = left.findIndex(mayCome);
      return at === -1 ? null : (left.splice(at, 1)[0] ?? null);
    },
  };
}

function shuffle<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
