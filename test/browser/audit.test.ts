/** The pages Audit and Credentials: what was changed, whether it holds, what is erased, what is kept. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startGateway, type TestGateway } from '../gateway/start-gateway.ts';
import { auditPage } from './audit-page.ts';
import { startBrowser, type TestBrowser, watchPage } from './browser.ts';
import { settle } from './pages.ts';
import { openSignedIn } from './sign-in.ts';

let gateway: TestGateway;
let browser: TestBrowser;

beforeAll(async () => {
  gateway = await startGateway({
    env: {
      TOLLGATE_CREDENTIALS_KEY: Buffer.alloc(32, 7).toString('base64'),
      TOLLGATE_UPSTREAM_OPENAI_TEAM: 'https://api.openai.com',
    },
  });
  browser = await startBrowser();
  await gateway.api('/api/v1/demo-data', { method: 'POST' });
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

test('a kept credential is set and deleted in the page, the log shows it and holds, and a run is erased', async () => {
  const page = await openSignedIn(await browser.newProfile(), gateway);
  const faults = watchPage(page, gateway.adminBase);
  await page.goto(`${gateway.adminBase}/credentials`);
  await settle(page);
  expect(await auditPage(page)).toEqual([]);
  await page.getByRole('button', { name: 'Keep a credential' }).first().click();
  await page.getByLabel('Alias').fill('team');
  await page.getByLabel('Credential', { exact: true }).fill('sk-proj-0123456789abcdef');
  expect(await auditPage(page)).toEqual([]);
  await page.getByRole('button', { name: 'Keep it' }).click();
  await page.getByText('…cdef').waitFor();
  await page.getByText('usable', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Delete openai team' }).click();
  await page.getByRole('button', { name: 'Delete it' }).click();
  await page.getByText('No credential is kept').waitFor();

  await page.goto(`${gateway.adminBase}/audit`);
  await page.getByText('credential.delete').waitFor();
  await page.getByText('unless the operator has set retention_audit').waitFor();
  await settle(page);
  expect(await auditPage(page)).toEqual([]);
  await page.getByRole('button', { name: 'Verify the log' }).click();
  await page.getByText(/^All \d+ rows are as they were written/).waitFor();
  await page.getByLabel('Action').fill('credential.set');
  await expect.poll(() => page.getByText('credential.delete').count()).toBe(0);
  await page.getByText('Before → after').click();
  await page.getByText('https://api.openai.com').waitFor();

  const runs = z
    .object({ data: z.array(z.object({ trace_id: z.string(), calls: z.number() })) })
    .parse(await gateway.api('/api/v1/runs?limit=1'));
  const [run] = runs.data;
  await page.getByRole('button', { name: 'Erase…' }).click();
  await page.getByLabel('Trace id').fill(run?.trace_id ?? '');
  await page.getByRole('button', { name: 'Count the calls' }).click();
  await page.getByRole('button', { name: `Erase ${run?.calls} calls for good` }).click();
  await page.getByRole('table').getByText('erased', { exact: true }).waitFor();
  const detail = await gateway.api(`/api/v1/logs?f=flags:in:erased&limit=100`);
  expect(z.object({ data: z.array(z.unknown()) }).parse(detail).data).toHaveLength(run?.calls ?? 0);
  expect(faults.errors).toEqual([]);
});
