import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultDataDir } from '../vocabulary/default-data-dir.ts';
import { nameCommands } from './hints.ts';

const ROOT = join(import.meta.dirname, '../..');
const HINT = 'there is no key 9; `tollgate keys list` shows them, `tollgate keys edit --help` too';
const SHELL = { args: [], env: {}, cwd: ROOT };

test('a command in a message is the one that can be typed in this folder, for this gateway', () => {
  expect(nameCommands(HINT, SHELL)).toBe(
    'there is no key 9; `./tollgate keys list` shows them, `./tollgate keys edit --help` too',
  );
  expect(nameCommands(HINT, { ...SHELL, cwd: dirname(ROOT) })).toContain(`\`${join(ROOT, 'tollgate')} keys list\``);
  const named = { ...SHELL, args: ['keys', 'show', '9', '--data-dir', '/srv/my data'] };
  expect(nameCommands(HINT, named)).toContain("`./tollgate keys list --data-dir '/srv/my data'`");
  const fromEnv = { ...SHELL, env: { TOLLGATE_DATA_DIR: '/srv/tg' } };
  expect(nameCommands(HINT, fromEnv)).toContain('`./tollgate keys list --data-dir /srv/tg`');
});

test('a gateway elsewhere is named, without its token; flags of another program and other text are left alone', () => {
  const elsewhere = { ...SHELL, args: ['keys', 'show', '9', '--url=https://gw.example', '--token', 'secret'] };
  expect(nameCommands(HINT, elsewhere)).toContain('`./tollgate keys list --url https://gw.example`');
  expect(nameCommands(HINT, elsewhere)).not.toContain('secret');
  const running = { ...SHELL, args: ['run', '--', 'psql', '--data-dir', '/other', '--url', 'x'] };
  expect(nameCommands(HINT, running)).toContain('`./tollgate keys list`');
  expect(nameCommands('tollgate: `ls` and tollgate logs', SHELL)).toBe('tollgate: `ls` and tollgate logs');
  const usual = { ...SHELL, args: ['logs', '--data-dir', defaultDataDir({})] };
  expect(nameCommands(HINT, usual)).toContain('`./tollgate keys list`');
});
