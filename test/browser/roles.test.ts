/** The dashboard as each role sees it: what the role may not use is not shown, and nothing that is shown is refused. */
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { LEDGER_NAME, openLedgerDatabase } from '../../src/budgets/ledger-file.ts';
import { LedgerUpkeep } from '../../src/budgets/ledger-upkeep.ts';
import { parseUsd } from '../../src/vocabulary/usd.ts';
import { startGateway, type TestGateway } from '../gateway/start-gateway.ts';
import { auditPage } from './audit-page.ts';
import { startBrowser, type TestBrowser, watchPage } from './browser.ts';
import { settle } from './pages.ts';
import { openSignedIn } from './sign-in.ts';

let gateway: TestGateway;
let browser: TestBrowser;

const Invited = z.object({ link: z.object({ url: z.string() }) });

beforeAll(async () => {
  gateway = await startGateway();
  browser = await startBrowser();
  await gateway.api('/api/v1/demo-data', { method: 'POST' });
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

async function invite(email: string, rights: object): Promise<string> {
  const answer = await gateway.api('/api/v1/people', { method: 'POST', body: JSON.stringify({ email, ...rights }) });
  return Invited.parse(answer).link.url;
}

async function openLink(profile: BrowserContext, url: string): Promise<Page> {
  const page = await profile.newPage();
  await page.goto(url);
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  return page;
}

async function listMenu(page: Page): Promise<readonly string[]> {
  return page.getByRole('navigation', { name: 'Main' }).getByRole('listitem').allInnerTexts();
}

async function isShown(page: Page, name: string): Promise<boolean> {
  return (await page.getByRole('button', { name, exact: true }).count()) > 0;
}

/** Makes one in the page, and looks at what is used of it. */
async function makeBudget(page: Page): Promise<void> {
  await page.goto(`${gateway.adminBase}/budgets`);
  await settle(page);
  expect(await auditPage(page)).toEqual([]);
  await page.getByRole('button', { name: 'Make a budget' }).first().click();
  await page.getByLabel('Name').fill('Agents');
  await page.getByLabel('Dollars').fill('5');
  await page.getByLabel('Whom to ask for more').fill('Ada');
  expect(await auditPage(page)).toEqual([]);
  await page.getByRole('button', { name: 'Make budget' }).click();
  await page.getByRole('heading', { name: 'Agents' }).waitFor();
  const { data } = z
    .object({ data: z.array(z.object({ id: z.number() })) })
    .parse(await gateway.api('/api/v1/budgets'));
  // As if calls of a run had spent it.
  const ledger = new LedgerUpkeep(openLedgerDatabase(join(gateway.dataDir, LEDGER_NAME), 'process'));
  const scope = { accountId: 1, budgetId: data[0]?.id ?? 0, value: 'nightly', periodStartMs: 0 };
  ledger.raiseSpent([{ ...scope, spent: parseUsd('4.5'), runLimit: null, usedMs: Date.now() }]);
  ledger.close();
  const meter = page.getByRole('meter', { name: 'Used by nightly' });
  await meter.waitFor();
  expect(await meter.getAttribute('aria-valuenow')).toBe('90');
  expect(await page.getByRole('list', { name: 'Budgets' }).textContent()).toMatch(
    /Each run: \$5\.00 once[\s\S]*ask Ada for more[\s\S]*nightly\s*\$4\.50 spent/,
  );
  expect(await auditPage(page)).toEqual([]);
}

test('a viewer without texts reads, and is shown no control that changes something and no text', async () => {
  const profile = await browser.newProfile();
  const page = await openLink(profile, await invite('vera@example.com', { role: 'viewer', may_read_bodies: false }));
  const faults = watchPage(page, gateway.adminBase);
  const menu = await listMenu(page);
  expect([menu.includes('Runs'), menu.includes('People'), menu.includes('System')]).toEqual([true, false, false]);
  await page.goto(`${gateway.adminBase}/keys`);
  await settle(page);
  expect(await isShown(page, 'Create key')).toBe(false);
  await page.goto(`${gateway.adminBase}/budgets`);
  await settle(page);
  expect(await isShown(page, 'Make a budget')).toBe(false);
  await page.goto(`${gateway.adminBase}/prices?tab=own`);
  await settle(page);
  expect(await page.getByRole('tab', { name: 'Reprice calls' }).count()).toBe(0);
  await page.goto(`${gateway.adminBase}/logs?range=7d`);
  await settle(page);
  expect(await page.getByRole('searchbox').count()).toBe(0);
  for (const [address, title] of [
    ['/people', 'For owners of this account'],
    ['/system', 'For whoever runs the gateway'],
  ] as const) {
    await page.goto(`${gateway.adminBase}${address}`);
    await page.getByRole('heading', { name: title }).waitFor();
    expect(await auditPage(page)).toEqual([]);
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
  }
  for (const address of ['/start', '/runs?range=7d', '/costs?range=7d', '/metadata']) {
    await page.goto(`${gateway.adminBase}${address}`);
    await settle(page);
  }
  const { data } = z
    .object({ data: z.array(z.object({ id: z.string() })) })
    .parse(await gateway.api('/api/v1/logs?limit=1'));
  await page.goto(`${gateway.adminBase}/log/${data[0]?.id}`);
  await settle(page);
  expect(await page.getByRole('tab').allInnerTexts()).toEqual(['Cost', 'Timing', 'Metadata']);
  expect(faults.errors).toEqual([]);
  await profile.close();
});

test('a member makes keys; an owner invites, and the invited person comes in and sets a password', async () => {
  const members = await browser.newProfile();
  const member = await openLink(members, await invite('mia@example.com', { role: 'member' }));
  await member.goto(`${gateway.adminBase}/keys`);
  await settle(member);
  expect(await isShown(member, 'Create key')).toBe(true);
  expect((await listMenu(member)).includes('People')).toBe(false);
  await makeBudget(member);
  await members.close();

  const owners = await browser.newProfile();
  const owner = await openLink(owners, await invite('olga@example.com', { role: 'owner' }));
  const faults = watchPage(owner, gateway.adminBase);
  await owner.goto(`${gateway.adminBase}/people`);
  await settle(owner);
  expect(await auditPage(owner)).toEqual([]);
  await owner.getByRole('button', { name: 'Invite a person' }).first().click();
  await owner.getByLabel('E-mail address').fill('ned@example.com');
  await owner.getByLabel('Role').selectOption('viewer');
  expect(await auditPage(owner)).toEqual([]);
  await owner.getByRole('button', { name: 'Make the invitation' }).click();
  const link = (await owner.locator('[data-secret]').textContent()) ?? '';
  await owner.getByLabel('I have stored it').check();
  await owner.getByRole('button', { name: 'Done' }).click();
  await owner.getByRole('button', { name: 'Create API token' }).click();
  await owner.getByLabel('What it is for').fill('report');
  await owner.getByRole('button', { name: 'Create token' }).click();
  expect(await owner.locator('[data-secret]').textContent()).toMatch(/^tga_/);
  await owner.getByLabel('I have stored it').check();
  await owner.getByRole('button', { name: 'Done' }).click();
  await owner.getByRole('button', { name: 'Revoke report' }).waitFor();

  const invited = await browser.newProfile();
  const page = await openLink(invited, link);
  await page.getByRole('button', { name: /^Account / }).click();
  await page.getByRole('menuitem', { name: 'Set a password' }).click();
  await page.getByLabel('New password').fill('a long enough password');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('With e-mail address and password').click();
  await page.getByLabel('E-mail address').fill('ned@example.com');
  await page.getByLabel('Password', { exact: true }).fill('a long enough password');
  await page.getByRole('button', { name: 'Sign in with the password' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();

  await owner.getByRole('button', { name: 'Remove ned@example.com' }).click();
  await owner.getByRole('button', { name: 'Remove', exact: true }).click();
  await owner.getByRole('button', { name: 'Remove ned@example.com' }).waitFor({ state: 'detached' });
  await page.goto(`${gateway.adminBase}/runs`);
  await page.getByRole('heading', { name: 'Sign in to Tollgate' }).waitFor();
  expect(faults.errors).toEqual([]);
  await Promise.all([owners.close(), invited.close()]);
});

test('an owner lets the account keep less than the gateway, and sees what is deleted', async () => {
  const profile = await browser.newProfile();
  const page = await openLink(profile, await invite('rita@example.com', { role: 'owner' }));
  const faults = watchPage(page, gateway.adminBase);
  await page.goto(`${gateway.adminBase}/people`);
  await settle(page);
  const section = page.getByRole('region', { name: 'Retention' });
  expect(await section.getByRole('definition').allInnerTexts()).toEqual([
    '90 days, as the gateway',
    '14 days, as the gateway',
  ]);
  await section.getByRole('button', { name: 'Change retention' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change retention' });
  await dialog.getByLabel('Days that calls are kept').fill('91');
  expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await dialog.getByText('A whole number of days from 1 to 90, or nothing').waitFor();
  await dialog.getByLabel('Days that calls are kept').fill('60');
  await dialog.getByText('What is older is deleted for good').waitFor();
  expect(await auditPage(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await section.getByRole('definition').allInnerTexts()).toEqual([
    '60 days (the gateway: 90 days)',
    '14 days, as the gateway',
  ]);
  expect(await auditPage(page)).toEqual([]);
  expect(faults.errors).toEqual([]);
  await gateway.api('/api/v1/accounts/1/retention', {
    method: 'PUT',
    body: JSON.stringify({ retention_rows: null, retention_bodies: null }),
  });
  await profile.close();
});

test('a member shares a run and a view of costs; a visitor sees that page alone', async () => {
  const members = await browser.newProfile();
  const member = await openLink(members, await invite('sam@example.com', { role: 'member' }));
  const { data } = z
    .object({ data: z.array(z.object({ trace_id: z.string() })) })
    .parse(await gateway.api('/api/v1/runs?limit=1'));
  const trace = data[0]?.trace_id ?? '';
  const share = async (address: string) => {
    await member.goto(`${gateway.adminBase}${address}`);
    await settle(member);
    await member.getByRole('button', { name: 'Share', exact: true }).click();
    await member.getByLabel('What it is for').fill('for Ben');
    expect(await auditPage(member)).toEqual([]);
    await member.getByRole('button', { name: 'Make the link' }).click();
    const link = (await member.locator('[data-secret]').textContent()) ?? '';
    await member.getByLabel('I have stored it').check();
    await member.getByRole('button', { name: 'Done' }).click();
    return link;
  };
  const ofRun = await share(`/run?trace=${encodeURIComponent(trace)}`);
  const ofCosts = await share('/costs?range=7d');

  const visitors = await browser.newProfile();
  const page = await visitors.newPage();
  const faults = watchPage(page, gateway.adminBase);
  await page.goto(ofRun);
  await page.getByText('Shared with you').waitFor();
  await settle(page);
  expect(new URL(page.url()).searchParams.get('trace')).toBe(trace);
  expect(await auditPage(page)).toEqual([]);
  expect(await page.getByRole('navigation', { name: 'Main' }).count()).toBe(0);
  for (const name of ['Share', 'CSV', 'Show in Logs']) expect(await isShown(page, name)).toBe(false);
  // Whether somebody is signed in is asked first.
  const faultsOfPage = () => faults.errors.splice(0).filter((fault) => !/status of 401 /.test(fault));
  expect(faultsOfPage()).toEqual([]);
  await page.goto(`${gateway.adminBase}/keys`);
  await page.waitForURL(/\/run\?trace=/);
  await settle(page);
  // The page that was asked for may begin before the visitor is led back, and is refused.
  expect(faultsOfPage().filter((fault) => !/status of 403 /.test(fault))).toEqual([]);
  await page.goto(ofCosts);
  await page.getByRole('heading', { name: 'Costs' }).waitFor();
  await settle(page);
  expect(await auditPage(page)).toEqual([]);
  expect(await page.getByRole('table').count()).toBeGreaterThan(0);
  expect(faultsOfPage()).toEqual([]);

  await member.goto(`${gateway.adminBase}/keys`);
  for (let left = 2; left > 0; left -= 1) {
    await member.getByRole('button', { name: 'Revoke for Ben' }).first().click();
    await member.getByRole('button', { name: 'Revoke share link' }).click();
    await member.getByRole('dialog').waitFor({ state: 'detached' });
  }
  await member.getByText('Nothing is shared.').waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in to Tollgate' }).waitFor();
  await Promise.all([members.close(), visitors.close()]);
});

test('the operator changes accounts, and the second one begins empty', async () => {
  await gateway.api('/api/v1/accounts', { method: 'POST', body: JSON.stringify({ name: 'second team' }) });
  const profile = await browser.newProfile();
  const page = await openSignedIn(profile, gateway);
  await page.getByRole('button', { name: 'Account default' }).waitFor();
  expect(await auditPage(page)).toEqual([]);
  await page.getByRole('button', { name: 'Account default' }).click();
  await page.getByRole('menuitemradio', { name: 'second team' }).click();
  await page.getByRole('button', { name: 'Account second team' }).waitFor();
  await page.goto(`${gateway.adminBase}/keys`);
  await page.getByText('No keys yet').waitFor();
  await profile.close();
});

test('another tab that changes the account, or signs out, never changes what this tab asks for beneath it', async () => {
  await gateway.api('/api/v1/accounts', { method: 'POST', body: JSON.stringify({ name: 'third team' }) });
  const profile = await browser.newProfile();
  const following = await openSignedIn(profile, gateway);
  await following.goto(`${gateway.adminBase}/keys`);
  // As if its messages were late.
  const staying = await profile.newPage();
  await staying.addInitScript('delete globalThis.BroadcastChannel');
  await staying.goto(`${gateway.adminBase}/budgets`);
  const changing = await profile.newPage();
  await changing.goto(`${gateway.adminBase}/budgets`);
  for (const page of [following, staying, changing])
    await page.getByRole('button', { name: 'Account default' }).waitFor();

  await changing.getByRole('button', { name: 'Account default' }).click();
  await changing.getByRole('menuitemradio', { name: 'third team' }).click();
  await changing.getByRole('button', { name: 'Account third team' }).waitFor();
  await staying.getByRole('link', { name: 'API keys' }).click();
  await staying
    .getByRole('row', { name: /active/ })
    .first()
    .waitFor();
  await staying.getByRole('button', { name: 'Account default' }).waitFor();
  await following.getByRole('button', { name: 'Account third team' }).waitFor();
  await following.getByText('No keys yet').waitFor();

  await changing.getByRole('button', { name: 'Sign out' }).click();
  await following.getByRole('heading', { name: 'Sign in to Tollgate' }).waitFor();
  await profile.close();
});
