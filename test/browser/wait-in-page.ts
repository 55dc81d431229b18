/** Waits, frame by frame, until an expression is true in the page. Unlike the library's own wait it works under a policy without eval. */
import type { Page } from 'playwright-core';

const LIMIT_MS = 30_000;

export async function waitInPage(page: Page, condition: string): Promise<void> {
  const isTrue: unknown = await page.evaluate(`new Promise((resolve) => {
    const endMs = performance.now() + ${LIMIT_MS};
    const look = () => {
      if (${condition}) resolve(true);
      else if (performance.now() > endMs) resolve(false);
      else requestAnimationFrame(look);
    };
    look();
  })`);
  if (isTrue !== true) throw new Error(`waited ${LIMIT_MS} ms in vain for ${condition}`);
}
