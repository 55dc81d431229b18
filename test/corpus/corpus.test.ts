/** The corpus of malformed input, whole and cut once; `npm run corpus` does more of it and prints what came of it. */
import { expect, test } from 'vitest';
import { WHOLE } from './bytes.ts';
import {
  type Leftovers,
  type ReplayResult,
  runAdminRequests,
  runHttp2Requests,
  runRequests,
  runResponses,
} from './corpus.ts';

const MIB = 1024 * 1024;
/** Far below what is sent, and what it decodes to; a second pass adds nothing. */
const HEAP_LIMIT_BYTES = 128 * MIB;
/** Memory that was freed is not given back to the system at once. */
const PROCESS_LIMIT_BYTES = 400 * MIB;

function expectNothingLeft({ findings, leftovers }: ReplayResult): void {
  expect(findings).toEqual([]);
  const { heapGrowthBytes, rssGrowthBytes, ...open }: Partial<Leftovers> = leftovers ?? {};
  expect(open).toEqual({ openCalls: 0, clientConnections: 0, http2Sessions: 0, unfinishedRecords: 0 });
  expect(heapGrowthBytes).toBeLessThan(HEAP_LIMIT_BYTES);
  expect(rssGrowthBytes).toBeLessThan(PROCESS_LIMIT_BYTES);
}

test('malformed and ambiguous requests are refused or read in one way, and nothing behind them is smuggled', async () => {
  expectNothingLeft(await runRequests([WHOLE]));
});

test('in the frames of HTTP/2 too, and a good request on the same connection is not harmed', async () => {
  expectNothingLeft(await runHttp2Requests([WHOLE]));
});

test('no client takes a broken answer for a whole one, and none gets bytes of another’s', async () => {
  expectNothingLeft(await runResponses(['HTTP/1.1', 'HTTP/2']));
});

test('on the admin port malformed requests run nothing, and nothing that stands behind them', async () => {
  expect((await runAdminRequests([WHOLE])).findings).toEqual([]);
});
