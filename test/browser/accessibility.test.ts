/** Every page in its main, empty and error state, in both themes, as axe sees it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../gateway/start-gateway.ts';
import { auditPage } from './audit-page.ts';
import { startBrowser, type TestBrowser } from './browser.ts';
import { chooseTheme, FIXED_PAGES, type KnownPage, listAllPages, settle, THEMES, type Theme } from './pages.ts';
import { openSignedIn } from './sign-in.ts';

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
}

async function auditAll(theme: Theme, pages: readonly KnownPage[], isFailing = false): Promise<readonly Finding[]> {
  const profile = await browser.newProfile();
  await chooseTheme(profile, theme);
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
    findings.push({ page: name, violations: await auditPage(page) });
  }
  await profile.close();
  return findings;
}

const nothingOn = (pages: readonly KnownPage[]) => pages.map(({ name }) => ({ page: name, violations: [] }));

describe.each(THEMES)('in the %s theme', (theme) => {
  test('the sign-in has no violation', async () => {
    const profile = await browser.newProfile();
    await chooseTheme(profile, theme);
    const page = await profile.newPage();
    await page.goto(`${gateway.adminBase}/login`);
    await settle(page);
    expect(await auditPage(page)).toEqual([]);
    await profile.close();
  });

  test('no page without any record has a violation', async () => {
    await gateway.api('/api/v1/demo-data', { method: 'DELETE' });
    expect(await auditAll(theme, FIXED_PAGES)).toEqual(nothingOn(FIXED_PAGES));
  });

  test('no page that shows an error has a violation', async () => {
    expect(await auditAll(theme, FIXED_PAGES, true)).toEqual(nothingOn(FIXED_PAGES));
  });

  test('no page with records has a violation', async () => {
    await gateway.api('/api/v1/demo-data', { method: 'POST' });
    const pages = await listAllPages(gateway);
    expect(await auditAll(theme, pages)).toEqual(nothingOn(pages));
  });
});
