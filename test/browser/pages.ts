/** The dashboard's pages for tests that go through all of them. */
import type { BrowserContext, Page } from 'playwright-core';
import { z } from 'zod';
import type { TestGateway } from '../gateway/start-gateway.ts';
import { waitInPage } from './wait-in-page.ts';

export const THEMES = ['light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export interface KnownPage {
  readonly name: string;
  readonly address: string;
}

/** Those that need no record. */
export const FIXED_PAGES: readonly KnownPage[] = [
  { name: 'start', address: '/start' },
  { name: 'runs', address: '/runs?range=7d' },
  { name: 'logs', address: '/logs?range=7d' },
  { name: 'costs', address: '/costs?range=7d' },
  { name: 'metadata', address: '/metadata' },
  { name: 'budgets', address: '/budgets' },
  { name: 'brakes', address: '/brakes' },
  { name: 'rules of the brakes', address: '/brakes?tab=rules' },
  { name: 'alerts', address: '/brakes?tab=alerts' },
  { name: 'prices', address: '/prices' },
  { name: 'keys', address: '/keys' },
  { name: 'people', address: '/people' },
  { name: 'audit', address: '/audit' },
  { name: 'credentials', address: '/credentials' },
  { name: 'system', address: '/system' },
];

const Rows = z.object({ data: z.array(z.object({ id: z.string().optional(), trace_id: z.string().nullish() })) });

/** Of a gateway with records: its costliest run, and a call of that run with an answer. */
export async function listAllPages(gateway: TestGateway): Promise<readonly KnownPage[]> {
  const read = async (path: string) => Rows.parse(await gateway.api(path));
  const runs = await read('/api/v1/runs?sort=-total_cost&limit=1');
  const trace = encodeURIComponent(runs.data[0]?.trace_id ?? '');
  const calls = await read(`/api/v1/run/calls?trace_id=${trace}&limit=3`);
  const id = calls.data.at(-1)?.id ?? '';
  return [
    ...FIXED_PAGES,
    { name: 'runs grouped', address: '/runs?range=7d&group=metadata.Feature' },
    { name: 'costs by feature', address: '/costs?range=7d&by=metadata.Feature' },
    { name: 'run', address: `/run?trace=${trace}` },
    { name: 'run with a call', address: `/run?trace=${trace}&sel=${id}` },
    { name: 'log', address: `/log/${id}` },
    // Of one run, since axe takes many times as long for hundreds of rows with a panel over them.
    { name: 'logs with a call', address: `/logs?range=7d&f=${encodeURIComponent('trace_id:eq:')}${trace}&peek=${id}` },
    { name: 'cost of a call', address: `/log/${id}?tab=cost` },
    { name: 'pricing again', address: '/prices?tab=reprice' },
    { name: 'look-up of a price', address: '/prices?tab=lookup&provider=anthropic&model=claude-opus-5' },
    { name: 'own prices', address: '/prices?tab=own' },
  ];
}

/** Before the first page of a profile is opened. */
export async function chooseTheme(profile: BrowserContext, theme: Theme): Promise<void> {
  await profile.addInitScript(`localStorage.setItem('tollgate.theme', '${theme}')`);
}

/** Streams stay open for ever, so the network is never idle: the page counts as settled when nothing loads any more. */
export async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await waitInPage(page, `document.querySelector('[role=status][aria-label^="Loading"]') === null`);
  await page.waitForTimeout(400);
}
