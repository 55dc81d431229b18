import { expect, test } from 'vitest';
import { encodeFrame, MAGIC, MAX_DATA_BYTES, MAX_ROW_BYTES } from './backup-format.ts';
import { readBackup } from './read-backup.ts';

function header(columns: readonly string[]): Buffer {
  return encodeFrame(
    'header',
    Buffer.from(
      JSON.stringify({
        created_at: '2026-01-01T00:00:00Z',
        tollgate_version: '1',
        postgres_version: '18',
        migrations: [{ name: 'first', checksum: '0'.repeat(64) }],
        days: [],
        tables: [{ name: 'jobs', columns }],
        spool: { is_stored: true, left_bytes: 0 },
      }),
    ),
  );
}

test('a row without an end is given up before it fills the memory of whoever gathers it', async () => {
  let given = 0;
  async function* endless(): AsyncGenerator<Buffer> {
    yield Buffer.concat([MAGIC, header(['id']), encodeFrame('table', Buffer.from('{"name":"jobs"}'))]);
    const frame = encodeFrame('data', Buffer.alloc(MAX_DATA_BYTES, 'a'));
    for (;;) {
      given += MAX_DATA_BYTES;
      yield frame;
    }
  }
  const read = async (): Promise<void> => {
    for await (const _ of readBackup(endless()));
  };
  await expect(read()).rejects.toThrow('a row of jobs has no end');
  expect(given).toBe(MAX_ROW_BYTES + MAX_DATA_BYTES);
});

test('a column that is named twice is none of ours', async () => {
  async function* twice(): AsyncGenerator<Buffer> {
    yield Buffer.concat([MAGIC, header(['id', 'id'])]);
  }
  await expect(readBackup(twice()).next()).rejects.toThrow('its header is not of the form');
});
