/** Sums over removed process directories, in `call-accounts.json` of the data directory; each counts once. */
import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { mergeLosses } from '../../spool/losses.ts';
import { syncDirectory } from '../../spool/segment-file.ts';
import { PROVIDER_NAMES } from '../../vocabulary/call-record.ts';
import type { EndedDirectory } from '../shipper/ship-directory.ts';
import { settleEnded } from './balance-process.ts';

/** A directory is removed right after it was taken in, so one name would do. */
const MAX_NAMES = 1_000;
const MAX_UNACCOUNTED = 100;
export const MAX_LOSS_ENTRIES = 500;

const Count = z.number().int().nonnegative();

const LossSchema = z.object({
  minuteMs: z.number(),
  accountId: z.number().nullable(),
  keyId: z.number().nullable(),
  provider: z.enum(PROVIDER_NAMES).nullable().catch(null),
  model: z.string().nullable(),
  calls: Count,
  usage: z.record(z.string(), Count),
});

const SUMS = {
  accepted: Count,
  stored: Count,
  setAside: Count,
  lost: Count,
  missing: Count,
  outcomes: z.record(z.string(), Count),
};

const FileSchema = z.object({
  ...SUMS,
  losses: z.array(LossSchema),
  unaccounted: z.array(z.object({ name: z.string(), reason: z.string() })),
  unaccountedTotal: Count,
  names: z.array(z.string()),
  /** By name: a directory that comes again, from another node, may be more complete. */
  parts: z.record(z.string(), z.object(SUMS)).default({}),
});

export type EndedTotals = Readonly<z.infer<typeof FileSchema>>;

export const NO_TOTALS: EndedTotals = {
  accepted: 0,
  stored: 0,
  setAside: 0,
  lost: 0,
  missing: 0,
  outcomes: {},
  losses: [],
  unaccounted: [],
  unaccountedTotal: 0,
  names: [],
  parts: {},
};

export interface LedgerFile {
  /** Durable when it resolves. `endedAtLeast` is the process's last word, or 0. */
  readonly takeIn: (ended: EndedDirectory, endedAtLeast: number) => Promise<void>;
  readonly read: () => Promise<EndedTotals>;
}

/** An unreadable file counts from 0 and is listed as unaccounted. */
export function openLedgerFile(file: string): LedgerFile {
  let known: EndedTotals | null = null;

  async function read(): Promise<EndedTotals> {
    known ??= await readTotals(file);
    return known;
  }

  return {
    read,
    takeIn: async (ended, endedAtLeast) => {
      const before = await read();
      const after = before.names.includes(ended.name)
        ? completeDirectory(before, ended)
        : addDirectory(before, ended, endedAtLeast);
      if (after === before) return;
      await writeDurably(file, JSON.stringify(after));
      known = after;
    },
  };
}

function addDirectory(before: EndedTotals, ended: EndedDirectory, endedAtLeast: number): EndedTotals {
  const { name, tally } = ended;
  const names = [...before.names, name].slice(-MAX_NAMES);
  const merged = mergeLosses([...before.losses, ...ended.losses.entries], MAX_LOSS_ENTRIES);
  const losses = merged.map((entry) => ({ ...entry, usage: { ...entry.usage } }));
  if (tally.unknown !== null) {
    return {
      ...before,
      losses,
      unaccounted: [...before.unaccounted, { name, reason: tally.unknown }].slice(-MAX_UNACCOUNTED),
      unaccountedTotal: before.unaccountedTotal + 1,
      names,
    };
  }
  const part = settlePart(ended, endedAtLeast);
  const parts = Object.fromEntries(
    [...Object.entries(before.parts), [name, part] as const].filter(([named]) => names.includes(named)),
  );
  return { ...before, ...addPart(before, part, 1), losses, names, parts };
}

/** A directory that comes again counts when it holds more calls than before. */
function completeDirectory(before: EndedTotals, ended: EndedDirectory): EndedTotals {
  const former = before.parts[ended.name];
  if (former === undefined || ended.tally.unknown !== null) return before;
  const part = settlePart(ended, 0);
  if (part.stored + part.setAside <= former.stored + former.setAside) return before;
  return {
    ...before,
    ...addPart(addPart(before, former, -1), part, 1),
    parts: { ...before.parts, [ended.name]: part },
  };
}

type Part = Readonly<z.infer<z.ZodObject<typeof SUMS>>>;

function settlePart({ tally, losses }: EndedDirectory, endedAtLeast: number): Part {
  return { ...settleEnded(tally, losses, endedAtLeast), outcomes: { ...tally.outcomes } };
}

function addPart(sums: Part, part: Part, sign: 1 | -1): Part {
  const outcomes: Record<string, number> = { ...sums.outcomes };
  for (const [outcome, calls] of Object.entries(part.outcomes))
    outcomes[outcome] = (outcomes[outcome] ?? 0) + sign * calls;
  return {
    accepted: sums.accepted + sign * part.accepted,
    stored: sums.stored + sign * part.stored,
    setAside: sums.setAside + sign * part.setAside,
    lost: sums.lost + sign * part.lost,
    missing: sums.missing + sign * part.missing,
    outcomes,
  };
}

async function readTotals(file: string): Promise<EndedTotals> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return NO_TOTALS;
    throw error;
  }
  const parsed = FileSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  return { ...NO_TOTALS, unaccounted: [{ name: 'call-accounts.json', reason: 'tally_lost' }], unaccountedTotal: 1 };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function writeDurably(file: string, text: string): Promise<void> {
  const temporary = `${file}.tmp`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
  await syncDirectory(dirname(file));
}
