/** A browser profile that is signed in to a gateway, the way a person is: by a one-time link. */
import type { BrowserContext, Page } from 'playwright-core';
import type { TestGateway } from '../gateway/start-gateway.ts';

export async function createLoginLink(gateway: TestGateway): Promise<string> {
  const answer = await gateway.api('/api/v1/login-links', { method: 'POST', body: '{}' });
  if (answer === null || typeof answer !== 'object' || !('url' in answer)) throw new Error('no link');
  return String(answer.url);
}

/** Opens the link in a new page of the profile and waits until the dashboard shows. */
export async function openSignedIn(profile: BrowserContext, gateway: TestGateway): Promise<Page> {
  const page = await profile.newPage();
  await page.goto(await createLoginLink(gateway));
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  return page;
}
