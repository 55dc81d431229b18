/** The bounds and costs of a process's calls, by the price book of their account, and what is learnt from call to call. */
import { countPrompt } from '../../vocabulary/token-usage.ts';
import type { PicoUsd } from '../../vocabulary/usd.ts';
import { MAX_MODEL_LENGTH } from '../billing-terms.ts';
import type { PriceBook } from '../price-book.ts';
import type { BilledBegin, BilledEnd } from '../to-billable-call.ts';
import { ExactRates } from './exact-rates.ts';
import { createFindGreatestCost, type FindGreatestCost } from './find-greatest-cost.ts';
import type { AskedCall, GreatestCost, RepeatedResult, SettledCost } from './greatest-cost.ts';
import { KnownAnswers } from './known-answers.ts';
import { type BodyHashes, hashBody, KnownPrompts, MAX_BODY_BYTES, sizeOfHashes } from './known-prompts.ts';
import { KnownResults } from './known-results.ts';
import { LearntExcess } from './learnt-excess.ts';
import { readSearchText } from './search-text.ts';
import { settledCostOf } from './settled-cost.ts';
import { UsualCosts } from './usual-costs.ts';

export interface CallCosts {
  /** Takes microseconds, and never throws. */
  readonly greatestOf: (accountId: number, call: AskedCall) => GreatestCost;
  /** `id`: of the call that was asked about, where its prompt is to be remembered. */
  readonly settledOf: (
    accountId: number,
    begin: BilledBegin & { readonly id?: string },
    end: BilledEnd & { readonly providerRequestId?: string | null },
  ) => SettledCost | RepeatedResult;
}

/** Calls between their bound and their cost; those that never end are forgotten. */
const MAX_OPEN = 4_096;
const MAX_OPEN_BYTES = 8 * 1024 * 1024;
/** The provider may leave out a part of what is sent, so that its count says nothing about the whole. */
const SHORTENED = /"(?:truncation"|clear_|compact|defer_loading")/;

interface Finders {
  readonly findGreatest: FindGreatestCost;
  readonly exactRates: ExactRates;
}

interface OpenCall {
  readonly kind: Kind;
  /** As the request alone gave it; null where nothing is known. */
  readonly bound: PicoUsd | null;
  /** Whose prompts these are counted with; empty without hashes. */
  readonly conversation: string;
  readonly hashes: BodyHashes | null;
  /** What the provider counts of it is all of it. */
  readonly isCountedWhole: boolean;
}

/** A body that is too long to be hashed is not searched either. */
function isCountedWhole({ id, body }: AskedCall): boolean {
  if (id === undefined || !(body instanceof Buffer) || body.length > MAX_BODY_BYTES) return false;
  return !SHORTENED.test(readSearchText(body));
}

function readHashes({ conversations, body }: AskedCall): BodyHashes | null {
  return conversations === undefined || !(body instanceof Buffer) ? null : hashBody(body);
}

/** What has the same tokenizer and the same rules for what is counted. Accounts learn nothing from each other. */
interface Kind {
  readonly accountId: number;
  readonly keyId: number | null;
  readonly provider: string;
  readonly providerAlias: string | null;
  readonly family: string;
  readonly model: string | null;
  readonly name: string;
  /** With the key; null where it is not known. */
  readonly usualOf: string | null;
}

function isOfKind(kind: Kind, accountId: number, call: AskedCall): boolean {
  return (
    kind.accountId === accountId &&
    kind.keyId === (call.keyId ?? null) &&
    kind.provider === call.provider &&
    kind.providerAlias === call.providerAlias &&
    kind.family === call.endpoint.family &&
    kind.model === call.modelRequested
  );
}

function describeKind(accountId: number, call: AskedCall): Kind {
  const { keyId = null, provider, providerAlias, endpoint, modelRequested } = call;
  const name = `${accountId}\n${provider}\n${providerAlias ?? ''}\n${endpoint.family}\n${modelRequested?.slice(0, MAX_MODEL_LENGTH) ?? ''}`;
  return {
    accountId,
    keyId,
    provider,
    providerAlias,
    family: endpoint.family,
    model: modelRequested,
    name,
    usualOf: keyId === null ? null : `${keyId}\n${name}`,
  };
}

function nameConversation(kind: Kind, call: AskedCall): string {
  return `${call.conversations ?? ''}\n${kind.name}`;
}

/** `bookOf` is null as long as the prices are not loaded: until then nothing has one. */
export function createCallCosts(bookOf: (accountId: number) => PriceBook | null): CallCosts {
  const finders = new WeakMap<PriceBook, Finders>();
  const prompts = new KnownPrompts();
  const excess = new LearntExcess();
  const usualCosts = new UsualCosts();
  const answers = new KnownAnswers();
  const results = new KnownResults();
  const open = new Map<string, OpenCall>();
  /** The last call's, which is mostly the next one's. */
  let lastKind: Kind | null = null;
  let openBytes = 0;

  function findersOf(book: PriceBook): Finders {
    const known = finders.get(book);
    if (known !== undefined) return known;
    const made = { findGreatest: createFindGreatestCost(book, answers.find), exactRates: new ExactRates(book) };
    finders.set(book, made);
    return made;
  }

  function kindOf(accountId: number, call: AskedCall): Kind {
    if (lastKind === null || !isOfKind(lastKind, accountId, call)) lastKind = describeKind(accountId, call);
    return lastKind;
  }

  function keepOpen(id: string, call: OpenCall): void {
    open.set(id, call);
    openBytes += sizeOf(call);
    // Looking for the oldest costs something, since ended calls leave gaps before it.
    if (open.size <= MAX_OPEN && openBytes <= MAX_OPEN_BYTES) return;
    for (const [oldest, entry] of open) {
      if (open.size <= MAX_OPEN && openBytes <= MAX_OPEN_BYTES) break;
      open.delete(oldest);
      openBytes -= sizeOf(entry);
    }
  }

  function takeOpen(id: string | undefined): OpenCall | null {
    const call = id === undefined ? undefined : open.get(id);
    if (call === undefined || id === undefined) return null;
    open.delete(id);
    openBytes -= sizeOf(call);
    return call;
  }

  return {
    greatestOf(accountId, call) {
      const book = bookOf(accountId);
      if (book === null) return { kind: 'unknown', why: 'unpriced' };
      const kind = kindOf(accountId, call);
      const isWhole = isCountedWhole(call);
      const hashes = isWhole ? readHashes(call) : null;
      const conversation = hashes === null ? '' : nameConversation(kind, call);
      const counted = hashes === null ? null : prompts.find(conversation, hashes);
      const found = findersOf(book).findGreatest(call, counted);
      const bound = found.kind === 'known' ? found.amount : null;
      const greatest = found.kind === 'known' ? { ...found, amount: excess.raise(kind.name, found.amount) } : found;
      if (call.id !== undefined && call.endpoint.fetchesResult !== true)
        keepOpen(call.id, { kind, bound, conversation, hashes, isCountedWhole: isWhole });
      const usual = kind.usualOf === null ? null : usualCosts.find(kind.usualOf);
      return usual === null ? greatest : { ...greatest, usual };
    },

    settledOf(accountId, begin, end) {
      const book = bookOf(accountId);
      const call = takeOpen(begin.id);
      if (book === null) return { kind: 'unknown', why: 'unpriced', knownAmount: 0n };
      const result = end.billedOnceAs === undefined ? null : `${accountId}\n${begin.provider}\n${end.billedOnceAs}`;
      if (result !== null && results.has(result)) return { kind: 'repeated' };
      const usual = findersOf(book).exactRates.costOf(begin, end);
      const settled: SettledCost = usual === null ? settledCostOf(begin, end, book) : { kind: 'exact', amount: usual };
      // A fetch whose cost is not known has counted nothing; a call that made the result has then counted what it held.
      if (result !== null && (begin.billed || settled.kind === 'exact')) results.add(result);
      if (call === null || settled.kind !== 'exact') return settled;
      const { usualOf } = call.kind;
      if (usualOf !== null && end.outcome === 'ok') usualCosts.note(usualOf, settled.amount);
      if (call.bound === null) return settled;
      excess.note(call.kind.name, call.bound, settled.amount);
      const { usage, usageSource, outcome, providerRequestId } = end;
      if (!call.isCountedWhole || usage === null || usageSource !== 'provider' || outcome !== 'ok') return settled;
      const prompt = countPrompt(usage.classes);
      if (call.hashes !== null) prompts.note(call.conversation, call.hashes, prompt);
      if (providerRequestId != null) answers.note(providerRequestId, prompt + (usage.classes.output ?? 0));
      return settled;
    },
  };
}

function sizeOf({ hashes }: OpenCall): number {
  return hashes === null ? 0 : sizeOfHashes(hashes);
}
