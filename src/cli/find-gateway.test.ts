import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findGateway, readDataDir } from './find-gateway.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-admin-'));
writeFileSync(join(dataDir, 'admin.json'), JSON.stringify({ url: 'http://127.0.0.1:4142', token: 'local' }));
const file = join(dataDir, 'token');
writeFileSync(file, 'first-line \n# whose it is\n');
afterAll(() => rmSync(dataDir, { recursive: true }));

test('the token of the data directory goes to its own gateway, and to no other address', () => {
  expect(findGateway({ dataDir }, {})).toEqual({ url: 'http://127.0.0.1:4142', token: 'local' });
  expect(findGateway({ dataDir, url: 'http://localhost:4142/' }, {})).toEqual({
    url: 'http://localhost:4142',
    token: 'local',
  });
  const OTHERS = ['http://127.0.0.1:4143', 'https://127.0.0.1:4142', 'http://other.example:4142'];
  for (const url of OTHERS) {
    expect(() => findGateway({ dataDir, url }, {})).toThrow(`${url} needs a token of its own`);
    expect(() => findGateway({ dataDir }, { TOLLGATE_ADMIN_URL: url })).toThrow(`${url} needs a token of its own`);
    expect(findGateway({ dataDir, url, token: 'theirs' }, {})).toEqual({ url, token: 'theirs' });
  }
});

test('a variable that is set to nothing is not set, as for the server', () => {
  const env = {
    TOLLGATE_DATA_DIR: dataDir,
    TOLLGATE_ADMIN_URL: '',
    TOLLGATE_ADMIN_TOKEN: ' ',
    TOLLGATE_ADMIN_TOKEN_FILE: '',
  };
  expect(findGateway({}, env)).toEqual({ url: 'http://127.0.0.1:4142', token: 'local' });
  expect(findGateway({}, { ...env, TOLLGATE_ADMIN_TOKEN_FILE: file }).token).toBe('first-line');
  expect(readDataDir(undefined, { TOLLGATE_DATA_DIR: '' })).toBe(readDataDir(undefined, {}));
});

test('a token is the first line of its file, as for the server', () => {
  expect(findGateway({ dataDir }, { TOLLGATE_ADMIN_TOKEN_FILE: file }).token).toBe('first-line');
  writeFileSync(join(dataDir, 'empty'), '\ntoken\n');
  expect(() => findGateway({ dataDir }, { TOLLGATE_ADMIN_TOKEN_FILE: join(dataDir, 'empty') })).toThrow(
    'the first line of',
  );
});

test('an address without http:// is told as that', () => {
  expect(() => findGateway({ dataDir, url: 'gateway.example:4142', token: 'x' }, {})).toThrow(
    '--url: "gateway.example:4142" is no address such as http://127.0.0.1:4142',
  );
  expect(() => findGateway({ dataDir, token: 'x' }, { TOLLGATE_ADMIN_URL: '127.0.0.1:4142' })).toThrow(
    'TOLLGATE_ADMIN_URL: "127.0.0.1:4142" is no address',
  );
});
