/** Where the rate of a cost line came from: its layer at once; on opening, the row and rules with source and date. */
import type { PriceRows } from '../../api/prices.ts';
import { LayerBadge } from '../../components/badges.tsx';
import type { CostTableLine } from '../../messages/cost-breakdown.ts';
import { type LineSource, listLineSources } from '../../messages/line-sources.ts';

const KINDS: Readonly<Record<LineSource['kind'], string>> = {
  rate: 'Rate',
  multiplier: 'Factor',
  derivation: 'Derived',
  alias: 'Other name',
  mapping: 'Mapping',
  discount: 'Discount',
  forgotten: 'No longer known',
};

function Source({ source: { key, kind, text, source, checkedOn } }: { readonly source: LineSource }) {
  return (
    <li className="[overflow-wrap:anywhere]">
      <span className="text-ink">{KINDS[kind]}</span>
      {text !== '' && <>: {text}</>}
      {kind === 'forgotten' && <>: today’s price book does not have this row; it has been changed or removed since.</>}
      {source !== '' && (
        <span className="block">
          {source}
          {checkedOn !== null && <>, checked on {checkedOn}</>}
        </span>
      )}
      <code className="block font-mono text-[0.6875rem] text-ink-faint">{key}</code>
    </li>
  );
}

interface CostLineSourceProps {
  readonly line: CostTableLine;
  /** What is known of the line's model at the call's time; undefined until that is there, or when it is not to be had. */
  readonly found: PriceRows | undefined;
}

export function CostLineSource({ line: { layer, row }, found }: CostLineSourceProps) {
  if (found === undefined)
    return (
      <span className="inline-flex flex-col gap-1 text-xs text-ink-soft">
        <LayerBadge layer={layer} />
        <span className="[overflow-wrap:anywhere]">{row}</span>
      </span>
    );
  return (
    <details className="text-xs text-ink-soft">
      <summary className="whitespace-nowrap">
        <LayerBadge layer={layer} /> source
      </summary>
      <ul className="mt-1.5 flex max-w-96 min-w-56 flex-col gap-1.5">
        {listLineSources(row, found).map((source) => (
          <Source key={source.key} source={source} />
        ))}
      </ul>
    </details>
  );
}
