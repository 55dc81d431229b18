/** Everything that is fuzzed. */
import type { FuzzTarget } from './target.ts';
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
