/**
 * The order of the test files: those that take minutes begin first, so that none of them is left over at the end while
 * the other workers have nothing to do. A clean clone has no durations of an earlier run to go by.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONGEST: readonly string[] = [
  'test/gateway/soak.test.ts',
  'test/gateway/two-node-upgrade.test.ts',
  'test/browser/accessibility.test.ts',
  'test/gateway/broken-connections.test.ts',
  'test/browser/hostile.test.ts',
  'test/gateway/roles.test.ts',
  'test/gateway/supervisor-life.test.ts',
  'test/gateway/rolling-restart.test.ts',
  'test/browser/dashboard.test.ts',
  'test/gateway/sdks.test.ts',
  'test/gateway/metadata.test.ts',
  'test/database/slow-database.test.ts',
  'test/database/query-plans.test.ts',
  'test/gateway/',
  'test/database/',
];

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((name) => moduleId.includes(name));
  return rank === -1 ? LONGEST.length : rank;
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
