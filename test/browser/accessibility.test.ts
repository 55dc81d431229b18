/** Every page in its main, empty and error state, in both themes, as axe sees it. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../gateway/start-gateway.ts';
import { auditColours, auditPage } from './audit-page.ts';
import { startBrowser, type TestBrowser } from './browser.ts';
import { FIXED_PAGES, type KnownPage, listAllPages, settle } from './pages.ts';
import { openSignedIn } from './sign-in.ts';
import { waitInPage } from './wait-in-page.ts';

let gateway: TestGateway;
let browser: TestBrowser;

beforeAll(async () => {
  gateway = await startGateway();
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

interface Finding {
  readonly page: string;
  readonly violations: readonly string[];
  readonly inTheDark: readonly string[];
}

/** In the light, and then, as the system asks for it, in the dark. */
async function auditThemes(page: Page, name: string): Promise<Finding> {
  const violations = await auditPage(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  // Buttons change their colours little by little.
  await waitInPage(
    page,
    `document.documentElement.dataset.theme === 'dark' &&
      !document.getAnimations().some((animation) => animation instanceof CSSTransition)`,
  );
  const inTheDark = await auditColours(page);
  await page.emulateMedia({ colorScheme: 'light' });
  return { page: name, violations, inTheDark };
}

async function auditAll(pages: readonly KnownPage[], isFailing = false): Promise<readonly Finding[]> {
  const profile = await browser.newProfile();
  const page = await openSignedIn(profile, gateway);
  if (isFailing)
    await page.route(/\/api\/v1\/(?!session)/, (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/json',
        body: '{"error":{"code":"database_unavailable","message":"The database does not answer.","request_id":"r-1"}}',
      }),
    );
  const findings: Finding[] = [];
  for (const { name, address } of pages) {
    await page.goto(`${gateway.adminBase}${address}`);
    await settle(page);
    // A failed question is asked once more before the page says so.
    if (isFailing && name !== 'start') await page.getByRole('alert').first().waitFor();
    findings.push(await auditThemes(page, name));
  }
  await profile.close();
  return findings;
}

const nothingOn = (pages: readonly KnownPage[]) =>
  pages.map(({ name }) => ({ page: name, violations: [], inTheDark: [] }));

test('the sign-in has no violation', async () => {
  const profile = await browser.newProfile();
  const page = await profile.newPage();
  await page.goto(`${gateway.adminBase}/login`);
  await settle(page);
  expect(await auditThemes(page, 'login')).toEqual({ page: 'login', violations: [], inTheDark: [] });
  await profile.close();
});

test('no page without any record has a violation', async () => {
  await gateway.api('/api/v1/demo-data', { method: 'DELETE' });
  expect(await auditAll(FIXED_PAGES)).toEqual(nothingOn(FIXED_PAGES));
});

test('no page that shows an error has a violation', async () => {
  expect(await auditAll(FIXED_PAGES, true)).toEqual(nothingOn(FIXED_PAGES));
});

test('no page with records has a violation', async () => {
  await gateway.api('/api/v1/demo-data', { method: 'POST' });
  const pages = await listAllPages(gateway);
  expect(await auditAll(pages)).toEqual(nothingOn(pages));
});
