/** Aligns rows in columns of plain text. Cells must be safe already (`terminal-text.ts`). */

/** A title; its cells are left-aligned unless it says otherwise. */
export type Column = string | { readonly title: string; readonly align: 'right' };

export function right(title: string): Column {
  return { title, align: 'right' };
}

function widthOf(cell: string): number {
  return [...cell].length;
}

function pad(cell: string, width: number, column: Column): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(cell)));
  return typeof column === 'string' ? cell + space : space + cell;
}

export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const titles = columns.map((column) => (typeof column === 'string' ? column : column.title));
  const widths = titles.map((title, index) =>
    rows.reduce((width, row) => Math.max(width, widthOf(row[index] ?? '')), widthOf(title)),
  );
  return [titles, ...rows].map((row) =>
    columns
      .map((column, index) => pad(row[index] ?? '', widths[index] ?? 0, column))
      .join('  ')
      .trimEnd(),
  );
}
