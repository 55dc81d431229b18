/** The dashboard as a person uses it: a real Chromium, a whole gateway, its local fake provider. */
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway, waitUntil } from '../gateway/start-gateway.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { auditPage } from './audit-page.ts';
import { type PageFaults, startBrowser, type TestBrowser, watchPage } from './browser.ts';
import { settle } from './pages.ts';
import { createLoginLink, openSignedIn } from './sign-in.ts';
import { waitInPage } from './wait-in-page.ts';

let gateway: TestGateway;
let browser: TestBrowser;
let profile: BrowserContext;
const watched: PageFaults[] = [];
/** A test that asks for something the gateway must refuse says so: the browser writes every refusal to its console. */
let isRefusalExpected = false;
/** The same for what is not there. */
let isAbsenceExpected = false;

let slowProvider: ScriptedProvider;

beforeAll(async () => {
  slowProvider = await startScriptedProvider();
  gateway = await startGateway({
    args: ['--demo'],
    env: { TOLLGATE_UPSTREAM_DEEPSEEK: slowProvider.origin },
  });
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await slowProvider?.close();
});

async function open(address: string): Promise<Page> {
  profile = await browser.newProfile();
  const page = await openSignedIn(profile, gateway);
  watched.push(
    watchPage(
      page,
      gateway.adminBase,
      (text) => (isRefusalExpected && text.includes('400')) || (isAbsenceExpected && text.includes('404')),
    ),
  );
  await page.goto(`${gateway.adminBase}${address}`);
  await settle(page);
  return page;
}

afterEach(async () => {
  await profile?.close();
  isRefusalExpected = false;
  isAbsenceExpected = false;
  for (const faults of watched.splice(0)) expect(faults).toEqual({ errors: [], foreign: [], dialogs: [] });
});

interface CallOptions {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly model?: string;
  readonly isFailing?: boolean;
}

/** Makes one call through the proxy and waits for its row; returns its id. */
async function makeCall(options: CallOptions = {}): Promise<string> {
  const answer = await fetch(`${gateway.base}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-key': options.key ?? gateway.key,
      'x-gateway-provider-alias': 'demo',
      ...options.headers,
    },
    body: JSON.stringify({
      model: options.model ?? 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Is it raining?' }],
    }),
  });
  await answer.text();
  const id = answer.headers.get('x-gateway-request-id') ?? '';
  if (answer.status < 400) await gateway.waitForLog(id);
  return id;
}

function inRun(trace: string, path: string, name: string): CallOptions {
  return {
    headers: {
      'X-Gateway-Trace-Id': trace,
      'X-Gateway-Span-Path': path,
      'X-Gateway-Span-Name': name,
      'X-Gateway-Feature': 'search',
    },
  };
}

describe('signing in', () => {
  test('a one-time link signs in once; the second time it says what to do', async () => {
    const link = await createLoginLink(gateway);
    profile = await browser.newProfile();
    const page = await profile.newPage();
    await page.goto(link);
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    expect(page.url()).not.toContain('code=');
    const other = await browser.newProfile();
    const second = await other.newPage();
    await second.goto(link);
    expect(await second.getByRole('alert').textContent()).toContain('tollgate login');
    await other.close();
  });

  test('an address opened without a session leads to the sign-in and then back to it', async () => {
    profile = await browser.newProfile();
    const page = await profile.newPage();
    await page.goto(`${gateway.adminBase}/logs?range=7d&q=rain`);
    await page.getByRole('heading', { name: 'Sign in to Tollgate' }).waitFor();
    const { searchParams } = new URL(page.url());
    expect(searchParams.get('next')).toBe('/logs?range=7d&q=rain');
  });
});

describe('from Get started to the waterfall', () => {
  test('a key is made, a refused attempt says why, the first call shows, and its run opens as a waterfall', async () => {
    const page = await open('/start');
    await page.getByLabel('Name of the key').fill('browser test');
    await page.getByRole('button', { name: 'Create key' }).click();
    const key = (await page.locator('[data-secret]').textContent()) ?? '';
    expect(key).toMatch(/^tgk_/);
    await page.getByText('Waiting for a call').waitFor();

    await makeCall({ key: 'tgk_wrong' });
    await page.getByText('key_malformed').waitFor();
    await page.getByText('from 127.0.0.1').first().waitFor();

    await makeCall({ key, ...inRun('first-run', 'agent/search', 'ask') });
    await page.getByRole('link', { name: 'gpt-4o-mini' }).first().waitFor();
    await page.getByRole('link', { name: 'See the run’s waterfall' }).click();
    const tree = page.getByRole('treegrid');
    await tree.getByRole('row', { name: /agent/ }).first().waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('first-run');
  });
});

describe('logs', () => {
  test('quick clicks, and letters typed while the address is on its way, are kept', async () => {
    await makeCall();
    const page = await open('/logs');
    // Whatever a navigation waits for takes long.
    await page.route('**/api/v1/session', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await route.continue();
    });
    await page.getByRole('complementary', { name: 'Facets' }).getByRole('button').first().waitFor();
    await page.evaluate(
      `[...document.querySelectorAll('aside[aria-label=Facets] details')].slice(0, 2)
        .forEach((facet) => facet.querySelector('button').click())`,
    );
    await waitInPage(page, `new URLSearchParams(location.search).getAll('f').length === 2`);
    const field = page.getByRole('searchbox');
    await field.pressSequentially('rai');
    await page.waitForTimeout(450);
    await field.pressSequentially('n');
    await waitInPage(page, `new URLSearchParams(location.search).get('q') === 'rain'`);
    expect(await field.inputValue()).toBe('rain');
  });

  test('Exclude runs leaves the independent calls, and a row of a run leads to that call in its run', async () => {
    const alone = await makeCall({ model: 'gpt-4o' });
    const inside = await makeCall(inRun('logs-run', 'plan', 'think'));
    const page = await open('/logs?range=1h');
    const table = page.getByRole('grid', { name: 'Calls' });
    await table
      .getByRole('link', { name: /logs-run/ })
      .first()
      .waitFor();
    await page.getByRole('checkbox', { name: 'Exclude runs' }).check();
    await waitUntil('rows of runs are gone', async () =>
      (await table.getByRole('link', { name: /logs-run/ }).count()) === 0 ? true : undefined,
    );
    expect(page.url()).toContain('exclude_runs');
    expect(await table.getByRole('row').count()).toBeGreaterThan(1);
    await page.goBack();
    await table
      .getByRole('link', { name: /logs-run/ })
      .first()
      .click();
    await page.getByRole('treegrid').waitFor();
    expect(new URL(page.url()).searchParams.get('sel')).toBe(inside);
    expect(alone).not.toBe(inside);
  });

  test('the last message of the user and the beginning of the answer stand in the list, and in the panel of a step', async () => {
    await makeCall(inRun('said-run', 'plan', 'think'));
    const page = await open('/logs?range=1h&f=trace_id:eq:said-run');
    const cell = page.getByRole('grid', { name: 'Calls' }).locator('[data-cell=snippet]').first();
    await cell.getByText('Is it raining?').waitFor();
    expect(await cell.textContent()).toMatch(/^Is it raining\?→Tollgate demo: .+/);
    await page.goto(`${gateway.adminBase}/run?trace=said-run`);
    await page.getByRole('treegrid').getByRole('row', { name: /plan/ }).first().click();
    await page.getByRole('complementary').getByText('Is it raining?').waitFor();
  });

  test('a search shows where it found its text, and the call opens at it, marked', async () => {
    await makeCall({ headers: { 'x-gateway-feature': 'Weather-Report' } });
    const page = await open('/logs?range=1h&q=it+RAINING');
    const cell = page.getByRole('grid', { name: 'Calls' }).locator('[data-cell=snippet]').first();
    await cell.locator('mark').waitFor();
    expect(await cell.textContent()).toMatch(/^promptIs it raining\?/);
    expect(await cell.locator('mark').textContent()).toBe('it raining');
    await cell.click();
    await page.getByRole('complementary').getByText('Is it raining?').waitFor();
    await waitInPage(
      page,
      "[...(CSS.highlights.get('sought') ?? [])].some((range) => range.toString() === 'it raining')",
    );
    await page.getByRole('searchbox').fill('weather-rep');
    await cell.getByText('metadata.').waitFor();
    await cell.click();
    await page.getByRole('complementary').getByText('Weather-Report').waitFor();
  });

  test('sums and lists that cover a part say so and go on when asked', async () => {
    await makeCall();
    const page = await open('/logs');
    const asked: string[] = [];
    // No log of a test takes longer than its time: the answers are the gateway's, cut.
    await page.route(/\/api\/v1\/logs(?:\/summary)?\?/, async (route) => {
      const url = new URL(route.request().url());
      const isGoingOn = url.searchParams.has('wait_ms') || url.searchParams.has('cursor');
      const response = await route.fetch();
      if (isGoingOn) {
        asked.push(`${url.pathname} ${url.searchParams.get('wait_ms') ?? url.searchParams.get('cursor')}`);
        // The made-up cursor is none of the gateway's.
        if (url.searchParams.has('cursor'))
          return route.fulfill({ json: { data: [], next_cursor: null, searched_to: null } });
        return route.fulfill({ response });
      }
      const cut = { ...(await response.json()), searched_to: '2026-01-02T03:04:05.000Z' };
      const isList = url.pathname.endsWith('/logs');
      return route.fulfill({ json: isList ? { ...cut, data: [], next_cursor: 'further' } : cut });
    });
    await page.reload();
    const sums = page.getByRole('status').filter({ hasText: 'Sums over calls since' });
    await sums.getByRole('button', { name: 'Continue' }).click();
    await sums.waitFor({ state: 'detached' });
    const list = page.getByRole('status').filter({ hasText: 'Searched back to' });
    await list.getByRole('button', { name: 'Continue' }).click();
    await list.waitFor({ state: 'detached' });
    expect(asked).toEqual(expect.arrayContaining(['/api/v1/logs/summary 2000', '/api/v1/logs further']));
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('new calls come by themselves while live is on, and the filter holds for them', async () => {
    const page = await open('/logs?range=1h&live=1&f=model_requested:eq:gpt-5-mini');
    await page.waitForTimeout(1_000);
    await makeCall({ model: 'gpt-4o-mini' });
    await makeCall({ model: 'gpt-5-mini' });
    const table = page.getByRole('grid', { name: 'Calls' });
    await table.getByText('gpt-5-mini').first().waitFor();
    expect(await table.getByText('gpt-4o-mini').count()).toBe(0);
  });

  test('calls that came while live was on stay when it goes off, and an export has those that came since', async () => {
    const page = await open('/system');
    const HOUR_MS = 3_600_000;
    await page.clock.setFixedTime(Date.now() - HOUR_MS);
    await page.goto(`${gateway.adminBase}/logs?range=6h&live=1&f=model_requested:eq:gpt-live`);
    await page.getByText('No calls').or(page.getByRole('grid')).first().waitFor();
    await page.waitForTimeout(1_000);
    await makeCall({ model: 'gpt-live' });
    const calls = page.getByRole('grid', { name: 'Calls' }).locator('[data-cell=model]', { hasText: 'gpt-live' });
    await calls.first().waitFor();
    await page.clock.setFixedTime(Date.now());
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await page.waitForURL((url) => !url.searchParams.has('live'));
    await settle(page);
    expect(await calls.count()).toBe(1);
    await page.clock.setFixedTime(Date.now() + HOUR_MS);
    await page.getByRole('button', { name: 'Export' }).click();
    const address = await page.getByRole('menuitem', { name: 'NDJSON' }).getAttribute('href');
    const to = new URL(address ?? '', gateway.adminBase).searchParams.get('to') ?? '';
    expect(Date.parse(to)).toBeGreaterThan(Date.now() + HOUR_MS);
  });

  test('a call that has not ended stands on top with a running clock, and then has its place in the list', async () => {
    const { promise: mayAnswer, resolve: letAnswer } = Promise.withResolvers<void>();
    slowProvider.setAnswer(async () => {
      await mayAnswer;
      return buildAnswer({
        headers: [['Content-Type', 'application/json']],
        body: Buffer.from('{"model":"deepseek-chat","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}'),
      });
    });
    const answer = fetch(`${gateway.base}/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-gateway-key': gateway.key,
        'x-gateway-provider': 'deepseek',
      },
      body: '{"model":"deepseek-chat","messages":[{"role":"user","content":"Wait."}]}',
    });
    const page = await open('/logs?range=1h');
    const row = page.getByRole('grid', { name: 'Calls' }).getByRole('row').nth(1);
    await row.getByText('open', { exact: true }).waitFor();
    await row.locator('[data-cell=model]', { hasText: 'deepseek-chat' }).waitFor();
    const clock = row.locator('[data-cell=duration]');
    const shown = await clock.textContent();
    await waitUntil('the clock runs', async () => ((await clock.textContent()) === shown ? undefined : true));
    letAnswer();
    await (await answer).text();
    await waitUntil('it is open no more', async () =>
      (await row.getByText('open', { exact: true }).count()) === 0 ? true : undefined,
    );
    await row.locator('[data-cell=model]', { hasText: 'deepseek-chat' }).waitFor();
  });

  test('a call opens beside the list, its request and answer readable; Escape and Back close it', async () => {
    await makeCall({ model: 'gpt-4o-mini' });
    const page = await open('/logs?range=1h');
    const table = page.getByRole('grid', { name: 'Calls' });
    // Not the middle of the row, where the menu of a cell may be.
    await table.getByRole('row').nth(1).locator('[data-cell=time]').click();
    await page.getByRole('tab', { name: 'Messages' }).waitFor();
    await page.getByText('Is it raining?').first().waitFor();
    expect(page.url()).toContain('peek=');
    await page.getByRole('tab', { name: 'Metadata' }).click();
    const address = page.getByText('Client’s address').locator('xpath=following-sibling::*[1]');
    expect(await address.textContent()).toBe('127.0.0.1');
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Messages' }).waitFor({ state: 'detached' });
    expect(page.url()).not.toContain('peek=');
  });
});

describe('a run', () => {
  test('a leaf of the waterfall opens the full request, and new calls of the run appear by themselves', async () => {
    await makeCall(inRun('live-run', 'agent/first', 'one'));
    const page = await open('/run?trace=live-run');
    const tree = page.getByRole('treegrid');
    await tree.getByRole('row', { name: /one/ }).first().click();
    await page.getByRole('tab', { name: 'Messages' }).waitFor();
    await makeCall(inRun('live-run', 'agent/second', 'two'));
    await tree
      .getByRole('row', { name: /second/ })
      .first()
      .waitFor();
  });

  test('a shared address opens the same selection in a fresh profile', async () => {
    const id = await makeCall(inRun('shared-run', 'agent/step', 'inner'));
    const first = await open(`/run?trace=shared-run&sel=${id}`);
    const address = first.url();
    await profile.close();
    const page = await open(new URL(address).pathname + new URL(address).search);
    await page.getByRole('tab', { name: 'Messages' }).waitFor();
    expect(await page.getByRole('treegrid').getByRole('row', { selected: true }).textContent()).toContain('inner');
  });
});

describe('metadata', () => {
  test('a promoted key answers filters and costs as it did before', async () => {
    for (const feature of ['alpha', 'alpha', 'beta']) await makeCall({ headers: { 'X-Gateway-Squad': feature } });
    await makeCall({ headers: { 'x-gateway-squad': 'alpha' } });
    const count = async () => {
      const answer = await gateway.api('/api/v1/logs?f=metadata.Squad:eq:alpha&fields=id');
      return answer !== null && typeof answer === 'object' && 'data' in answer && Array.isArray(answer.data)
        ? answer.data.length
        : null;
    };
    expect(await count()).toBe(3);
    const page = await open('/metadata');
    const row = page.getByRole('row', { name: /Squad/ });
    await row.getByRole('button', { name: /Promote/ }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^(?:Promote|Start)/ })
      .click();
    await row.getByText('promoted').first().waitFor();
    expect(await count()).toBe(3);
    await page.goto(`${gateway.adminBase}/costs?range=24h&by=metadata.Squad`);
    const table = page.getByRole('table').first();
    await table.getByText('alpha').first().waitFor();
    await table.getByText('beta').first().waitFor();
    await table.getByText('(not set)').first().waitFor();
  });
});

describe('brakes and alerts', () => {
  test('a run is paused and resumed, a rule is changed, and an alert is made after a preview', async () => {
    await makeCall(inRun('stuck-run', 'agent', 'again'));
    const page = await open('/brakes');
    await page.getByRole('button', { name: 'Pause a run or key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Trace id').fill('stuck-run');
    await dialog.getByLabel('Why').fill('it turns in circles');
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByRole('region', { name: 'Paused now' }).getByText('it turns in circles').waitFor();
    await page.goto(`${gateway.adminBase}/run?trace=stuck-run`);
    const brake = page.getByRole('region', { name: 'Brake' });
    await brake.getByText('it turns in circles').waitFor();
    await brake.getByRole('button', { name: 'Resume' }).click();
    await brake.getByText('resumed').waitFor();

    await page.goto(`${gateway.adminBase}/brakes?tab=rules`);
    await page.getByRole('button', { name: 'Change Retries of one request of a run' }).click();
    await dialog.getByLabel('Then').selectOption('pause');
    await dialog.getByLabel('failures of the same request').fill('30');
    await dialog.getByRole('button', { name: 'Change rule' }).click();
    const rule = page.getByRole('row', { name: /Retries of one request.*run/ });
    await rule.getByText('Raise an alarm and pause').waitFor();
    await rule.getByText('30').waitFor();

    await page.goto(`${gateway.adminBase}/brakes?tab=alerts`);
    await page.getByRole('button', { name: 'Add a destination' }).click();
    await dialog.getByLabel('How').selectOption('email');
    await dialog.getByLabel('Name').fill('office');
    await dialog.getByLabel('Addresses of mail').fill('a@example.com');
    await dialog.getByRole('button', { name: 'Add destination' }).click();
    const destinations = page.getByRole('region', { name: 'Destinations' });
    await destinations.getByRole('button', { name: 'Send a test' }).click();
    await destinations.getByText('TOLLGATE_SMTP_URL').waitFor();

    await page.getByRole('button', { name: 'Make an alert' }).click();
    await dialog.getByLabel('Name').fill('busy');
    await dialog.getByLabel('When').selectOption('question');
    await dialog.getByLabel('Figure').selectOption('calls');
    await dialog.getByLabel('That match').fill('?range=1h&f=trace_id:eq:stuck+run&f=metadata.Team:eq:a%252Cb');
    const understood = dialog.getByRole('list', { name: 'Filters' }).getByRole('listitem');
    expect(await understood.allTextContents()).toEqual(['trace id = stuck run', 'Team = a,b']);
    await dialog.getByLabel('That match').fill('trace_id:eq:stuck-run');
    await dialog.getByLabel('Reaches').fill('1');
    await dialog.getByRole('button', { name: 'Preview' }).click();
    await dialog.getByText('It would have fired 1 time in the last day; the highest was 1.').waitFor();
    await dialog.getByLabel('office (email)').check();
    await dialog.getByRole('button', { name: 'Make alert' }).click();
    await page
      .getByRole('region', { name: 'Alerts' })
      .getByText('Number of calls where trace id = stuck-run reaches 1 within an hour')
      .waitFor();
    await page.getByRole('region', { name: 'Latest deliveries' }).getByText('busy: 1 call', { exact: true }).waitFor();

    // The same from what a page shows, filters and all.
    await page.goto(`${gateway.adminBase}/runs?range=24h&f=${encodeURIComponent('run.trace_id:eq:stuck-run')}`);
    await page.getByRole('button', { name: 'Alert me on this' }).click();
    await dialog.getByRole('list', { name: 'Filters' }).getByText('run trace id = stuck-run').waitFor();
    await dialog.getByLabel('Name').fill('stuck again');
    await dialog.getByLabel('Figure').selectOption('runs');
    await dialog.getByLabel('Reaches').fill('1');
    await dialog.getByRole('button', { name: 'Preview' }).click();
    await dialog.getByText('It would have fired 1 time in the last day; the highest was 1.').waitFor();
    await dialog.getByRole('button', { name: 'Make alert' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.goto(`${gateway.adminBase}/brakes?tab=alerts`);
    await page.getByRole('region', { name: 'Latest deliveries' }).getByText('stuck again: 1 run').waitFor();
  });
});

describe('prices', () => {
  /** Fireworks bills the model that was asked for, so that any name can be given. */
  const makeOwnCall = (model: string) => makeCall({ model, headers: { 'X-Gateway-Provider': 'fireworks' } });

  test('a model without a price gets one after a preview, and its calls are priced again', async () => {
    const id = await makeOwnCall('own-7b');
    const page = await open('/prices');
    await page.getByRole('button', { name: 'Add price for own-7b' }).click();
    const dialog = page.getByRole('dialog');
    const [input, save] = [dialog.getByLabel('Input, uncached'), dialog.getByRole('button', { name: 'Save' })];
    await waitInPage(page, "document.activeElement?.matches('[data-first-focus]')");
    await page.keyboard.type('two dollars');
    expect(await save.isDisabled()).toBe(true);
    isRefusalExpected = true;
    await page.keyboard.press('Enter');
    await dialog.getByText(/^Not accepted/).waitFor();
    expect(await input.getAttribute('aria-invalid')).toBe('true');
    expect(await auditPage(page)).toEqual([]);

    await input.fill('2');
    await dialog.getByLabel('Output, reasoning included').fill('8');
    await dialog.getByLabel('Read from cache').first().fill('0.2');
    await dialog.getByRole('button', { name: 'Preview' }).press('Enter');
    await dialog.getByText('1 of the latest 1 affected calls would cost something else.').waitFor();
    expect(await auditPage(page)).toEqual([]);
    // The focus stays with what one is about, from step to step.
    await waitInPage(page, "document.activeElement?.textContent === 'Preview'");
    await save.press('Enter');
    await waitInPage(page, "document.activeElement?.textContent?.startsWith('Every call from now on')");
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await dialog.locator('[data-job-state=done]').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('button', { name: 'Add price for own-7b' }).waitFor({ state: 'detached' });

    await page.goto(`${gateway.adminBase}/log/${id}?tab=cost`);
    const lines = page.getByRole('region', { name: 'Cost by class' });
    await lines.locator('summary', { hasText: 'yours' }).first().click();
    await lines.getByText('declared by the operator').first().waitFor();
    const revisions = page.getByRole('table').last();
    await revisions.getByText('unpriced → exact').waitFor();
    await revisions.getByText('a price was added').waitFor();
  });

  test('a changed price is applied to earlier calls only after a dry run and with a reason', async () => {
    const model = { provider: 'fireworks', model: 'own-8b' };
    const declare = (rate: string) =>
      gateway.api('/api/v1/prices/overrides', {
        method: 'POST',
        body: JSON.stringify({ ...model, rates: { input: rate, output: rate, cache_read: rate } }),
      });
    await declare('1');
    const id = await makeOwnCall('own-8b');
    await declare('3');
    const page = await open('/prices?tab=reprice&only=all&range=1h&f=billing_model:eq:own-8b');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('region', { name: 'Difference by day and model' }).getByText('own-8b').waitFor();
    await page.getByRole('button', { name: 'Apply…' }).waitFor();
    expect(await auditPage(page)).toEqual([]);
    await page.getByRole('button', { name: 'Apply…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change the cost of 1 call?' });
    const apply = dialog.getByRole('button', { name: 'Apply to 1 call' });
    expect(await apply.isDisabled()).toBe(true);
    await waitInPage(page, 'document.activeElement?.labels?.[0]?.textContent === "Reason"');
    await page.keyboard.type('the contract says three dollars');
    await page.keyboard.press('Enter');
    await page.locator('[data-job-state=done]').getByText('Price all calls again').first().waitFor();
    await page.goto(`${gateway.adminBase}/log/${id}?tab=cost`);
    await page.getByText('the contract says three dollars').waitFor();

    await page.goto(`${gateway.adminBase}/prices?tab=changes`);
    await page
      .getByRole('row', { name: /fireworks own-8b: .*\$3/ })
      .getByText('replaced')
      .waitFor();
    expect(await auditPage(page)).toEqual([]);
  });

  test('a model is looked up with the sources of its rates, and so many tokens are worked out', async () => {
    const page = await open('/prices?tab=lookup');
    await page.getByLabel('Model id').fill('gpt-4o-mini');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Rates in force' }).getByText('Read from cache').first().waitFor();
    await page.getByLabel('Uncached input tokens').fill('1,000,000');
    await page.getByLabel('Output tokens').fill('');
    await page.getByRole('button', { name: 'Calculate' }).click();
    await page.getByText('$0.15', { exact: true }).first().waitFor();
    expect(new URL(page.url()).searchParams.get('model')).toBe('gpt-4o-mini');
  });
});

describe('the keyboard alone', () => {
  test('leads from the runs into a run, to a leaf, its request, and back', async () => {
    await makeCall(inRun('keyboard-run', 'agent/a', 'leaf'));
    const page = await open('/start');
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    const list = page.getByRole('grid', { name: 'Runs' });
    await list.getByRole('row', { name: /keyboard-run/ }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Home');
    await page.keyboard.press('o');
    const tree = page.getByRole('treegrid');
    await tree.getByRole('row').nth(1).focus();
    await page.keyboard.press('*');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Messages' }).waitFor();
    await page.keyboard.press('Escape');
    await page.goBack();
    await list.waitFor();
  });

  test('Control and K open a line that leads to a call by its id', async () => {
    const id = await makeCall();
    const page = await open('/system');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('textbox').waitFor();
    await page.keyboard.type(id);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/log/${id}`);
  });

  test('the same line opens a run whose trace id looks like the id of a call', async () => {
    const trace = '0f0e0d0c-1111-4222-8333-0123456789ab';
    await makeCall(inRun(trace, 'agent', 'ask'));
    const page = await open('/system');
    isAbsenceExpected = true;
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('textbox').waitFor();
    await page.keyboard.type(trace);
    await page.keyboard.press('Enter');
    await page.getByRole('treegrid').waitFor();
    expect(new URL(page.url()).searchParams.get('trace')).toBe(trace);
  });
});

/** The status of an answer to an agent that begins to talk. */
async function askMcp(token: string): Promise<number> {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const answer = await fetch(`${gateway.adminBase}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  await answer.text();
  return answer.status;
}

describe('API keys and System', () => {
  // Before a token that was revoked is tried, which needs attention.
  test('System says that everything works', async () => {
    const page = await open('/system');
    await page.getByText('everything works').waitFor();
    await page.getByRole('region', { name: 'Processes' }).getByText('proxy').first().waitFor();
  });

  test('a key is made and shown once, and after it was revoked its calls are refused', async () => {
    const page = await open('/keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('short-lived');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const key = (await dialog.locator('[data-secret]').textContent()) ?? '';
    await dialog.getByLabel('I have stored it').check();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await makeCall({ key });
    await page.getByRole('button', { name: 'Revoke short-lived' }).click();
    await dialog.getByText('Streams and websockets that are open then end within that second').waitFor();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    // What lies behind an open dialog is hidden from roles.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Revoke short-lived' }).waitFor({ state: 'detached' });
    const refused = await fetch(`${gateway.base}/v1/models`, { headers: { 'x-gateway-key': key } });
    expect([refused.status, refused.headers.get('x-gateway-error')]).toEqual([401, 'key_revoked']);
    expect(await page.content()).not.toContain(key);
  });

  test('a limit that is no number is not saved, and a secret that is not stored stays through a stray key or click', async () => {
    const page = await open('/keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog');
    const clickBeside = () => page.mouse.click(5, 5);
    await dialog.getByLabel('Name').fill('stray');
    await clickBeside();
    await dialog.getByLabel('Tokens a minute').fill('100,000');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText('Write whole numbers above 0, or nothing.').waitFor();
    await dialog.getByLabel('Tokens a minute').fill('100000');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const secret = dialog.locator('[data-secret]');
    await secret.waitFor();
    await page.keyboard.press('Escape');
    await clickBeside();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.keyboard.press('Control+k');
    await dialog.getByText('Store it first, and say so').waitFor();
    expect(await secret.textContent()).toMatch(/^tgk_/);
    expect(await dialog.count()).toBe(1);
    expect(await auditPage(page)).toEqual([]);
    await dialog.getByLabel('I have stored it').check();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Revoke stray' }).waitFor();
  });

  test('a read token is made and shown once, opens /mcp, and after it was revoked does not', async () => {
    const page = await open('/keys');
    await page.getByRole('button', { name: 'Create read token' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('my agent');
    await dialog.getByRole('button', { name: 'Create read token' }).click();
    const token = (await dialog.locator('[data-secret]').textContent()) ?? '';
    await dialog.getByLabel('I have stored it').check();
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(await askMcp(token)).toBe(200);
    const section = page.getByRole('region', { name: 'Read tokens' });
    await section.getByRole('row', { name: /my agent.*active.*all calls.*left out/ }).waitFor();
    await section.getByRole('button', { name: 'Revoke my agent' }).click();
    await page.getByRole('button', { name: 'Revoke read token' }).click();
    await section.getByText('No agent has one.').waitFor();
    expect(await askMcp(token)).toBe(401);
    expect(await page.content()).not.toContain(token);
  });

  test('what a key may do is set, its use is shown, and the old half of a rotation tells who has not moved', async () => {
    const page = await open('/keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('narrow');
    await dialog.getByLabel('Owner').fill('data team');
    await dialog.getByText('What its calls may use: everything').click();
    await dialog.getByLabel('OpenAI').check();
    await dialog.getByLabel('Models').fill('gpt-*, o3');
    await dialog.getByLabel('Requests a minute').fill('many');
    await dialog.getByText('a whole number above 0, or nothing').waitFor();
    await dialog.getByLabel('Requests a minute').fill('3');
    expect(await auditPage(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const key = (await dialog.locator('[data-secret]').textContent()) ?? '';
    await dialog.getByLabel('I have stored it').check();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await makeCall({ key });
    const row = page.getByRole('row').filter({ hasText: 'narrow' });
    await row.getByText('data team').waitFor();
    await row.getByText('openai; gpt-*, o3').waitFor();
    await row.getByRole('meter', { name: 'requests/min in use' }).waitFor();
    const refused = await fetch(`${gateway.base}/v1/messages`, {
      method: 'POST',
      headers: { 'x-gateway-key': key, 'anthropic-version': '2023-06-01' },
      body: '{}',
    });
    expect(refused.headers.get('x-gateway-error')).toBe('provider_not_allowed');

    await page.getByRole('button', { name: 'Edit narrow' }).click();
    await dialog.getByLabel('Models').fill('');
    await dialog.getByLabel('Expires (UTC)').fill('2031-12-31T00:00');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('openai; gpt-*, o3').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Rotate narrow' }).click();
    await dialog.getByText('Streams and websockets that are open then end within that second').waitFor();
    await dialog.getByRole('button', { name: 'Create the new key' }).click();
    await dialog.getByLabel('I have stored it').check();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await row.getByText('no calls with it since').waitFor();
    // The old half has been rotated: the API would refuse it.
    expect(await page.getByRole('button', { name: 'Rotate narrow' }).count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Edit narrow' }).count()).toBe(2);
    await makeCall({ key });
    await row.getByText('1 calls with it since').waitFor();
  });

  test('a limit for each value of a metadata key is added, used and removed', async () => {
    const page = await open('/keys');
    await page.getByRole('button', { name: 'Add a limit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Metadata key').fill('User-Id');
    await dialog.getByLabel('Requests a minute').fill('100');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const limits = page.getByRole('region', { name: 'Limits', exact: true });
    await limits.getByText('each value of User-Id').waitFor();
    await makeCall({ headers: { 'x-gateway-user-id': 'u-17' } });
    await limits.getByText('u-17').waitFor();
    expect(await auditPage(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove the limit of each value of User-Id' }).click();
    await dialog.getByRole('button', { name: 'Remove limit' }).click();
    await limits.getByText('None: calls are limited by their keys alone').waitFor();
  });
});
