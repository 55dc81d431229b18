import { expect, test } from 'vitest';
import { adviseNoProxy } from './no-proxy-advice.ts';

const egress = (httpProxy: string | null, noProxy: string | null) => ({ httpProxy, httpsProxy: null, noProxy });

test('where clients would reach the gateway through a proxy, one line says how they do not', () => {
  const advice =
    'HTTP_PROXY is set: clients on this machine may reach the gateway through that proxy, with their keys in clear text. Set NO_PROXY=127.0.0.1,localhost where they run.';
  for (const noProxy of [null, '', 'example.com', '127.0.0.1', 'localhost,example.com'])
    expect(adviseNoProxy(egress('http://proxy:3128', noProxy), undefined)).toBe(advice);
  expect(adviseNoProxy(egress(null, null), 'socks5://proxy')).toBe(advice.replace('HTTP_PROXY', 'ALL_PROXY'));
});

test('nothing is said where no proxy is set, or this machine is taken out of it', () => {
  expect(adviseNoProxy(egress(null, null), undefined)).toBeNull();
  for (const noProxy of ['127.0.0.1,localhost', 'LOCALHOST, 127.0.0.1', '*'])
    expect(adviseNoProxy(egress('http://proxy:3128', noProxy), undefined)).toBeNull();
});
