/**
 * `npm run corpus`: the whole corpus of malformed input against both ports, whole and cut, and a table of what came of
 * it. Ends with 1 when anything is not as it has to be.
 */
import { type CorpusPart, runAdminRequests, runHttp2Requests, runRequests, runResponses } from './corpus.ts';
import { atLineEnds, BYTE_BY_BYTE, WHOLE } from './cuts.ts';

const SEEDS = [1, 2, 3];

const faults: string[] = [];
process.on('uncaughtException', (error) => faults.push(`uncaught: ${error.stack ?? error.message}`));
process.on('unhandledRejection', (reason) => faults.push(`unhandled: ${String(reason)}`));

const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

function print(part: CorpusPart): void {
  console.log(
    `\n${part.title}: ${part.cases} cases, ${part.exchanges} exchanges, ${part.wrong.length} not as they have to be`,
  );
  for (const [outcome, count] of [...part.outcomes].sort(([, a], [, b]) => b - a)) {
    console.log(`  ${String(count).padStart(5)}  ${outcome}`);
  }
  const { leftovers } = part;
  if (leftovers !== null) {
    const { heapGrowthBytes, rssGrowthBytes, openCalls, clientConnections, http2Sessions, unfinishedRecords } =
      leftovers;
    console.log(`  afterwards: heap ${mebibytes(heapGrowthBytes)} more, process ${mebibytes(rssGrowthBytes)} more,`);
    console.log(
      `  ${openCalls} open calls, ${clientConnections} connections, ${http2Sessions} sessions, ${unfinishedRecords} records without an ending`,
    );
  }
  for (const line of part.wrong) console.log(`  WRONG ${line}`);
}

const cuts = [WHOLE, ...SEEDS.map(atLineEnds), BYTE_BY_BYTE];
const parts: CorpusPart[] = [];
for (const run of [
  () => runRequests(cuts),
  () => runHttp2Requests(cuts),
  () => runResponses(['HTTP/1.1', 'HTTP/1.0', 'HTTP/2']),
  () => runAdminRequests(cuts),
]) {
  const part = await run();
  parts.push(part);
  print(part);
}
const cases = countCases(parts);
const wrong = parts.reduce((sum, part) => sum + part.wrong.length, 0);
console.log(
  `\n${cases} cases, ${parts.reduce((sum, part) => sum + part.exchanges, 0)} exchanges, ${wrong} wrong, ${faults.length} uncaught`,
);
for (const fault of faults) console.log(fault);
process.exitCode = wrong + faults.length === 0 ? 0 : 1;

/** The requests of HTTP/1.1 are sent to both ports. */
function countCases(all: readonly CorpusPart[]): number {
  return all.slice(0, 3).reduce((sum, part) => sum + part.cases, 0);
}
