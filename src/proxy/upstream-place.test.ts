import { expect, test } from 'vitest';
import { UpstreamHosts } from './upstream-place.ts';

test.each([
  'https://api.openai.com',
  'https://EU.api.openai.com/v1',
  'http://127.0.0.1:8080/prefix/a@b',
  'http://[::1]:4141/x',
  'https://user:p%40ss@proxy.internal:8443/openai',
])('the name of the host of %s is what the parser of the platform says', (origin) => {
  expect(new UpstreamHosts().read({ origin, region: null }).name).toBe(new URL(origin).hostname);
});
