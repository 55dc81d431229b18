/** Everything that a client, a model or a provider can put into a record stays text on every page. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { startGateway, type TestGateway } from '../gateway/start-gateway.ts';
import { callBegin, callBody, callEnd } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { startBrowser, type TestBrowser, watchPage } from './browser.ts';
import { HOSTILE_STRINGS } from './hostile-strings.ts';
import { settle } from './pages.ts';
import { openSignedIn } from './sign-in.ts';
import { type CallStore, callIdAt, openCallStore } from './store-calls.ts';
import { waitInPage } from './wait-in-page.ts';

const START_MS = Date.now() - 3_600_000;

/** Header values have no control characters but these reach the record by other ways: bodies, models, errors. */
function hostileCall(text: string, number: number): readonly SpoolEntry[] {
  const requestedAtMs = START_MS + number * 1_000;
  const id = callIdAt(requestedAtMs, number);
  const begin = callBegin(number, {
    id,
    requestedAtMs,
    client: text,
    providerAlias: text,
    path: `/v1/chat/completions?${text}`,
    endpoint: 'chat.completions',
    modelRequested: text,
    region: text,
    traceId: number % 2 === 0 ? text.slice(0, 500) : 'hostile run',
    spanPath: [encodeURIComponent(text.toWellFormed()).slice(0, 300), text.slice(0, 200)].join('/'),
    spanName: text,
    metadata: [
      [text.slice(0, 200), text],
      ['Feature', text],
    ],
  });
  const end = callEnd(number, {
    id,
    outcome: number % 3 === 0 ? 'upstream_error' : 'ok',
    status: number % 3 === 0 ? 400 : 200,
    model: text,
    modelRequested: text,
    errorType: text,
    errorMessage: text,
    providerRequestId: text,
    serviceTier: text,
    speed: text,
    inferenceGeo: text,
    respondedAtMs: requestedAtMs + 700,
    usage: { classes: { input: 10, output: 5 }, reasoning: null, native: { [text]: text } },
    requestHeaders: [['user-agent', text]],
    responseHeaders: [[text, text]],
  });
  const request = {
    model: text,
    messages: [
      { role: 'system', content: text },
      {
        role: 'user',
        content: [
          { type: 'text', text },
          { type: 'image_url', image_url: { url: text } },
          { type: text, [text]: text },
        ],
      },
      {
        role: 'assistant',
        content: text,
        tool_calls: [{ id: text, type: 'function', function: { name: text, arguments: text } }],
      },
      { role: 'tool', tool_call_id: text, content: text },
      { role: text, content: text },
    ],
    tools: [{ type: 'function', function: { name: text, description: text, parameters: { [text]: text } } }],
  };
  const answer = {
    model: text,
    choices: [{ index: 0, message: { role: 'assistant', content: text, refusal: text }, finish_reason: text }],
  };
  const body = (direction: 'request' | 'response', value: unknown): SpoolEntry => ({
    type: 'body',
    body: { ...callBody(number, direction, Buffer.from(JSON.stringify(value))), id, requestedAtMs },
  });
  return [body('request', request), body('response', answer), { type: 'end', begin, end }];
}

/** As the API takes them: without control characters or halves of characters, and not too long. */
const DECLARABLE = HOSTILE_STRINGS.filter((text) => !/\p{Cc}/u.test(text))
  .map((text) => text.slice(0, 200).trim())
  .filter((text) => text.isWellFormed());

/** Prices, mappings and the history of both in hostile words; and a part of the calls without a price. */
async function declareHostilePrices(): Promise<void> {
  const scope = (text: string) => ({
    provider: 'openai',
    provider_alias: text,
    match: 'prefix',
    model: text,
    note: text,
  });
  for (const text of DECLARABLE) {
    const override = { ...scope(text), rates: { input: '1' } };
    await gateway.api('/api/v1/prices/overrides', { method: 'POST', body: JSON.stringify(override) });
  }
  for (const text of DECLARABLE.slice(0, 10)) {
    const mapping = { ...scope(text), billing_model: `billed ${text}` };
    await gateway.api('/api/v1/prices/mappings', { method: 'POST', body: JSON.stringify(mapping) });
  }
  await store.pool.query(
    `update llm_requests set cost_status = 'unpriced', total_cost = null, known_cost = 0, cost_lines = '[]'
     where outcome = 'ok' and client <> all($1)`,
    [HOSTILE_STRINGS.slice(0, 10)],
  );
}

let postgres: TestPostgres;
let store: CallStore;
let gateway: TestGateway;
let browser: TestBrowser;

beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL');
  postgres = await startPostgres(kind);
  const url = await postgres.createDatabase('hostile');
  store = await openCallStore(url);
  gateway = await startGateway({ env: { DATABASE_URL: url } });
  await store.store(HOSTILE_STRINGS.flatMap(hostileCall));
  for (const name of HOSTILE_STRINGS.slice(0, 12))
    await gateway.api('/api/v1/keys', { method: 'POST', body: JSON.stringify({ name: name.slice(0, 200) }) });
  await declareHostilePrices();
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await store?.close();
  await postgres?.remove();
});

/** The page is no wider than the window, and its heading stands where it belongs. */
async function expectIntact(page: Page, address: string): Promise<void> {
  const layout: unknown = await page.evaluate(`({
    overflow: document.documentElement.scrollWidth - window.innerWidth,
    hasHeading: document.querySelector('h1') !== null,
    hasMain: document.querySelector('main') !== null,
  })`);
  expect({ address, layout }).toEqual({
    address,
    layout: { overflow: expect.any(Number), hasHeading: true, hasMain: true },
  });
  if (layout !== null && typeof layout === 'object' && 'overflow' in layout)
    expect({ address, isTooWide: Number(layout.overflow) > 0 }).toEqual({ address, isTooWide: false });
}

/** As a link within the dashboard does it: the page is not loaded anew, which fifty times takes a minute. */
async function openCall(page: Page, address: string, id: string): Promise<void> {
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(address)});
    dispatchEvent(new PopStateEvent('popstate', { state: {} }))`);
  await waitInPage(page, `document.querySelector('h1')?.parentElement?.textContent?.includes(${JSON.stringify(id)})`);
}

/** One after the other, each until it shows something; how many there were. In the page, since fifty calls have many. */
async function openTabs(page: Page): Promise<number> {
  const opened: unknown = await page.evaluate(`(async () => {
    const tabs = [...document.querySelectorAll('[role=tab]')];
    for (const tab of tabs) {
      tab.click();
      const endMs = performance.now() + 10000;
      const isOpen = () => tab.getAttribute('aria-selected') === 'true' &&
        [...document.querySelectorAll('[role=tabpanel]')].some((panel) => panel.textContent !== '');
      while (!isOpen() && performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 10));
      if (!isOpen()) throw new Error('a tab does not open: ' + tab.textContent);
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    }
    return tabs.length;
  })()`);
  return Number(opened);
}

const LIST_PAGES = [
  '/start',
  '/runs',
  '/logs',
  '/costs',
  '/costs?by=metadata.Feature',
  '/metadata',
  '/budgets',
  '/prices',
  '/prices?tab=own',
  '/prices?tab=changes',
  '/keys',
  '/system',
];

test.each(LIST_PAGES)('%s shows hostile texts as text', async (address) => {
  const profile = await browser.newProfile();
  const page = await openSignedIn(profile, gateway);
  const faults = watchPage(page, gateway.adminBase);
  await page.goto(`${gateway.adminBase}${address}`);
  await settle(page);
  await expectIntact(page, address);
  expect(faults).toEqual({ errors: [], foreign: [], dialogs: [] });
  await profile.close();
});

test('every hostile call opens, on each of its tabs, as text', async () => {
  const profile = await browser.newProfile();
  const page = await openSignedIn(profile, gateway);
  const faults = watchPage(page, gateway.adminBase);
  for (const [number] of HOSTILE_STRINGS.entries()) {
    const id = callIdAt(START_MS + number * 1_000, number);
    const address = `/log/${id}`;
    await openCall(page, address, id);
    await page.getByRole('tab').first().waitFor();
    expect(await openTabs(page)).toBeGreaterThan(2);
    await expectIntact(page, address);
  }
  expect(faults).toEqual({ errors: [], foreign: [], dialogs: [] });
  await profile.close();
});

test('every hostile run opens as a waterfall, as text', async () => {
  const profile = await browser.newProfile();
  const page = await openSignedIn(profile, gateway);
  const faults = watchPage(page, gateway.adminBase);
  const traces = ['hostile run', ...HOSTILE_STRINGS.filter((_, number) => number % 2 === 0)];
  for (const trace of traces) {
    const address = `/run?trace=${encodeURIComponent(trace.slice(0, 500).toWellFormed())}`;
    await page.goto(`${gateway.adminBase}${address}`);
    await page.getByRole('treegrid').waitFor();
    await expectIntact(page, address);
  }
  expect(faults).toEqual({ errors: [], foreign: [], dialogs: [] });
  await profile.close();
});
