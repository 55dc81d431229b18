/**
 * The tree as it is shown: steps and calls of one level together by time, open calls where they belong, repeats folded.
 * Sums come from `run-tree.ts` untouched; a fold's are those of its members. Positions on an axis are not its matter.
 */
import type { OpenCallBody } from '../../../../../src/control/admin/run-call-bodies.ts';
import type { RunNode, TokenSums } from '../../../../../src/control/log/run-tree.ts';
import { decodeSpanKey } from '../../../../../src/control/log/span-path.ts';
import type { LeafCall } from './call-columns.ts';
import { foldSiblings, MIN_FOLDED_CALLS, MIN_FOLDED_STEPS, readStem } from './fold-repeats.ts';

type LeafTree = RunNode<LeafCall>;

export type DisplayNode =
  | { readonly kind: 'step'; readonly step: LeafTree; readonly key: string; readonly items: readonly DisplayNode[] }
  | { readonly kind: 'fold'; readonly stem: string; readonly key: string; readonly items: readonly DisplayNode[] }
  | { readonly kind: 'call'; readonly call: LeafCall }
  | { readonly kind: 'open'; readonly call: OpenCallBody };

export type Step = Extract<DisplayNode, { kind: 'step' }>;

export const NO_TOKENS: TokenSums = {
  inputTokens: 0,
  cacheReadInputTokens: 0,
  cacheCreationInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

function createEmptyStep(spanKey: string): LeafTree {
  return {
    spanKey,
    names: decodeSpanKey(spanKey),
    children: [],
    leaves: [],
    calls: 0,
    errors: 0,
    totalCost: 0n,
    ownCost: 0n,
    unpricedCalls: 0,
    tokens: NO_TOKENS,
    startedAtMs: null,
    endedAtMs: null,
  };
}

/** Open calls by the step they were made in, and the keys of every step above one. */
interface OpenPlaces {
  readonly byStep: ReadonlyMap<string, readonly OpenCallBody[]>;
  /** Step → keys of its children that are on the way to an open call. */
  readonly childrenOf: ReadonlyMap<string, ReadonlySet<string>>;
}

function placeOpenCalls(open: readonly OpenCallBody[]): OpenPlaces {
  const byStep = new Map<string, OpenCallBody[]>();
  const childrenOf = new Map<string, Set<string>>();
  for (const call of open) {
    let key = '';
    for (const segment of (call.span_key ?? '').split('/')) {
      if (segment === '') continue;
      const child = key === '' ? segment : `${key}/${segment}`;
      const known = childrenOf.get(key);
      if (known === undefined) childrenOf.set(key, new Set([child]));
      else known.add(child);
      key = child;
    }
    const calls = byStep.get(key);
    if (calls === undefined) byStep.set(key, [call]);
    else calls.push(call);
  }
  return { byStep, childrenOf };
}

/** When a node begins; steps of open calls alone begin with the first of them. */
function startOf(node: DisplayNode): number {
  if (node.kind === 'call') return node.call.requestedAtMs;
  if (node.kind === 'open') return Date.parse(node.call.requested_at);
  if (node.kind === 'step' && node.step.startedAtMs !== null) return node.step.startedAtMs;
  return node.items.reduce((first, item) => Math.min(first, startOf(item)), Number.POSITIVE_INFINITY);
}

function stemOf(node: DisplayNode): ReturnType<Parameters<typeof foldSiblings<DisplayNode>>[1]> {
  if (node.kind === 'call') {
    const { spanName, model } = node.call;
    return { stem: `call\n${spanName}\n${model ?? ''}`, minimum: MIN_FOLDED_CALLS, label: spanName };
  }
  if (node.kind !== 'step') return null;
  const stem = readStem(node.step.names.at(-1) ?? '');
  return stem === null ? null : { stem: `step\n${stem}`, minimum: MIN_FOLDED_STEPS, label: stem };
}

function foldItems(items: readonly DisplayNode[], parentKey: string): readonly DisplayNode[] {
  return foldSiblings(items, stemOf).map((one) => {
    if ('kind' in one) return one;
    const [first] = one.items;
    const model = first?.kind === 'call' ? (first.call.model ?? '') : '';
    return {
      kind: 'fold',
      stem: one.stem,
      // Span keys have no control characters, so a fold's key is never a step's.
      key: `${parentKey}\n${first?.kind ?? ''}\n${one.stem}\n${model}`,
      items: one.items,
    };
  });
}

function createDisplayStep(step: LeafTree, open: OpenPlaces, isFolded: boolean): Step {
  const known = new Set(step.children.map(({ spanKey }) => spanKey));
  const begun = [...(open.childrenOf.get(step.spanKey) ?? [])].filter((key) => !known.has(key)).map(createEmptyStep);
  const items: DisplayNode[] = [
    ...[...step.children, ...begun].map((child) => createDisplayStep(child, open, isFolded)),
    ...step.leaves.map((call) => ({ kind: 'call', call }) as const),
    ...(open.byStep.get(step.spanKey) ?? []).map((call) => ({ kind: 'open', call }) as const),
  ];
  const starts = new Map(items.map((item) => [item, startOf(item)]));
  items.sort((a, b) => (starts.get(a) ?? 0) - (starts.get(b) ?? 0));
  return { kind: 'step', step, key: step.spanKey, items: isFolded ? foldItems(items, step.spanKey) : items };
}

/** `isFolded` false shows every repeat as a row of its own. */
export function createDisplayTree(root: LeafTree, open: readonly OpenCallBody[], isFolded: boolean): Step {
  return createDisplayStep(root, placeOpenCalls(open), isFolded);
}
