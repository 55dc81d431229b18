/**
 * What calls have held whose results are fetched later, by the results' ids: whatever process of the node fetches one takes
 * the cost in place of what was held. In the ledger file, without names of people, runs or keys.
 */
import { hash } from 'node:crypto';
import type { BudgetLedger, Claim } from '../../budgets/ledger.ts';
import { nameOf } from '../../budgets/share.ts';
import type { CallBegin } from '../../vocabulary/call-record.ts';
import type { PicoUsd } from '../../vocabulary/usd.ts';

type Asked = Pick<CallBegin, 'accountId' | 'provider'>;

function nameResult({ accountId, provider }: Asked, id: string): string {
  return hash('sha256', `${accountId}\n${provider}\n${id}`, 'base64url');
}

function nameScope(claim: Claim): string {
  return hash('sha256', nameOf(claim), 'base64url');
}

export class LaterHolds {
  readonly #ledger: BudgetLedger;
  readonly #nowMs: () => number;
  readonly #onFailure: (error: unknown) => void;

  constructor(ledger: BudgetLedger, nowMs: () => number, onFailure: (error: unknown) => void) {
    this.#ledger = ledger;
    this.#nowMs = nowMs;
    this.#onFailure = onFailure;
  }

  /** All that these claims hold counts as spent, until the result is fetched. */
  note(asked: Asked, id: string, claims: readonly Claim[]): void {
    const held = claims.map((claim) => [nameScope(claim), String(claim.amount)] as const);
    try {
      this.#ledger.noteLaterHold(nameResult(asked, id), JSON.stringify(Object.fromEntries(held)), this.#nowMs());
    } catch (error) {
      this.#onFailure(error);
    }
  }

  /**
   * What of its cost the call that fetches the result adds to its own budgets. Below 0 where they had held more for it. One
   * that comes under other budgets or in another period leaves what was held, and adds what the result costs beyond it.
   */
  costOfFetched(asked: Asked, id: string, claims: readonly Claim[], cost: PicoUsd): PicoUsd {
    const held = this.#take(nameResult(asked, id));
    if (held === null) return cost;
    if (held === 'taken') return 0n;
    const own = claims.map((claim) => held.get(nameScope(claim)));
    const isSame = !own.includes(undefined);
    const amounts = isSame ? own : [...held.values()];
    // One number counts in all budgets: what any of them did not hold has to be added.
    const least = amounts.reduce<PicoUsd | undefined>(
      (low, amount = 0n) => (low === undefined || amount < low ? amount : low),
      undefined,
    );
    const added = cost - (least ?? 0n);
    return isSame || added > 0n ? added : 0n;
  }

  #take(name: string): ReadonlyMap<string, PicoUsd> | 'taken' | null {
    try {
      const found = this.#ledger.takeLaterHold(name);
      if (found === null || found.isTaken) return found === null ? null : 'taken';
      const held: unknown = JSON.parse(found.held);
      return new Map(Object.entries(Object(held)).map(([scope, amount]) => [scope, BigInt(String(amount))]));
    } catch (error) {
      this.#onFailure(error);
      return null;
    }
  }
}
