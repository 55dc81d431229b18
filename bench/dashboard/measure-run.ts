/** Opens a run in the browser and measures as a person would notice: until it can be used, and while it is scrolled. */
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { waitInPage } from '../../test/browser/wait-in-page.ts';

/** `longtask` entries are tasks over 50 ms: the browser itself says which. */
const WATCH_TASKS = `
  window.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) window.longTasks.push({ startTime, duration });
  }).observe({ type: 'longtask', buffered: true });`;

const Tasks = z.array(z.object({ startTime: z.number(), duration: z.number() }));

export interface RunFigures {
  /** From the end of the last answer with calls until the tree shows and reacts to a key. */
  readonly usableMs: number;
  /** Longest task while loading; 0 when none was over 50 ms. */
  readonly longestLoadTaskMs: number;
  readonly scrollTasksOver50Ms: number;
  readonly longestScrollTaskMs: number;
  readonly scrollFramesPerSecond: number;
  readonly collapseAllMs: number;
  readonly heapMb: number;
}

async function readTasks(page: Page): Promise<z.infer<typeof Tasks>> {
  return Tasks.parse(await page.evaluate('window.longTasks.splice(0)'));
}

const longest = (tasks: z.infer<typeof Tasks>) => Math.max(0, ...tasks.map(({ duration }) => duration));

const SCROLL = `(async () => {
  const grid = document.querySelector('[role=treegrid]');
  let scroller = grid;
  while (scroller && scroller.scrollHeight <= scroller.clientHeight + 10) scroller = scroller.parentElement;
  const startMs = performance.now();
  let frames = 0;
  while (performance.now() - startMs < 5000) {
    scroller.scrollTop += 160;
    if (scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 2) scroller.scrollTop = 0;
    await new Promise((resolve) => requestAnimationFrame(resolve));
    frames += 1;
  }
  return frames / ((performance.now() - startMs) / 1000);
})()`;

const ROWS_SHOWN = `document.querySelectorAll('[role=treegrid] [role=row][aria-level]').length`;

export async function measureRun(page: Page, url: string): Promise<RunFigures> {
  await page.addInitScript(WATCH_TASKS);
  await page.goto(url);
  await waitInPage(page, `${ROWS_SHOWN} > 3`);
  // A key is answered: the tree is usable, not only drawn.
  const row = page.locator('[role=treegrid] [role=row][aria-level]').first();
  await row.focus();
  await page.keyboard.press('ArrowDown');
  await waitInPage(
    page,
    `document.activeElement?.getAttribute('role') === 'row' && document.activeElement.getAttribute('aria-rowindex') !== '2'`,
  );
  const usableMs = z.number().parse(
    await page.evaluate(`performance.now() - Math.max(...performance.getEntriesByType('resource')
      .filter(({ name }) => name.includes('/api/v1/run/calls')).map(({ responseEnd }) => responseEnd))`),
  );
  const loadTasks = await readTasks(page);
  await page.keyboard.press('*');
  await page.waitForTimeout(500);
  await readTasks(page);
  const scrollFramesPerSecond = z.number().parse(await page.evaluate(SCROLL));
  const scrollTasks = await readTasks(page);
  await page.locator('[role=treegrid] [role=row][aria-level]').first().focus();
  const beforeMs = z.number().parse(await page.evaluate('performance.now()'));
  await page.keyboard.press('1');
  await waitInPage(page, `${ROWS_SHOWN} < 20`);
  const afterMs = z.number().parse(await page.evaluate('performance.now()'));
  return {
    usableMs,
    longestLoadTaskMs: longest(loadTasks),
    scrollTasksOver50Ms: scrollTasks.length,
    longestScrollTaskMs: longest(scrollTasks),
    scrollFramesPerSecond,
    collapseAllMs: afterMs - beforeMs,
    heapMb: z.number().parse(await page.evaluate('performance.memory.usedJSHeapSize / 1e6')),
  };
}
