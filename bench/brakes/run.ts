/**
 * Made loops and normal runs through the shipper's own code and a real database: which loops the brakes find as they come,
 * how long after the call that makes their rule true, and how many normal runs they take for loops.
 * `npm run bench:brakes [-- --loops 210 --normal 1001]`.
 */
import { parseArgs } from 'node:util';
import { measureLoops } from './measure-loops.ts';
import { measureNormal } from './measure-normal.ts';
import { openBrakeStage } from './stage.ts';

const { values } = parseArgs({
  options: { loops: { type: 'string', default: '210' }, normal: { type: 'string', default: '1001' } },
});
const stage = await openBrakeStage();
try {
  const kinds = await measureLoops(stage, Number(values.loops));
  const normal = await measureNormal(stage, Number(values.normal));
  process.stdout.write('kind of loop      made  found  within 10 s  longest\n');
  for (const { kind, made, found, inTime, longestMs } of kinds)
    process.stdout.write(
      `${kind.padEnd(16)}  ${String(made).padStart(4)}  ${String(found).padStart(5)}  ${String(inTime).padStart(11)}  ${(longestMs / 1_000).toFixed(1).padStart(5)} s\n`,
    );
  const made = kinds.reduce((sum, kind) => sum + kind.made, 0);
  const inTime = kinds.reduce((sum, kind) => sum + kind.inTime, 0);
  process.stdout.write(`found in time: ${inTime} of ${made} (${((100 * inTime) / made).toFixed(1)} %)\n`);
  process.stdout.write(`normal runs: ${normal.runs}, calls: ${normal.calls}, false alarms: ${normal.hits.length}\n`);
  for (const hit of normal.hits) process.stdout.write(`  ${hit}\n`);
  if (inTime < made * 0.95 || normal.hits.length > normal.runs / 1_000) process.exitCode = 1;
} finally {
  await stage.close();
}
