/** Verifies the whole audit log of the database. Call it in a snapshot, so that nothing is added or removed meanwhile. */
import type pg from 'pg';
import { readChainEnds, readEntriesAfter } from './list-entries.ts';
import { type ChainVerdict, checkChain } from './verify-chain.ts';

const ROWS_AT_A_TIME = 1_000;

export async function verifyLog(client: pg.ClientBase, expected: string | null): Promise<ChainVerdict> {
  const { seq, hash, anchorSeq, anchorHash } = await readChainEnds(client);
  const check = checkChain({ seq: anchorSeq, hash: anchorHash }, expected);
  for (let after = anchorSeq; ; ) {
    const entries = await readEntriesAfter(client, after, ROWS_AT_A_TIME);
    if (!entries.every(check.add)) return check.verdict();
    const last = entries.at(-1);
    if (last === undefined) break;
    after = last.seq;
  }
  const verdict = check.verdict();
  if (verdict.lastHash === hash && (verdict.lastSeq ?? anchorSeq) === seq) return verdict;
  const why =
    (verdict.lastSeq ?? anchorSeq) < seq
      ? `the latest rows are missing: the log had ${seq}`
      : 'it is not the row that the log ended with';
  return { ...verdict, broken: { seq: (verdict.lastSeq ?? anchorSeq) + 1, why } };
}
