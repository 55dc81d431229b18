/**
 * A real Chromium for the tests and the pictures: one process, a fresh profile for each page that is asked for. What a
 * page did wrong (errors on its console, requests to anywhere else) is kept, so that a test can say that there was none.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium as launcher,
  type Page,
} from 'playwright-core';

export interface TestBrowser {
  readonly newProfile: (options?: BrowserContextOptions) => Promise<BrowserContext>;
  readonly close: () => Promise<void>;
}

/** It unpacks its binary into the temporary folder without looking at what is there: so it gets one of its own. */
async function unpack(folder: string): Promise<string> {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  try {
    return await chromium.executablePath();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}

export async function startBrowser(): Promise<TestBrowser> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-browser-'));
  const binaries = join(folder, 'bin');
  mkdirSync(binaries);
  const executablePath = await unpack(binaries);
  const browser: Browser = await launcher.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--force-color-profile=srgb'],
    env: { ...process.env, TMPDIR: folder },
  });
  return {
    newProfile: (options = {}) =>
      browser.newContext({ viewport: { width: 1440, height: 900 }, timezoneId: 'UTC', ...options }),
    close: async () => {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface PageFaults {
  /** Errors on the console, exceptions, violations of the content security policy. */
  readonly errors: string[];
  /** Addresses outside of `origin` that the page asked for. */
  readonly foreign: string[];
  /** Dialogs that a script opened. */
  readonly dialogs: string[];
}

/** Watches a page from now on. Answers of the API that are refusals on purpose may be left out by `isExpected`. */
export function watchPage(page: Page, origin: string, isExpected: (text: string) => boolean = () => false): PageFaults {
  const faults: PageFaults = { errors: [], foreign: [], dialogs: [] };
  page.on('console', (message) => {
    if (message.type() === 'error' && !isExpected(message.text())) faults.errors.push(message.text());
  });
  page.on('pageerror', (error) => faults.errors.push(String(error)));
  page.on('dialog', (dialog) => {
    faults.dialogs.push(dialog.message());
    // A dialog that is not dismissed would hold the page.
    dialog.dismiss().catch(() => faults.dialogs.push('a dialog could not be dismissed'));
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(?:data|blob):/.test(url)) faults.foreign.push(url);
  });
  return faults;
}
