/**
 * What became of the calls of processes that are gone: their accounts, added up in `call-accounts.json` of the data
 * directory before their process directories are removed. Each is taken in once, by its name. Not the accounts of what
 * is still there.
 */
import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { PROVIDER_NAMES } from '../../call-record.ts';
import type { EndedDirectory } from '../../shipper/ship-directory.ts';
import type { LossEntry } from '../../spool/loss-table.ts';
import { syncDirectory } from '../../spool/segment-file.ts';
import { closeAccount } from './close-account.ts';
import { mergeLosses } from './merge-losses.ts';

/** Names that are remembered. A directory is removed right after its account was taken in, so that one would do. */
const MAX_NAMES = 1_000;
/** Directories whose calls cannot be counted; of more than these the number is kept. */
const MAX_UNACCOUNTED = 100;

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
  /** Of those that were lost: nothing says why. */
  missing: Count,
  outcomes: z.record(z.string(), Count),
};

const FileSchema = z.object({
  ...SUMS,
  losses: z.array(LossSchema),
  unaccounted: z.array(z.object({ name: z.string(), reason: z.string() })),
  unaccountedTotal: Count,
  /** Of the directories that are in here, the latest last. */
  names: z.array(z.string()),
  /** What each of them has brought: one that comes again, from another node, may be more complete. */
  parts: z.record(z.string(), z.object(SUMS)).default({}),
});

export type GoneAccounts = Readonly<z.infer<typeof FileSchema>>;

export const NO_ACCOUNTS: GoneAccounts = {
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

export interface CallAccounts {
  /** Durable when it resolves. `endedAtLeast`: calls that had ended when the process last said so, or 0. */
  readonly takeIn: (ended: EndedDirectory, endedAtLeast: number) => Promise<void>;
  readonly read: () => Promise<GoneAccounts>;
}

/** A file that cannot be read counts from 0, and says so among what is unaccounted. */
export function createCallAccounts(file: string): CallAccounts {
  let known: GoneAccounts | null = null;

  async function read(): Promise<GoneAccounts> {
    known ??= await readAccountsFile(file);
    return known;
  }

  return {
    read,
    takeIn: async (ended, endedAtLeast) => {
      const before = await read();
      const after = before.names.includes(ended.name)
        ? completeAccount(before, ended)
        : addAccount(before, ended, endedAtLeast);
      if (after === before) return;
      await writeDurably(file, JSON.stringify(after));
      known = after;
    },
  };
}

export function addAccount(before: GoneAccounts, ended: EndedDirectory, endedAtLeast: number): GoneAccounts {
  const { name, tally, losses } = ended;
  const names = [...before.names, name].slice(-MAX_NAMES);
  const entries: readonly LossEntry[] = [...before.losses, ...losses.entries];
  const merged = mergeLosses(entries).map((entry) => ({ ...entry, usage: { ...entry.usage } }));
  if (tally.unknown !== null) {
    return {
      ...before,
      losses: merged,
      unaccounted: [...before.unaccounted, { name, reason: tally.unknown }].slice(-MAX_UNACCOUNTED),
      unaccountedTotal: before.unaccountedTotal + 1,
      names,
    };
  }
  const part: Part = { ...closeAccount(tally, losses, endedAtLeast), outcomes: { ...tally.outcomes } };
  const parts = Object.fromEntries(
    [...Object.entries(before.parts), [name, part] as const].filter(([named]) => names.includes(named)),
  );
  return { ...before, ...addPart(before, part, 1), losses: merged, names, parts };
}

type Part = Readonly<z.infer<z.ZodObject<typeof SUMS>>>;

/** A directory that comes again: as it is now, when more of its calls are in it than before. */
function completeAccount(before: GoneAccounts, { name, tally, losses }: EndedDirectory): GoneAccounts {
  const former = before.parts[name];
  if (former === undefined || tally.unknown !== null) return before;
  const part: Part = { ...closeAccount(tally, losses, 0), outcomes: { ...tally.outcomes } };
  if (part.stored + part.setAside <= former.stored + former.setAside) return before;
  return { ...before, ...addPart(addPart(before, former, -1), part, 1), parts: { ...before.parts, [name]: part } };
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

async function readAccountsFile(file: string): Promise<GoneAccounts> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return NO_ACCOUNTS;
    throw error;
  }
  const parsed = FileSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  return { ...NO_ACCOUNTS, unaccounted: [{ name: 'call-accounts.json', reason: 'tally_lost' }], unaccountedTotal: 1 };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not what the schema wants, whatever it is.
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
