/** `npm run soak`: a gateway under load and random faults for some minutes, and the count of what is lost. Nothing may be. */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { formatSoak, LEGEND, listFaults } from './report.ts';
import { runSoak } from './run-soak.ts';

const USAGE = `npm run soak -- [options]
  --minutes N   of load and faults (30)
  --clients N   concurrent clients (16)
  --seed N      of the calls, the faults and their moments (drawn, and printed, when not given)
  --json        the result as JSON on standard output
  --log FILE    what the gateway printed
For example: npm run soak -- --minutes 5 --seed 7

${LEGEND}
The time line goes to standard error. Needs Linux, and root for the disk (without it the disk is never full).
Exit code 1 when anything that must be zero is not.`;

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    clients: { type: 'string', default: '16' },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
    log: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const MAX_SEED = 1_000_000;
const say = (text: string) => process.stderr.write(`${text}\n`);

if (options.help) {
  process.stdout.write(`${USAGE}\n`);
} else if (process.platform !== 'linux') {
  say('This program reads /proc and mounts a tmpfs: it runs on Linux only.');
  process.exitCode = 2;
} else {
  const seed = options.seed === undefined ? Math.floor(Math.random() * MAX_SEED) : Number(options.seed);
  const result = await runSoak({ minutes: Number(options.minutes), clients: Number(options.clients), seed, say });
  const { gatewayLog, ...shown } = result;
  if (options.log !== undefined) writeFileSync(options.log, gatewayLog);
  const faults = listFaults(result);
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ ...shown, faults: Object.fromEntries(result.faults), mustBeZero: faults }, toJson, 2)}\n`
      : `${formatSoak(result)}\n`,
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
}

/** Pico-dollars as text: no float. */
function toJson(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
