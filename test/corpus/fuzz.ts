/** The random way in: everything that is fuzzed, and so many cases of each for a seed. */
import type { Check, FuzzTarget } from './check.ts';
import { ANSWER_TARGETS } from './targets/answers.ts';
import { HEADER_TARGETS } from './targets/headers.ts';
import { LARGE_JSON_TARGETS } from './targets/large-json.ts';
import { SPOOL_TARGETS } from './targets/spool.ts';
import { STREAM_TARGETS } from './targets/streams.ts';
import { WEBSOCKET_TARGETS } from './targets/websockets.ts';

export const FUZZ_TARGETS: readonly FuzzTarget[] = [
  ...SPOOL_TARGETS,
  ...STREAM_TARGETS,
  ...LARGE_JSON_TARGETS,
  ...HEADER_TARGETS,
  ...ANSWER_TARGETS,
  ...WEBSOCKET_TARGETS,
];

export function fuzzChecks(cases: number, seed: number): readonly Check[] {
  return FUZZ_TARGETS.map(({ name, share, run }) => ({ name, run: () => run(Math.ceil(cases * share), seed) }));
}
