/** Where the price of a cost line came from: the row and the rules that its `row` names, as the price book tells of them. */
import type { PriceRows, PriceRule } from '../api/prices.ts';

export interface LineSource {
  readonly key: string;
  /** `forgotten`: the price book of now does not have it. */
  readonly kind: 'rate' | PriceRule['kind'] | 'forgotten';
  /** A rule in words; empty for a rate. */
  readonly text: string;
  readonly source: string;
  /** ISO date; null where nobody had to check. */
  readonly checkedOn: string | null;
}

/** Between a row and the rules on top of it. */
const JOINT = ' × ';

/** A key may hold the joint itself, since it holds a model id: so known keys are looked for before it is cut. */
function splitKeys(row: string, known: readonly string[]): readonly string[] {
  const first = known.find((key) => row === key || row.startsWith(`${key}${JOINT}`));
  const cut = row.indexOf(JOINT);
  const head = first ?? (cut === -1 ? row : row.slice(0, cut));
  const rest = row.slice(head.length + JOINT.length);
  return rest === '' ? [head] : [head, ...splitKeys(rest, known)];
}

export function listLineSources(row: string | null, found: PriceRows | undefined): readonly LineSource[] {
  if (row === null || row === '') return [];
  const rows = found?.rows ?? [];
  const rules = found?.rules ?? [];
  const known = [...rows, ...rules].map(({ key }) => key).sort((a, b) => b.length - a.length);
  return splitKeys(row, known).map((key): LineSource => {
    const rate = rows.find((one) => one.key === key);
    if (rate !== undefined) return { key, kind: 'rate', text: '', source: rate.source, checkedOn: rate.checked_on };
    const rule = rules.find((one) => one.key === key);
    if (rule === undefined) return { key, kind: 'forgotten', text: '', source: '', checkedOn: null };
    return { key, kind: rule.kind, text: rule.text, source: rule.source, checkedOn: rule.checked_on };
  });
}
