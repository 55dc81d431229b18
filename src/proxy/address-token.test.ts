import { expect, test } from 'vitest';
import { cutAddressToken } from './address-token.ts';

test.each([
  ['/@tgk_abc/v1/messages', '/v1/messages', 'tgk_abc', undefined],
  ['/@tgk_abc/v1/models?limit=1&key=@x', '/v1/models?limit=1&key=@x', 'tgk_abc', undefined],
  ['/%40tgr_abc/v1/messages', '/v1/messages', 'tgr_abc', undefined],
  ['/@tgr_abc.together/v1/chat/completions', '/v1/chat/completions', 'tgr_abc', 'together'],
  ['http://127.0.0.1:4141/@tgk_abc/v1/x', 'http://127.0.0.1:4141/v1/x', 'tgk_abc', undefined],
  ['/@tgk_abc', '/', 'tgk_abc', undefined],
  ['/@tgk_abc/', '/', 'tgk_abc', undefined],
  ['/@tgk_abc?a=1', '/?a=1', 'tgk_abc', undefined],
  ['/@/v1/x', '/v1/x', '', undefined],
  ['/@tgk_abc//ws/x', '//ws/x', 'tgk_abc', undefined],
])('of %s the path is %s', (url, path, text, provider) => {
  const incoming = { url };
  cutAddressToken(incoming);
  expect(incoming).toEqual({ url: path, addressToken: { text, provider } });
});

test.each([
  '/v1/@tgk_abc/messages',
  '/v1/messages?to=/@tgk_abc/',
  '/v1/models/a@b',
  '//@tgk_abc/v1',
  '*',
  '',
  '/',
  'ftp://@tgk_abc/v1',
])('%j has none in front and stays as it is', (url) => {
  const incoming = { url };
  cutAddressToken(incoming);
  expect(incoming).toEqual({ url });
});
