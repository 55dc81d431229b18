import { expect, test } from 'vitest';
import { formatBanner } from './banner.ts';

const command = (words: string) => `./tollgate ${words}`;

test('the banner has the addresses, a link that signs in, the key and a curl line', () => {
  expect(
    formatBanner({
      proxyOrigin: 'http://127.0.0.1:4141',
      dashboardUrl: 'http://127.0.0.1:4142/login#code=abc',
      role: 'all',
      firstKey: 'tgk_x',
      demo: true,
      command,
    }),
  ).toBe(`Tollgate is ready.

  Base address  http://127.0.0.1:4141
  Dashboard     http://127.0.0.1:4142/login#code=abc
                (signs in one browser, within ten minutes; more links: ./tollgate login)

  Gateway key, shown only now; for what you find in README:

  export TOLLGATE_KEY=tgk_x

  Try it (a local fake provider answers, no provider key needed):

  curl http://127.0.0.1:4141/v1/chat/completions \\
    -H "X-Gateway-Key: tgk_x" \\
    -H "X-Gateway-Provider-Alias: demo" \\
    -H "Content-Type: application/json" \\
    -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello"}]}'

`);
});

test('later starts, which do not know the key, say how one is made', () => {
  const places = { proxyOrigin: 'http://127.0.0.1:4141', dashboardUrl: 'http://127.0.0.1:4142' };
  expect(formatBanner({ ...places, role: 'all', firstKey: null, demo: false, command })).toBe(`Tollgate is ready.

  Base address  http://127.0.0.1:4141
  Dashboard     http://127.0.0.1:4142

  Try it:

  curl http://127.0.0.1:4141/v1/chat/completions \\
    -H "X-Gateway-Key: $TOLLGATE_KEY" \\
    -H "Authorization: Bearer $OPENAI_API_KEY" \\
    -H "Content-Type: application/json" \\
    -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello"}]}'

  The key is shown when it is made, and never again. No key at hand? This makes one:

  export TOLLGATE_KEY=$(./tollgate keys create laptop)

`);
});

test('a node without proxies or without a dashboard says which it is, and where the other is', () => {
  const control = { role: 'control', proxyOrigin: null, dashboardUrl: 'http://127.0.0.1:4142' } as const;
  expect(formatBanner({ ...control, firstKey: 'tgk_x', demo: false, command })).toBe(
    `Tollgate is ready, as a node that takes no calls (role control).

  Base address  the address of your nodes with the role proxy: say it with TOLLGATE_PUBLIC_URL
  Dashboard     http://127.0.0.1:4142

  Gateway key, shown only now; for what you find in README:

  export TOLLGATE_KEY=tgk_x

`,
  );
  const proxy = { role: 'proxy', proxyOrigin: 'http://127.0.0.1:4141', dashboardUrl: null } as const;
  expect(formatBanner({ ...proxy, firstKey: null, demo: false, command })).toBe(
    `Tollgate is ready, as a node that only takes calls (role proxy).

  Base address  http://127.0.0.1:4141
  Dashboard     at a node with the role control, where keys are made, too

  Try it:

  curl http://127.0.0.1:4141/v1/chat/completions \\
    -H "X-Gateway-Key: $TOLLGATE_KEY" \\
    -H "Authorization: Bearer $OPENAI_API_KEY" \\
    -H "Content-Type: application/json" \\
    -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello"}]}'

`,
  );
});
