/** Every request of the corpus over HTTP/1.1. */
import { FRAMING_REQUESTS } from './framing-requests.ts';
import { HEADER_REQUESTS } from './header-requests.ts';
import type { RequestCase } from './request-case.ts';
import { TARGET_REQUESTS } from './target-requests.ts';
import { UPGRADE_REQUESTS } from './upgrade-requests.ts';

export const REQUEST_CASES: readonly RequestCase[] = [
  ...FRAMING_REQUESTS,
  ...TARGET_REQUESTS,
  ...HEADER_REQUESTS,
  ...UPGRADE_REQUESTS,
];
