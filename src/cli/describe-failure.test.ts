import { expect, test } from 'vitest';
import { describeFailure } from './describe-failure.ts';

const URL = 'https://gateway.example:4142';

function describe(code: string): string {
  return describeFailure(URL, new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) }))
    .message;
}

test.each([
  ['ECONNREFUSED', 'no gateway answers at https://gateway.example:4142; start it with `tollgate start`'],
  ['ECONNRESET', 'took the connection and closed it without an answer'],
  ['ENOTFOUND', 'the name gateway.example of https://gateway.example:4142 cannot be looked up'],
  ['EHOSTUNREACH', 'gateway.example cannot be reached'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'speaks no TLS'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT): put NODE_EXTRA_CA_CERTS=FILE'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'is not trusted'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'is not trusted'],
])('%s says what is wrong, and only a refused connection to start a gateway', (code, text) => {
  expect(describe(code)).toContain(text);
  expect(describe(code).includes('start it')).toBe(code === 'ECONNREFUSED');
});

test('the first address that failed is told of a name with several', () => {
  const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
  expect(describeFailure(URL, new TypeError('x', { cause: new AggregateError([refused]) })).message).toContain(
    'no gateway answers',
  );
});
