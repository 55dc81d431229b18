/** `npm run bench:shipping`: what it costs to bring a call from the spool into the database. */
import { parseArgs } from 'node:util';
import { createCallMaker } from './made-calls.ts';
import { type Figures, openStage, type ShippingStage } from './stage.ts';

const USAGE = `npm run bench:shipping -- [options]
  --rounds N       of each line (5); medians are printed
  --only TEXT      the lines whose name holds this
  --no-texts       as with TOLLGATE_SEARCH=off`;

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    'no-texts': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const print = (text: string) => void process.stdout.write(`${text}\n`);

interface Line {
  readonly name: string;
  /** Calls that are in the spool together. */
  readonly calls: number;
  readonly times: number;
  readonly hasBodies: boolean;
  /** Their beginnings are shipped before, as those of calls that take long. */
  readonly isLong: boolean;
}

function line(name: string, calls: number, times: number, more: Partial<Line> = {}): Line {
  return { name: `${name}, ${calls} together`, calls, times, hasBodies: false, isLong: false, ...more };
}

const LINES: readonly Line[] = [
  ...[false, true].flatMap((hasBodies) => {
    const name = hasBodies ? 'with bodies' : 'without bodies';
    return [
      line(name, 1, 100, { hasBodies }),
      line(name, 20, 30, { hasBodies }),
      line(name, 200, 10, { hasBodies }),
      line(name, 1_000, 3, { hasBodies }),
    ];
  }),
  line('without bodies, begun before', 200, 10, { isLong: true }),
];

const NOTHING: Figures = { controlUs: 0, databaseUs: 0, walBytes: 0, tookMs: 0 };

function add(a: Figures, b: Figures): Figures {
  return {
    controlUs: a.controlUs + b.controlUs,
    databaseUs: a.databaseUs + b.databaseUs,
    walBytes: a.walBytes + b.walBytes,
    tookMs: a.tookMs + b.tookMs,
  };
}

/** Made meanwhile, the calls would count; so they are made before. */
async function measureRound(stage: ShippingStage, maker: ReturnType<typeof createCallMaker>, line: Line) {
  let sum = NOTHING;
  for (let time = 0; time < line.times; time += 1) {
    const calls = maker.make(line.calls, line.hasBodies);
    if (line.isLong) sum = add(sum, await stage.begin(calls));
    sum = add(sum, await stage.ship(calls, line.isLong));
  }
  return { shipping: sum, folding: await stage.fold() };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function run(): Promise<void> {
  const stage = await openStage({ keepsTexts: !options['no-texts'] });
  try {
    const maker = createCallMaker(stage.keyId, Date.now() - 3_600_000);
    const warm = { ...line('warm', 500, 6), hasBodies: true };
    await measureRound(stage, maker, warm);
    print(
      'each call                                     control µs  database µs  folding µs    both  WAL bytes  calls/s',
    );
    for (const line of LINES.filter(({ name }) => name.includes(options.only))) {
      const rounds: { readonly shipping: Figures; readonly folding: Figures }[] = [];
      for (let round = 0; round < Number(options.rounds); round += 1)
        rounds.push(await measureRound(stage, maker, line));
      const calls = line.calls * line.times;
      const each = (pick: (round: (typeof rounds)[number]) => number) => median(rounds.map(pick)) / calls;
      const control = each(({ shipping }) => shipping.controlUs);
      const database = each(({ shipping }) => shipping.databaseUs);
      const folding = each(({ folding }) => folding.controlUs + folding.databaseUs);
      const wal = each(({ shipping, folding }) => shipping.walBytes + folding.walBytes);
      const perSecond = 1_000 / each(({ shipping }) => shipping.tookMs);
      const cells = [control, database, folding, control + database + folding, wal, perSecond];
      const widths = [12, 13, 12, 8, 11, 9];
      print(
        line.name.padEnd(44) +
          cells
            .map((cell, at) =>
              Math.round(cell)
                .toString()
                .padStart(widths[at] ?? 9),
            )
            .join(''),
      );
    }
  } finally {
    await stage.close();
  }
}

if (options.help) print(USAGE);
else await run();
