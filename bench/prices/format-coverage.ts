/** Coverage as text. */
import { formatTable, right } from '../../src/cli/format-table.ts';
import type { Count, Coverage, Disagreement } from './compare-coverage.ts';

const MAX_LISTED = 400;

/** The share of models with a price, or with a stated reason why there is none. Rounded down: 97.96 % is not 98 %. */
export function toPercent({ models, priced, explained }: Count): number {
  return models === 0 ? 100 : Math.floor(((priced + explained) / models) * 1_000) / 10;
}

function formatDisagreement({ provider, model, rate, book, catalogs, reason }: Disagreement): string {
  const figures = Object.entries(catalogs).map(([name, usd]) => `${name} ${Number(usd.toPrecision(6))}`);
  return `  ${provider} ${model} ${rate}: ${Number(book.toPrecision(6))} here; ${figures.join(', ')}${reason === null ? '' : ` (${reason})`}`;
}

function formatList(title: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  const more = lines.length > MAX_LISTED ? [`  and ${lines.length - MAX_LISTED} more (all of them with --json)`] : [];
  return ['', `${title}: ${lines.length}`, ...lines.slice(0, MAX_LISTED), ...more];
}

export function formatCoverage(coverage: Coverage, isDetailed: boolean): string {
  const { catalogs, providers, unpriced, disagreements, otherDisagreements, unknownRates } = coverage;
  const rows = providers.map(({ provider, any, shared }) => {
    const own = disagreements.filter((entry) => entry.provider === provider);
    const open = own.filter(({ reason }) => reason === null).length;
    return [
      provider,
      ...[any, shared].flatMap((count) => [
        String(count.models),
        String(count.priced),
        String(count.explained),
        `${toPercent(count).toFixed(1)} %`,
      ]),
      String(own.length - open),
      String(open),
    ];
  });
  const titles = ['ids', 'priced', 'reason', 'covered', 'in two', 'priced', 'reason', 'covered'];
  const columns = [...titles, 'differ: reason', 'none'].map(right);
  const table = formatTable(['provider', ...columns], rows);
  const open = (list: readonly Disagreement[]) => list.filter(({ reason }) => reason === null).map(formatDisagreement);
  const told = (list: readonly Disagreement[]) => list.filter(({ reason }) => reason !== null).map(formatDisagreement);
  const noPrice = unpriced.map(
    ({ provider, model, catalogs: names, reason }) =>
      `  ${provider} ${model} (${names.join(', ')})${reason === null ? '' : `: ${reason}`}`,
  );
  return [
    ...catalogs.map(({ name, models }) => `${name}: ${models} models of the seven providers`),
    '',
    ...table,
    ...formatList('Another price than most catalogs, no reason stated', open(disagreements)),
    ...(isDetailed
      ? [
          ...formatList('Another price than most catalogs, reason stated', told(disagreements)),
          ...formatList('Another price than most catalogs for a cache, sound, a tier or a long prompt', [
            ...open(otherDisagreements),
            ...told(otherDisagreements),
          ]),
          ...formatList(
            'Rates of priced models that the book does not know',
            unknownRates.map(({ provider, model, rate }) => `  ${provider} ${model} ${rate}`),
          ),
          ...formatList('Without a price', noPrice),
        ]
      : []),
  ].join('\n');
}
