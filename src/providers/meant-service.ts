/** The AWS service that a request is meant for, by its host or else its signature's scope (Version 4). */
import { readAwsHost } from './aws-host.ts';
import type { RequestLine } from './provider.ts';

const HEADER_SCOPE = /^\s*AWS4-[^,]*Credential=[^/,\s]+\/\d{8}\/[^/,\s]+\/([^/,\s]+)\//i;
const QUERY_SCOPE = /(?:^|&)X-Amz-Credential=[^&]*?(?:\/|%2F)\d{8}(?:\/|%2F)[^&/%]+(?:\/|%2F)([^&/%]+)(?:\/|%2F)/i;

/** Null where neither says it. The signature is not checked. */
export function readMeantService({ header, query }: RequestLine): string | null {
  const scope = HEADER_SCOPE.exec(header('authorization') ?? '')?.[1] ?? QUERY_SCOPE.exec(query)?.[1];
  return readAwsHost(header('host') ?? '')?.service ?? scope?.toLowerCase() ?? null;
}
