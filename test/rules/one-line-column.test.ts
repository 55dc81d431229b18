/** A column of the log is one line: added to a copy of the sources, everything that lists columns has it. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const project = join(import.meta.dirname, '../..');
const TABLE = 'src/control/store/log-columns.ts';
const LINE = "  weather: { sql: 'text', about: 'Weather where the call was made' },\n";

/** The sources with one more column. */
function copyWith(line: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'tollgate-column-'));
  for (const part of ['src', 'dashboard/src', 'test/support', 'package.json'])
    cpSync(join(project, part), join(copy, part), { recursive: true });
  symlinkSync(join(project, 'node_modules'), join(copy, 'node_modules'));
  const source = readFileSync(join(copy, TABLE), 'utf8');
  writeFileSync(
    join(copy, TABLE),
    source.replace('export const LOG_COLUMNS = {\n', (start) => start + line),
  );
  return copy;
}

test('COPY, filters, JSON, exports, the document of the API and the dashboard have a column by its one line', () => {
  const copy = copyWith(LINE);
  try {
    const probe = join(copy, 'test/support/probe-column.ts');
    const printed = execFileSync(process.execPath, [probe, 'weather'], { cwd: copy, encoding: 'utf8' });
    const described = { type: ['string', 'null'], description: 'Weather where the call was made' };
    expect(JSON.parse(printed)).toEqual({
      copied: 'rain',
      minimal: '\\N',
      filter: { field: { type: 'column', column: 'weather', kind: 'text' }, op: 'contains', values: ['rain'] },
      record: ['weather', 'rain'],
      exported: { name: 'weather', kind: 'text' },
      listed: described,
      detail: described,
      dashboard: {
        label: 'Weather',
        about: 'Weather where the call was made',
        fields: ['weather'],
        width: '9rem',
        filter: 'weather',
      },
    });
  } finally {
    rmSync(copy, { recursive: true });
  }
});
