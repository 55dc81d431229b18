/** `npm run bench:queries`: how long every question of the API takes over logs of several sizes, cold and warm. */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { drawSamples, measureQuestion } from './measure.ts';
import { QUESTIONS } from './questions.ts';
import { formatSizes, formatTable, type SizeResult } from './report.ts';
import { formatCalls, openStage } from './stage.ts';
import { readTableSizes } from './table-sizes.ts';

const USAGE = `npm run bench:queries -- [options]
  --calls LIST     sizes of the log (100k,1m)
  --data DIR       keeps the seeded data there, and uses what is there
  --seed-only      asks nothing
  --verify         compares all roll-ups with the records first
  --only TEXT      the questions whose group and name hold this
  --no-cold        no restarts of PostgreSQL
  --limit SECONDS  of one answer (60)
  --budget SECONDS of all answers to a question, the first excepted (20)
  --json FILE      the results as JSON too`;

const { values: options } = parseArgs({
  options: {
    calls: { type: 'string', default: '100k,1m' },
    data: { type: 'string' },
    'seed-only': { type: 'boolean', default: false },
    verify: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    'no-cold': { type: 'boolean', default: false },
    limit: { type: 'string', default: '60' },
    budget: { type: 'string', default: '20' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const say = (text: string) => void process.stderr.write(`${text}\n`);
const print = (text: string) => void process.stdout.write(`${text}\n`);

function parseCalls(text: string): number {
  const [, digits, unit] = /^(\d+)(k|m)$/.exec(text) ?? [];
  if (digits === undefined) throw new Error(`--calls takes sizes such as 100k or 10m, not ${text}`);
  return Number(digits) * (unit === 'm' ? 1_000_000 : 1_000);
}

async function measureSize(calls: number): Promise<SizeResult> {
  const stage = await openStage({ calls, dataDir: options.data ?? null, verify: options.verify, say });
  try {
    const questions = options['seed-only']
      ? []
      : QUESTIONS.filter(({ group, name }) => `${group}: ${name}`.includes(options.only));
    const samples = questions.length === 0 ? [] : await drawSamples(stage);
    const measured = [];
    for (const question of questions) {
      const limits = {
        limitMs: Number(options.limit) * 1_000,
        budgetMs: Number(options.budget) * 1_000,
        isCold: !options['no-cold'],
      };
      const result = await measureQuestion(stage, question, samples, limits);
      measured.push(result);
      const { coldMs, p50Ms, p95Ms, error } = result;
      say(
        `${formatCalls(calls)} ${question.group}: ${question.name}: cold ${coldMs?.toFixed(0) ?? '-'}, p50 ${p50Ms?.toFixed(0) ?? '-'}, p95 ${p95Ms?.toFixed(0) ?? '-'} ms ${error ?? ''}`,
      );
    }
    return { calls, untilMs: stage.untilMs, questions: measured, tables: await readTableSizes(stage.pool) };
  } finally {
    await stage.close();
  }
}

if (options.help) print(USAGE);
else {
  const results: SizeResult[] = [];
  for (const text of options.calls.split(',')) results.push(await measureSize(parseCalls(text)));
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(results, null, 1)}\n`);
  if (!options['seed-only']) print(`${formatTable(results)}\n`);
  for (const result of results) print(`${formatSizes(result)}\n`);
}
