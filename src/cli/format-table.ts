/** Rows as aligned columns of plain text. Cells must be harmless already (`terminal-text.ts`). */

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
}

function widthOf(cell: string): number {
  return [...cell].length;
}

function pad(cell: string, width: number, align: 'left' | 'right'): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(cell)));
  return align === 'right' ? space + cell : cell + space;
}

/** Lines, the title first, without trailing spaces. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const widths = columns.map(({ title }, index) =>
    rows.reduce((width, row) => Math.max(width, widthOf(row[index] ?? '')), widthOf(title)),
  );
  return [columns.map(({ title }) => title), ...rows].map((row) =>
    columns
      .map(({ align }, index) => pad(row[index] ?? '', widths[index] ?? 0, align ?? 'left'))
      .join('  ')
      .trimEnd(),
  );
}
