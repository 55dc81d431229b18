/** The price feed against a server that answers as it likes: a bad one never replaces good prices. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FeedState, readFeedState } from '../../src/control/prices/declared/check-feed.ts';
import { queueUpdate } from '../../src/control/prices/reprice/queue-update.ts';
import { lookWhenDue } from '../../src/control/process/repeat-feed.ts';
import { catalogText, changedCatalogText } from '../support/catalog-text.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { testCatalogs } from '../support/test-catalogs.ts';

const FLASH_LITE = 'gemini-2.0-flash-lite"},"context_window":1000000,"prices":{"input_mtok":';
const RAISED = changedCatalogText([`${FLASH_LITE}0.075`, `${FLASH_LITE}0.0825`]);
const FREE = changedCatalogText([`${FLASH_LITE}0.075`, `${FLASH_LITE}0`]);
const REFUSED = 'gemini gemini-2.0-flash-lite: input would be free; it costs $0.0825 a million';
const DAY_MS = 86_400_000;
const TIMEOUT_MS = 1_500;
const ASKED = { actor: 'test', acceptsChanges: false };

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

function answerWith(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return (_request, response) => void response.writeHead(status, headers).end(body);
}

describe('the price feed', () => {
  let postgres: TestPostgres;
  let pool: pg.Pool;
  let url = '';
  let answer: Answer = answerWith(500, '');
  const requests: IncomingMessage[] = [];
  let nowMs = Date.UTC(2030, 0, 2);
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  const catalogs = () =>
    testCatalogs(url, {
      feed: {
        setting: url,
        timeoutMs: TIMEOUT_MS,
        now: () => nowMs,
        egress: { httpProxy: null, httpsProxy: null, noProxy: null },
      },
    });

  beforeAll(async () => {
    const [kind] = POSTGRES_KINDS;
    if (kind === undefined) throw new Error('there is no PostgreSQL');
    postgres = await startPostgres(kind);
    pool = openTestPool(await postgres.createDatabase('feed'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    url = `http://127.0.0.1:${address.port}/data.json`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await pool.end();
    await postgres.remove();
  });
  beforeEach(async () => {
    await pool.query('truncate price_catalogs, price_changes');
    await pool.query('update price_feed set etag = null, checked_at = null, result = null, detail = null');
    requests.length = 0;
    nowMs = Date.UTC(2030, 0, 2);
  });

  const look = async (isForced = false, asked = ASKED): Promise<readonly (string | null)[]> => {
    const state = await catalogs().lookAtFeed(pool, asked, isForced);
    return typeof state === 'string' ? [state] : [state.result, state.detail];
  };
  const listCatalogs = async () => {
    const { rows } = await pool.query<{ content: string; origin: string; day: string }>(
      'select content, origin, checked_on::text as day from price_catalogs where is_active',
    );
    return rows.map(({ content, origin, day }) => [content === RAISED ? 'raised' : 'other', origin, day]);
  };
  /** The feed has brought the raised price. */
  const begin = async () => {
    answer = answerWith(200, RAISED, { etag: '"one"' });
    expect(await look()).toEqual(['activated', null]);
  };
  const GOOD = [['raised', 'feed', '2030-01-02']];

  it('brings newer prices, and asks for changes only from then on', async () => {
    await begin();
    expect(await listCatalogs()).toEqual(GOOD);
    nowMs += DAY_MS;
    answer = (request, response) =>
      void response.writeHead(request.headers['if-none-match'] === '"one"' ? 304 : 500).end();
    expect(await look()).toEqual(['unchanged', null]);
    // The same prices, known to hold on this day, too.
    expect(await listCatalogs()).toEqual([['raised', 'feed', '2030-01-03']]);
    expect(requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"one"']);
    expect(requests.map(({ headers, method }) => [method, headers['user-agent'], headers.authorization])).toEqual([
      ['GET', 'tollgate', undefined],
      ['GET', 'tollgate', undefined],
    ]);
  });

  it('raises the version when its prices are known to hold on a day to which others yield', async () => {
    const readVersion = async () => {
      const { rows } = await pool.query<{ version: number }>('select version from price_book_version');
      return rows[0]?.version ?? 0;
    };
    nowMs = Date.UTC(2026, 10, 28);
    await begin();
    const version = await readVersion();
    answer = answerWith(304, '');
    // No price was checked on this day.
    nowMs += DAY_MS;
    expect(await look()).toEqual(['unchanged', null]);
    expect(await readVersion()).toBe(version);
    // Those of 29 November yield.
    nowMs += DAY_MS;
    expect(await look()).toEqual(['unchanged', null]);
    expect(await readVersion()).toBe(version + 1);
    expect(await listCatalogs()).toEqual([['raised', 'feed', '2026-11-30']]);
  });

  it.each<readonly [name: string, result: string, detail: string, answer: Answer]>([
    ['prices that look wrong', 'refused', REFUSED, answerWith(200, FREE, { etag: '"two"' })],
    [
      'a page for people',
      'refused',
      'the file cannot be used: it is not JSON',
      answerWith(200, '<!doctype html><title>Moved</title>'),
    ],
    [
      'another kind of file',
      'refused',
      'the file cannot be used: it is not a JSON array of providers, as genai-prices publishes it',
      answerWith(200, '{"models":[]}'),
    ],
    [
      'bytes that are no text',
      'refused',
      'the file cannot be used: it is not UTF-8 text',
      (_request, response) => void response.writeHead(200).end(Buffer.from([0xff, 0xfe, 0x00, 0x80])),
    ],
    [
      'half a file',
      'failed',
      'it could not be reached (ECONNRESET)',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write(RAISED.slice(0, 500));
        setImmediate(() => response.destroy());
      },
    ],
    ['an error', 'failed', 'it answered with status 500', answerWith(500, 'oops')],
    ['nothing at that place', 'failed', 'it answered with status 404', answerWith(404, '')],
    ['"not modified" where nothing is known', 'failed', 'it answered with status 304', answerWith(304, '')],
    [
      'more bytes than a catalog may have',
      'failed',
      'it has more than 8388608 bytes',
      (_request, response) => {
        const chunk = Buffer.alloc(1_000_000, ' ');
        response.writeHead(200);
        const write = (): void => {
          if (response.destroyed) return;
          if (response.write(chunk)) setImmediate(write);
          else response.once('drain', write);
        };
        write();
      },
    ],
    [
      'an answer without an end',
      'failed',
      'it was not there after 1.5 s',
      (_request, response) => void response.writeHead(200).write('['),
    ],
    [
      'compressed content',
      'failed',
      'its content is compressed, though it was asked not to be',
      answerWith(200, 'x', { 'content-encoding': 'gzip' }),
    ],
    [
      'a way to another host',
      'failed',
      'it redirects to another host, evil.example',
      answerWith(302, '', { location: 'http://evil.example/data.json' }),
    ],
    [
      'a way to another port',
      'failed',
      'it redirects to another host, 127.0.0.1:1',
      answerWith(301, '', { location: 'http://127.0.0.1:1/data.json' }),
    ],
    ['a way in circles', 'failed', 'it redirects more than 3 times', answerWith(302, '', { location: '/data.json' })],
  ])('keeps the prices in use when it has %s', async (_name, result, detail, bad) => {
    await begin();
    nowMs += DAY_MS;
    answer = bad;
    expect(await look(true)).toEqual([result, detail]);
    expect(await listCatalogs()).toEqual(GOOD);
    expect(await readFeedState(pool)).toMatchObject({ result, detail, checkedAt: new Date(nowMs) });
  });

  it('follows a way on the same host', async () => {
    answer = (request, response) =>
      request.url === '/data.json'
        ? answerWith(307, '', { location: '/v2/data.json' })(request, response)
        : answerWith(200, RAISED)(request, response);
    expect(await look()).toEqual(['activated', null]);
    expect(await listCatalogs()).toEqual(GOOD);
  });

  it('does not judge refused content again until it changes, and takes it over when that is said', async () => {
    await begin();
    answer = answerWith(200, FREE, { etag: '"two"' });
    expect(await look()).toEqual(['refused', REFUSED]);
    answer = answerWith(304, '');
    expect(await look()).toEqual(['refused', REFUSED]);
    expect(requests.at(-1)?.headers['if-none-match']).toBe('"two"');
    answer = answerWith(200, FREE, { etag: '"two"' });
    expect(await look(true, { actor: 'test', acceptsChanges: true })).toEqual(['activated', null]);
    expect(await listCatalogs()).toEqual([['other', 'feed', '2030-01-02']]);
  });

  it('re-prices what has no price when a catalog is used again that had become too old, or others yield to it', async () => {
    const isQueued = async () => {
      const before = await pool.query('select version from repriced_list_prices');
      await queueUpdate(pool, 'own', 'book 1');
      const after = await pool.query('select version from repriced_list_prices');
      return before.rows[0]?.version !== after.rows[0]?.version;
    };
    nowMs = Date.UTC(2026, 10, 28);
    await begin();
    expect([await isQueued(), await isQueued()]).toEqual([true, false]);
    answer = answerWith(304, '');
    nowMs += DAY_MS;
    expect(await look()).toEqual(['unchanged', null]);
    expect(await isQueued()).toBe(false);
    nowMs += DAY_MS;
    expect(await look()).toEqual(['unchanged', null]);
    expect(await isQueued()).toBe(true);
    // As after an upgrade to a release with a later catalog.
    await pool.query("update price_catalogs set checked_on = '2020-01-01' where is_active");
    expect(await isQueued()).toBe(true);
    expect(await look()).toEqual(['unchanged', null]);
    expect([await isQueued(), await isQueued()]).toEqual([true, false]);
  });

  it('judges refused content again after it could not be reached in between', async () => {
    await begin();
    answer = answerWith(200, FREE, { etag: '"two"' });
    expect(await look()).toEqual(['refused', REFUSED]);
    answer = answerWith(503, '');
    expect(await look()).toEqual(['failed', 'it answered with status 503']);
    answer = (request, response) =>
      answerWith(request.headers['if-none-match'] === '"two"' ? 304 : 200, FREE, { etag: '"two"' })(request, response);
    expect(await look()).toEqual(['refused', REFUSED]);
  });

  it('does not bring back what the operator has set aside until there is something new', async () => {
    await begin();
    await catalogs().reset(pool, 'test');
    answer = answerWith(304, '');
    expect(await look()).toEqual(['unchanged', null]);
    expect(await listCatalogs()).toEqual([]);
  });

  it('is looked at by one at a time', async () => {
    let go = (): void => {};
    const asked = new Promise<void>((resolve) => {
      answer = (_request, response) => {
        go = () => void response.writeHead(500).end();
        resolve();
      };
    });
    const first = look();
    await asked;
    expect(await look()).toEqual(['busy']);
    go();
    expect(await first).toEqual(['failed', 'it answered with status 500']);
  });

  it('is looked at once a day, an hour after a failure, and says what is new once', async () => {
    const lines: string[] = [];
    const keep = (_fields: unknown, message: string) => void lines.push(message);
    const log = { info: (message: string) => void lines.push(message), warn: keep, error: keep };
    const turn = async (afterMs: number, next: Answer): Promise<FeedState['result'] | 'not due'> => {
      nowMs += afterMs;
      answer = next;
      const before = requests.length;
      await lookWhenDue({ pool, catalogs: catalogs(), log }, nowMs, 1_000);
      return requests.length === before ? 'not due' : (await readFeedState(pool)).result;
    };
    const fine = answerWith(200, RAISED);
    expect(await turn(0, fine)).toBe('activated');
    expect(await turn(DAY_MS, fine)).toBe('not due');
    expect(await turn(1_000, fine)).toBe('unchanged');
    expect(await turn(DAY_MS + 1_000, answerWith(500, ''))).toBe('failed');
    expect(await turn(3_600_000, answerWith(500, ''))).toBe('not due');
    expect(await turn(1_000, answerWith(500, ''))).toBe('failed');
    expect(await turn(DAY_MS, answerWith(200, FREE))).toBe('refused');
    expect(await turn(DAY_MS + 1_000, answerWith(200, FREE))).toBe('refused');
    expect(await turn(DAY_MS + 1_000, fine)).toBe('unchanged');
    expect(lines).toEqual([
      'newer prices came from the price feed and are in use',
      'the price feed did not come; the prices in use stay',
      'what the price feed has looks wrong; the prices in use stay. See `tollgate prices status`',
      'the price feed is well again; the prices in use are its own',
    ]);
  });

  it('is looked at through the proxy for the way out, unless its host is to go without', async () => {
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(502).end();
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const address = proxy.address();
    const httpProxy = typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : null;
    const { host } = new URL(url);
    answer = answerWith(304, '');
    const lookWith = async (noProxy: string) => {
      const feed = {
        setting: url,
        egress: { httpProxy, httpsProxy: null, noProxy },
        timeoutMs: TIMEOUT_MS,
        now: () => nowMs,
      };
      const state = await testCatalogs(url, { feed }).lookAtFeed(pool, ASKED, true);
      return typeof state === 'string' ? state : state.detail;
    };
    expect(await lookWith('other.example')).toBe('it answered with status 502');
    expect(await lookWith(host)).toBe('it answered with status 304');
    expect(asked).toEqual([url]);
    proxy.closeAllConnections();
    proxy.close();
  });

  it('passes as the bundled catalog', async () => {
    answer = answerWith(200, catalogText());
    expect(await look()).toEqual(['activated', null]);
  });
});
