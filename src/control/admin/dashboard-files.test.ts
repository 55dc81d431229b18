import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { readDashboardFiles } from './dashboard-files.ts';

const dirs: string[] = [];
function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-dashboard-'));
  dirs.push(dir);
  return dir;
}
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

test('the files are listed by their address, with their compressed forms, without the notes of the build', () => {
  const dir = tempDir();
  for (const folder of ['assets', '.vite']) mkdirSync(join(dir, folder));
  for (const [name, text] of [
    ['index.html', '<p>page'],
    ['.inputs', 'hash'],
    ['.vite/manifest.json', '{}'],
    ['assets/app-1a2b.js', 'script'],
    ['assets/app-1a2b.js.br', 'BR'],
    ['assets/app-1a2b.js.gz', 'GZ'],
    ['favicon.svg', '<svg/>'],
  ] as const)
    writeFileSync(join(dir, name), text);
  const files = readDashboardFiles(dir);
  expect([...(files?.keys() ?? [])].sort()).toEqual(['/assets/app-1a2b.js', '/favicon.svg', '/index.html']);
  expect(files?.get('/assets/app-1a2b.js')).toEqual({
    contentType: 'text/javascript; charset=utf-8',
    isHashed: true,
    content: Buffer.from('script'),
    encoded: new Map([
      ['br', Buffer.from('BR')],
      ['gzip', Buffer.from('GZ')],
    ]),
    hash: 'IaAnC39moeTCWTPxOh5aG7',
  });
  expect(files?.get('/index.html')).toMatchObject({ isHashed: false, encoded: new Map() });
});

test('without an index page there is no dashboard', () => {
  expect(readDashboardFiles('/nowhere')).toBeNull();
  const dir = tempDir();
  writeFileSync(join(dir, 'theme.js'), '');
  expect(readDashboardFiles(dir)).toBeNull();
});
