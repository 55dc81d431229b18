import { expect, test } from 'vitest';
import { formatBanner } from './banner.ts';

test('the banner has the addresses, the key and a curl line', () => {
  expect(
    formatBanner({
      ...{ proxyOrigin: 'http://127.0.0.1:4141', adminOrigin: 'http://127.0.0.1:4142' },
      ...{ firstKey: 'tgk_x', demo: true },
    }),
  ).toBe(`Tollgate is ready.

  Base address  http://127.0.0.1:4141
  Dashboard     http://127.0.0.1:4142
  Gateway key   tgk_x   (shown only now)

  Try it (a local fake provider answers, no provider key needed):

  curl http://127.0.0.1:4141/v1/chat/completions \\
    -H "X-Gateway-Key: tgk_x" \\
    -H "X-Gateway-Provider-Alias: demo" \\
    -H "Content-Type: application/json" \\
    -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello"}]}'

`);
});
