import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { plainSslMode } from './ssl-mode.ts';

const ADDRESS = 'postgresql://me:pw@db.example:5432/calls';

test.each(['prefer', 'require', 'verify-ca'])(
  '%s is said as verify-full, of which the driver does not warn',
  (mode) => {
    expect(plainSslMode(`${ADDRESS}?sslmode=${mode}&application_name=x`)).toBe(
      `${ADDRESS}?sslmode=verify-full&application_name=x`,
    );
  },
);

test.each(['disable', 'no-verify', 'verify-full'])('%s stays as it is', (mode) => {
  expect(plainSslMode(`${ADDRESS}?sslmode=${mode}`)).toBe(`${ADDRESS}?sslmode=${mode}`);
});

test('whoever asks for the meaning of libpq has it', () => {
  const address = `${ADDRESS}?uselibpqcompat=true&sslmode=require`;
  expect(plainSslMode(address)).toBe(address);
});

test('the driver warns of none of them', async () => {
  const warned: string[] = [];
  const note = (warning: Error) => void warned.push(warning.message);
  process.on('warning', note);
  for (const mode of ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'])
    new pg.Client({ connectionString: plainSslMode(`${ADDRESS}?sslmode=${mode}`) });
  await setImmediate();
  process.off('warning', note);
  expect(warned).toEqual([]);
});
