/**
 * `npm run screenshots`: the pictures of the README, made of the demo data in a real browser, light and dark. With
 * `--all DIR` every page in both themes and at both widths, to be looked at.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startBrowser, type TestBrowser } from '../test/browser/browser.ts';
import { chooseTheme, type KnownPage, listAllPages, settle, THEMES } from '../test/browser/pages.ts';
import { openSignedIn } from '../test/browser/sign-in.ts';
import { startGateway, type TestGateway } from '../test/gateway/start-gateway.ts';

const { values: options } = parseArgs({ options: { all: { type: 'string' } } });

const WIDE = { width: 1440, height: 900 } as const;
const NARROW = { width: 390, height: 844 } as const;
const README_PAGES: readonly string[] = ['runs', 'log', 'costs by feature', 'look-up of a price'];
/** A run of the demo data: nested, with parallel steps. */
const README_RUN = 'demo-research-0093';
const root = join(import.meta.dirname, '..');

async function takePictures(
  browser: TestBrowser,
  gateway: TestGateway,
  pages: readonly KnownPage[],
  folder: string,
  viewport: typeof WIDE | typeof NARROW,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const theme of THEMES) {
    const profile = await browser.newProfile({ viewport });
    await chooseTheme(profile, theme);
    const page = await openSignedIn(profile, gateway);
    for (const { name, address } of pages) {
      await page.goto(`${gateway.adminBase}${address}`);
      await settle(page);
      await page.waitForTimeout(600);
      const file = `${name.replaceAll(' ', '-')}-${theme}${viewport === NARROW ? '-narrow' : ''}.png`;
      await page.screenshot({ path: join(folder, file) });
    }
    await profile.close();
  }
}

const gateway = await startGateway({ args: ['--demo'] });
const browser = await startBrowser();
try {
  await gateway.api('/api/v1/demo-data', { method: 'POST' });
  const pages = await listAllPages(gateway);
  if (options.all === undefined) {
    const chosen = [
      ...pages.filter(({ name }) => README_PAGES.includes(name)),
      { name: 'run', address: `/run?trace=${README_RUN}` },
    ];
    await takePictures(browser, gateway, chosen, join(root, 'docs', 'pictures'), WIDE);
  } else {
    await takePictures(browser, gateway, pages, options.all, WIDE);
    await takePictures(browser, gateway, pages, options.all, NARROW);
  }
} finally {
  await browser.close();
  await gateway.stop();
}
