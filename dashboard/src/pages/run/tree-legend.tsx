/** What the drawing of the bars means. */
import type { ReactNode } from 'react';
import { seriesLook } from '../../components/series-look.ts';
import { CALL, type RunTable } from './model/run-table.ts';
import type { Axis, Colouring } from './run-search.ts';

const MOST_MODELS = 8;

function Mark({
  children,
  background,
  className = '',
}: {
  children: ReactNode;
  background?: string;
  className?: string;
}) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <span
        aria-hidden="true"
        className={`inline-block h-2.5 w-5 rounded-xs ${className}`}
        style={background === undefined ? {} : { background }}
      />
      {children}
    </span>
  );
}

function listModels(table: RunTable): readonly string[] {
  const calls = new Map<number, number>();
  for (let row = 0; row < table.count; row += 1) {
    const model = table.model[row] ?? 0;
    if (table.kind[row] === CALL && model !== 0) calls.set(model, (calls.get(model) ?? 0) + 1);
  }
  return [...calls]
    .sort((a, b) => b[1] - a[1])
    .slice(0, MOST_MODELS)
    .map(([model]) => table.texts[model] ?? '');
}

interface TreeLegendProps {
  readonly table: RunTable;
  readonly axis: Axis;
  readonly colouring: Colouring;
}

export function TreeLegend({ table, axis, colouring }: TreeLegendProps) {
  return (
    <p className="flex flex-wrap gap-x-4 gap-y-1 border-t border-line bg-panel px-4 py-1.5 text-xs text-ink-soft max-md:hidden">
      {axis === 'time' && (
        <>
          <Mark className="bg-bar-soft">step with an open call</Mark>
          <Mark className="bg-bar">with several at once</Mark>
          <Mark className="hatched border border-line">outside the model</Mark>
        </>
      )}
      {colouring === 'status' && <Mark background="var(--bad)">failed</Mark>}
      {colouring === 'status' && <Mark background="var(--warn)">left by the client, or cut by the gateway</Mark>}
      {colouring === 'status' && axis === 'time' && <Mark className="bg-bar">call, pale until its first token</Mark>}
      {colouring === 'model' &&
        listModels(table).map((model) => (
          <Mark key={model} background={`var(${seriesLook(model).colour})`}>
            {model}
          </Mark>
        ))}
      {colouring === 'cost' && (
        <Mark background="linear-gradient(90deg, var(--bar-soft), var(--accent))">cheap to expensive</Mark>
      )}
    </p>
  );
}
