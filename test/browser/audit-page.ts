/** What axe finds wrong with a page for people who see, hear or move differently: WCAG 2.2 A and AA. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { z } from 'zod';

const AXE_FILE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

const Violations = z.array(
  z.object({
    id: z.string(),
    help: z.string(),
    nodes: z.array(z.object({ html: z.string(), failureSummary: z.string().optional() })),
  }),
);

const ALL_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] as const;
/** Those that a theme can break: names, order and roles are the same in all of them. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'] as const;

/** Each violation in one line with the elements it is about; empty when there is none. */
export function auditPage(page: Page): Promise<readonly string[]> {
  return runAxe(page, { type: 'tag', values: ALL_RULES });
}

/** Only what depends on colours. */
export function auditColours(page: Page): Promise<readonly string[]> {
  return runAxe(page, { type: 'rule', values: COLOUR_RULES });
}

async function runAxe(page: Page, runOnly: object): Promise<readonly string[]> {
  // Through the debugger: the content security policy forbids foreign script elements, and so it should.
  await page.evaluate(readFileSync(AXE_FILE, 'utf8'));
  // A colour that is on its way to another is no colour of the page.
  await page.evaluate(`
    Promise.all(document.getAnimations()
      .filter((one) => Number.isFinite(Number(one.effect?.getComputedTiming().endTime)))
      .map((one) => one.finished.catch(() => null)))`);
  const found: unknown = await page.evaluate(`
    axe.run(document, { runOnly: ${JSON.stringify(runOnly)} })
      .then(({ violations }) => violations.map(({ id, help, nodes }) => ({
        id, help, nodes: nodes.map(({ html, failureSummary }) => ({ html, failureSummary })),
      })))`);
  return Violations.parse(found).flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)} ${failureSummary ?? ''}`),
  );
}
