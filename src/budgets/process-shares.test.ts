/** What a process takes of a budget for calls that hold nothing, beside those that hold something. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { countingClaim } from './claims.ts';
import { BudgetLedger, type Claim } from './ledger.ts';
import { openLedgerDatabase } from './ledger-file.ts';
import { LedgerUpkeep } from './ledger-upkeep.ts';
import { ProcessShares } from './process-shares.ts';

const dir = mkdtempSync(join(tmpdir(), 'tollgate-shares-'));
const file = join(dir, 'budgets.db');
const upkeep = new LedgerUpkeep(openLedgerDatabase(file, 'process'));
const ledger = new BudgetLedger(openLedgerDatabase(file, 'process'));
const shares = new ProcessShares(ledger, 'p1', Date.now, (error) => {
  throw error;
});

beforeEach(() => upkeep.setMode('sole'));

afterAll(() => {
  shares.close();
  ledger.close();
  upkeep.close();
  rmSync(dir, { recursive: true, force: true });
});

let budgets = 0;

function newClaim(): Claim {
  budgets += 1;
  const scope = { accountId: 1, budgetId: budgets, value: '', periodStartMs: 0 };
  return { ...scope, limit: 10_000n, isHard: true, amount: 500n };
}

/** What the process has spent of it, and what it was granted beyond that. */
function readUse(claim: Claim) {
  const [use] = upkeep.list(claim, {}, 1, []);
  return [use?.spent, use?.reserved];
}

let calls = 0;

function reserve(claim: Claim) {
  calls += 1;
  const callId = String(calls);
  const answer = shares.tryReserve(callId, [claim]) ?? shares.reserve([{ callId, claims: [claim], waitedMs: 0 }])[0];
  return { callId, kind: answer?.kind };
}

const kinds = (claim: Claim, count: number) => Array.from({ length: count }, () => reserve(claim).kind);

test('a call that only counts takes no money, so that hard calls stay within what this node holds', () => {
  const claim = newClaim();
  upkeep.setMode('sharing');
  upkeep.setHeld(claim, 1_000n, 0);
  const fetching = reserve(countingClaim(claim));
  expect(fetching.kind).toBe('reserved');
  expect(kinds(claim, 3)).toEqual(['reserved', 'reserved', 'short']);
  shares.settle({ callId: fetching.callId, cost: 700n });
  expect(reserve(countingClaim(claim)).kind).toBe('reserved');
  expect(kinds(claim, 1)).toEqual(['short']);
});

test('a call that only counts passes while this node may not spend, and opens the budget to no other', () => {
  const claim = newClaim();
  upkeep.setMode('waiting');
  expect(kinds(countingClaim(claim), 2)).toEqual(['reserved', 'reserved']);
  expect(kinds(claim, 2)).toEqual(['short', 'short']);
  upkeep.setMode('sole');
  expect(kinds(claim, 1)).toEqual(['reserved']);
});

test('a call that only counts passes a budget that is used up, and makes it no larger', () => {
  const claim = newClaim();
  expect(kinds({ ...claim, amount: 10_000n }, 1)).toEqual(['reserved']);
  const fetching = reserve(countingClaim(claim));
  expect(fetching.kind).toBe('reserved');
  shares.settle({ callId: fetching.callId, cost: 1n });
  expect(kinds(claim, 1)).toEqual(['refused']);
});

test('what a budget granted while it was soft is not spent when it has become hard', () => {
  const claim = newClaim();
  upkeep.setMode('sharing');
  upkeep.setHeld(claim, 1_000n, 0);
  expect(kinds({ ...claim, isHard: false }, 1)).toEqual(['reserved']);
  expect(kinds(claim, 2)).toEqual(['reserved', 'short']);
});

test('a call that holds nothing for long is counted when it ends', async () => {
  const [counting, unsure] = [newClaim(), { ...newClaim(), amount: 0n }];
  const fetching = reserve(countingClaim(counting));
  const open = reserve(unsure);
  expect(readUse(unsure)).toEqual([0n, 5_000n]);
  // It is given back, since nobody uses it.
  await vi.waitUntil(() => readUse(unsure)[1] === 0n, 10_000);
  shares.settle({ callId: fetching.callId, cost: 30n });
  shares.settle({ callId: open.callId, cost: 40n });
  await vi.waitUntil(() => readUse(counting)[0] === 30n && readUse(unsure)[0] === 40n, 2_000);
});

/** Of a second process, which is killed without a word where it is not closed. */
function openOther(process: string) {
  let isKilled = false;
  const own = new BudgetLedger(openLedgerDatabase(file, 'process'));
  const other = new ProcessShares(own, process, Date.now, (error) => {
    if (!isKilled) throw error;
  });
  return {
    spend: (claim: Claim, cost: bigint | null) => {
      calls += 1;
      const callId = String(calls);
      const request = { callId, claims: [claim], waitedMs: 0 };
      const answer = other.tryReserve(callId, [claim]) ?? other.reserve([request])[0];
      other.settle({ callId, cost });
      return answer?.kind;
    },
    close: () => {
      other.close();
      own.close();
    },
    kill: () => {
      isKilled = true;
      own.close();
    },
  };
}

test('what a fetched result takes off counts, though another process held it, and after both have ended', async () => {
  const claim = { ...newClaim(), amount: 5_000n };
  const [asking, fetching] = [openOther('asking'), openOther('fetching')];
  expect(asking.spend(claim, null)).toBe('reserved');
  asking.close();
  upkeep.takeInProcess('asking', [{ ...claim, spent: 5_000n, refunded: 0n }]);
  expect(fetching.spend(countingClaim(claim), -4_500n)).toBe('reserved');
  await vi.waitUntil(() => readUse(claim)[0] === 500n, 2_000);
  // What it does not use for half a second it gives back, and forgets.
  await new Promise((resolve) => setTimeout(resolve, 900));
  expect(readUse(claim)).toEqual([500n, 0n]);
  expect(kinds({ ...claim, amount: 9_501n }, 1)).toEqual(['refused']);
  expect(fetching.spend(countingClaim(claim), 20n)).toBe('reserved');
  fetching.close();
  expect(readUse(claim)).toEqual([520n, 0n]);
  upkeep.takeInProcess('fetching', [{ ...claim, spent: -4_480n, refunded: 4_500n }]);
  expect(readUse(claim)).toEqual([520n, 0n]);
});

test('of a process that is killed what its records take off counts, and what it had written of lost records', () => {
  const claim = { ...newClaim(), amount: 5_000n };
  const [asking, fetching] = [openOther('asking2'), openOther('fetching2')];
  asking.spend(claim, 5_000n);
  asking.close();
  fetching.spend(countingClaim(claim), -4_500n);
  fetching.kill();
  expect(readUse(claim)[0]).toBe(5_000n);
  upkeep.takeInProcess('fetching2', [{ ...claim, spent: -4_500n, refunded: 4_500n }]);
  expect(readUse(claim)).toEqual([500n, 0n]);

  const other = { ...newClaim(), amount: 100n };
  const standing = { granted: 100n, spent: 100n, refunded: 0n, reserved: 0n };
  ledger.noteUse(other, null, 0);
  ledger.writeShare(other, 'killed', standing, 0);
  // It has fetched a result after it wrote, and the record of what it spent before is lost.
  upkeep.takeInProcess('killed', [{ ...other, spent: -40n, refunded: 40n }]);
  expect(readUse(other)).toEqual([60n, 0n]);
  ledger.writeShare(other, 'killed later', { ...standing, spent: 60n, refunded: 40n }, 0);
  // The record of the result is lost.
  upkeep.takeInProcess('killed later', [{ ...other, spent: 100n, refunded: 0n }]);
  expect(readUse(other)).toEqual([120n, 0n]);
});

test('what was held for later results before the sums of a budget are replaced is not taken off them', () => {
  ledger.noteLaterHold('result', '{}', 0);
  upkeep.replaceSpent([], []);
  expect(ledger.takeLaterHold('result')).toBeNull();
});

test('processes are asked for all scopes at once, so that one that stands still is waited for once', async () => {
  const claims = Array.from({ length: 30 }, newClaim);
  for (const claim of claims) {
    ledger.noteUse(claim, null, 0);
    ledger.writeShare(claim, 'still', { granted: 9n, spent: 0n, refunded: 0n, reserved: 9n }, 0);
  }
  const { asked } = ledger.readSignal(0);
  const before = performance.now();
  await upkeep.ask(['still'], claims);
  // A tenth of a second for each would be three.
  expect(performance.now() - before).toBeLessThan(1_500);
  expect(ledger.listAsked(asked)).toHaveLength(30);
});
